/** The tools of a persona: its own (end, transfer, keys, pathways) and those of its author. */
import type { DialogueTool, ToolCall } from './dialogue.ts';
import type { ToolSpec } from './interfaces.ts';

/** Where a persona goes on in a pathway (contract 12). */
export interface PathwayWay {
  readonly name: string;
  /** says in plain words when */
  readonly prompt: string;
  readonly pathwayId: string;
  /** 0 is the live graph */
  readonly pathwayVersion: number;
  readonly startNodeId: string | null;
}

export interface PersonaTools {
  /** name to target; `default` is the one without a name (contract 9.1) */
  readonly transfers: Readonly<Record<string, string>>;
  readonly pathways: readonly PathwayWay[];
  /** of the author */
  readonly tools: readonly ToolSpec[];
  /** Whether keys can be pressed and the line be hung up: a call. */
  readonly onCall: boolean;
}

/** What a tool call asks for, checked. */
export type Order =
  | { readonly kind: 'end' }
  | { readonly kind: 'transfer'; readonly name: string; readonly target: string }
  | { readonly kind: 'press'; readonly digits: string }
  | { readonly kind: 'pathway'; readonly way: PathwayWay }
  | { readonly kind: 'tool'; readonly tool: ToolSpec; readonly input: unknown }
  | { readonly kind: 'refused'; readonly why: string };

export const endTool = 'end_conversation';
export const transferTool = 'transfer_call';
const pressTool = 'press_keys';
const pathwayTool = 'go_to_pathway';
const ownNames: ReadonlySet<string> = new Set([endTool, transferTool, pressTool, pathwayTool]);

/** Servers take names of this form only; an author's name may be anything. */
const nameForm = /[^a-zA-Z0-9_-]+/g;

/** The tools as a model is told of them, in a fixed order. */
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
        'Hands the person over to somebody else, when they ask for it or your instructions say so. Say so first, in the same answer. "default" is a person who can help with anything.',
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
      description: `Goes on by a fixed procedure, without further words of yours, as soon as its condition holds:\n${when.join('\n')}`,
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

/** What a call asks for: only what `given` offers, whatever the model was talked into. */
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
      ? { kind: 'refused', why: `there is nobody of the name ${JSON.stringify(to)} to transfer to` }
      : { kind: 'transfer', name: to, target };
  }
  if (name === pressTool && given.onCall) {
    const digits = value('keys');
    return /^[0-9*#w]{1,64}$/.test(digits)
      ? { kind: 'press', digits }
      : { kind: 'refused', why: 'keys are 1 to 64 of 0 to 9, *, # and w' };
  }
  if (name === pathwayTool) {
    const way = given.pathways.find((candidate) => candidate.name === value('name'));
    return way ? { kind: 'pathway', way } : { kind: 'refused', why: 'there is no such procedure' };
  }
  const tool = named(given.tools).get(name);
  if (!tool) return { kind: 'refused', why: `there is no tool of the name ${JSON.stringify(name)}` };
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return { kind: 'refused', why: 'the input of a tool is a JSON object' };
  return { kind: 'tool', tool, input };
}

/** The author's tools by the name that a model knows them by: in the form that servers take, and each different. */
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
