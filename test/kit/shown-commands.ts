/**
 * Commands for programs of others, as pages of docs/ show them: run where the program is, with its own folder and socket
 * in the place of Debian's.
 */
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const docs = join(import.meta.dirname, '..', '..', 'docs');

export interface ShownCommand {
  /** As it stands: a line of a shell. */
  readonly line: string;
  /** The lines below it; empty: the page shows none. */
  readonly output: readonly string[];
}

/** Lines after `$ `, with what is shown below them. */
export const promptedCommands = (page: string): ShownCommand[] =>
  promptedIn(readFileSync(join(docs, page), 'utf8'), /^(\s*)\$ (.*)$/);

/** Lines of a section after `$ `, or `# ` where root types them, in the blocks that they stand in. */
export function promptedBlocks(page: string, section: string): ShownCommand[][] {
  const whole = readFileSync(join(docs, page), 'utf8');
  const [, text] = whole.split(`\n## ${section}\n`);
  if (text === undefined) throw new Error(`docs/${page} has no section ${section}`);
  const [own = ''] = text.split('\n## ');
  // Fenced ones stand at the margin, where `# ` is a heading.
  const indented = own.replaceAll(/^```\w*\n([\s\S]*?)^```$/gm, (_all, content: string) =>
    content.replaceAll(/^(?=.)/gm, '    '),
  );
  return indented
    .split(/\n(?! {4})/)
    .map((block) => promptedIn(`${block}\n`, /^( {4,})[$#] (.*)$/))
    .filter((lines) => lines.length > 0);
}

function promptedIn(page: string, prompt: RegExp): ShownCommand[] {
  const lines = page.split('\n');
  return lines.flatMap((whole, at) => {
    const [, indent = '', line] = prompt.exec(whole) ?? [];
    if (line === undefined) return [];
    const below = lines.slice(at + 1);
    const isOutput = (one: string) =>
      one.startsWith(indent) && !/^\s*(?:$|```)/.test(one) && !prompt.test(one);
    const end = below.findIndex((one) => !isOutput(one));
    return [{ line, output: below.slice(0, end).map((one) => one.trim()) }];
  });
}

/** Those, and code in the text, that begin as commands of the program do. */
export function shownCommands(page: string, program: string): ShownCommand[] {
  const inText = [...readFileSync(join(docs, page), 'utf8').matchAll(/`([^`\n]+)`/g)].map(
    ([, line = '']) => ({ line, output: [] }),
  );
  const found = [...promptedCommands(page), ...inText].filter(({ line }) => line.startsWith(`${program} `));
  if (found.length === 0) throw new Error(`docs/${page} shows no command of ${program}`);
  return found;
}

/** The only command of a program on a page. */
export function shownCommand(page: string, program: string): ShownCommand {
  const found = shownCommands(page, program);
  const [first] = found;
  if (!first || found.some(({ line }) => line !== first.line))
    throw new Error(`docs/${page} shows ${found.map(({ line }) => line).join(', ')}`);
  return first;
}

/**
 * Runs a line in a shell where words are commands of a test: `{ kamcmd: '/usr/sbin/kamcmd -s unix:/tmp/…' }`.
 * @returns what it printed
 * @throws Error unless it ends with 0
 */
export async function runShown(line: string, programs: Readonly<Record<string, string>>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-shown-'));
  try {
    for (const [name, start] of Object.entries(programs)) {
      writeFileSync(join(folder, name), `#!/bin/sh\nexec ${start} "$@"\n`);
      chmodSync(join(folder, name), 0o755);
    }
    const PATH = [folder, process.env.PATH].join(delimiter);
    const { stdout, stderr } = await run('bash', ['-eo', 'pipefail', '-c', line], {
      env: { ...process.env, PATH },
    });
    return `${stdout}${stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
