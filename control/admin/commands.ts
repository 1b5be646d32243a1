/** The commands by the first word of their name: only what a command needs is loaded. */
import type { Command } from './command.ts';

type Commands = Readonly<Record<string, Command>>;

const organizations = async () => (await import('./organizations.ts')).organizationCommands;
const keys = async () => (await import('./keys.ts')).keyCommands;
const ports = async () => (await import('./ports.ts')).portCommands;
const recordings = async () => (await import('./recordings.ts')).recordingCommands;
const edges = async () => (await import('./edges.ts')).edgeCommands;

const files: ReadonlyMap<string, () => Promise<Commands>> = new Map([
  ['org', organizations],
  ['sip', organizations],
  ['key', keys],
  ['edge-token', keys],
  ['port', ports],
  ['recording', recordings],
  ['edge', edges],
  ['proxy', edges],
]);

/** By name, such as "org list": at least those that begin with this word. */
export async function commandsOf(word: string): Promise<Commands> {
  return (await files.get(word)?.()) ?? {};
}

/** In the order in which they are listed. */
export async function allCommands(): Promise<Commands> {
  const all = await Promise.all([organizations(), keys(), ports(), recordings(), edges()]);
  return Object.fromEntries(all.flatMap((some) => Object.entries(some)));
}
