/** The tools of a persona: built-in ones (end, transfer, keys, pathways) and those of its author. */
import type { DialogueTool, ToolCall } from './dialogue.ts';
import type { ToolSpec } from './interfaces.ts';
import { handBackTool } from './realtime-order.ts';

/** A pathway in which a persona can continue (contract 12). */
export interface PathwayEntry {
  readonly name: string;
  /** the condition in plain words */
  readonly prompt: string;
  readonly pathwayId: string;
  /** 0 is the live graph */
  readonly pathwayVersion: number;
  readonly startNodeId: string | null;
}

export interface PersonaTools {
  /** name to target; `default` is the one without a name (contract 9.1) */
  readonly transfers: Readonly<Record<string, string>>;
  readonly pathways: readonly PathwayEntry[];
  /** of the author */
  readonly tools: readonly ToolSpec[];
  /** Whether there are keys to press and a line to hang up: on a call. */
  readonly onCall: boolean;
}

/** A validated tool call. */
export type Order =
  | { readonly kind: 'end' }
  | { readonly kind: 'transfer'; readonly name: string; readonly target: string }
  | { readonly kind: 'press'; readonly digits: string }
  | { readonly kind: 'pathway'; readonly entry: PathwayEntry }
  | { readonly kind: 'tool'; readonly tool: ToolSpec; readonly input: unknown }
  | { readonly kind: 'refused'; readonly why: string };

export const endTool = 'end_conversation';
export const transferTool = 'transfer_call';
const pressTool = 'press_keys';
const pathwayTool = 'go_to_pathway';
const ownNames: ReadonlySet<string> = new Set([endTool, transferTool, pressTool, pathwayTool, handBackTool]);

/** Characters that servers do not allow in tool names; an author's name may contain any. */
const nameForm = /[^a-zA-Z0-9_-]+/g;

/** The tools as described to a model, in a fixed order. */
export function toolsOf(given: PersonaTools): DialogueTool[] {
  const { transfers, pathways, onCall } = given;
  const tools: DialogueTool[] = [
    {
      name: endTool,
      description: `Ends the ${onCall ? 'call' : 'conversation'}. Say goodbye first, in the same answer. Only when the person is done or says goodbye.`,
      inputSchema: object({}),
      choices: [],
    },
  ];
  const names = Object.keys(transfers);
  if (names.length > 0) {
    tools.push({
      name: transferTool,
      description:
        'Transfers the person to somebody else, when they ask for it or your instructions say so. Say so first, in the same answer. "default" is a person who can help with anything.',
      inputSchema: object({ to: { type: 'string', enum: names } }),
      choices: names.map((name) => ({
        label: name === 'default' ? 'a human, agent, operator, representative, real person, someone' : name,
        description: '',
        input: { to: name },
      })),
    });
  }
  if (pathways.length > 0) {
    const when = pathways.map(({ name, prompt }) => `- ${JSON.stringify(name)}: ${prompt}`);
    tools.push({
      name: pathwayTool,
      description: `Continues with a fixed procedure, without further words from you, as soon as its condition applies:\n${when.join('\n')}`,
      inputSchema: object({ name: { type: 'string', enum: pathways.map(({ name }) => name) } }),
      choices: pathways.map(({ name, prompt }) => ({ label: name, description: prompt, input: { name } })),
    });
  }
  if (onCall) {
    tools.push({
      name: pressTool,
      description: 'Presses telephone keys, to answer a menu on the other side. "w" waits half a second.',
      inputSchema: object({ keys: { type: 'string', pattern: '^[0-9*#w]{1,64}$' } }),
      choices: [],
    });
  }
  for (const [name, spec] of named(given.tools)) {
    tools.push({ name, description: spec.description, inputSchema: spec.inputSchema, choices: [] });
  }
  return tools;
}

/** Validates a tool call: only what `given` offers, whatever the model was persuaded to do. */
export function orderOf({ name, input }: ToolCall, given: PersonaTools): Order {
  const value = (key: string): string => {
    const member: unknown =
      typeof input === 'object' && input !== null && Object.hasOwn(input, key)
        ? (input as Record<string, unknown>)[key]
        : undefined;
    return typeof member === 'string' ? member : '';
  };
  if (name === endTool) return { kind: 'end' };
  if (name === transferTool) {
    const to = value('to');
    const target = Object.hasOwn(given.transfers, to) ? given.transfers[to] : undefined;
    return target === undefined
      ? { kind: 'refused', why: `there is no transfer target named ${JSON.stringify(to)}` }
      : { kind: 'transfer', name: to, target };
  }
  if (name === pressTool && given.onCall) {
    const digits = value('keys');
    return /^[0-9*#w]{1,64}$/.test(digits)
      ? { kind: 'press', digits }
      : { kind: 'refused', why: 'keys are 1 to 64 of 0 to 9, *, # and w' };
  }
  if (name === pathwayTool) {
    const entry = given.pathways.find((candidate) => candidate.name === value('name'));
    return entry ? { kind: 'pathway', entry } : { kind: 'refused', why: 'there is no such procedure' };
  }
  const tool = named(given.tools).get(name);
  if (!tool) return { kind: 'refused', why: `there is no tool named ${JSON.stringify(name)}` };
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return { kind: 'refused', why: 'the input of a tool is a JSON object' };
  return { kind: 'tool', tool, input };
}

/** The author's tools under names for the model: in the form that servers accept, and unique. */
function named(tools: readonly ToolSpec[]): Map<string, ToolSpec> {
  const byName = new Map<string, ToolSpec>();
  for (const tool of tools) {
    const plain = tool.name.replace(nameForm, '_').slice(0, 60) || 'tool';
    let name = plain;
    for (let n = 2; byName.has(name) || ownNames.has(name); n++) name = `${plain}_${n}`;
    byName.set(name, tool);
  }
  return byName;
}

function object(properties: Readonly<Record<string, unknown>>) {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
