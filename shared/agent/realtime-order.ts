/**
 * What a Realtime node (contract 11.1) asks of its model, which hears and speaks, and what comes back. The node's edges
 * are a tool of the model, `hand_back`, which names one of them and brings the variables that the node asks for.
 */
import type { DialogueTool, ToolCall } from './dialogue.ts';
import { isObject } from './graph-problem.ts';
import type { Turn, Variables, VariableWanted } from './interfaces.ts';
import { isoDate } from './key-values.ts';
import { asText } from './template.ts';

/** A way out of the node, by a name of its own. */
export interface RealtimeExit {
  readonly name: string;
  readonly description: string;
}

/** What the model is to do. */
export interface RealtimeOrder {
  /** The connection's name in the organization. */
  readonly connection: string;
  readonly instructions: string;
  /** Its first words; null: as its instructions say. */
  readonly sentence: string | null;
  /** null: the model's own */
  readonly voice: string | null;
  /** 0..1; null: the model's own */
  readonly temperature: number | null;
  readonly exits: readonly RealtimeExit[];
  readonly wanted: readonly VariableWanted[];
  /** What must hold before it hands back; may be empty. */
  readonly condition: string;
  /** Whether it may end the call: no edge of the node leads on. */
  readonly mayEnd: boolean;
  /** Ids of the tools that the model may use. */
  readonly tools: readonly string[];
  /** The conversation so far, oldest first. */
  readonly history: readonly Turn[];
  /** For the templates of tools. */
  readonly variables: Variables;
}

export interface HandBack {
  /** Index into `exits`. */
  readonly exit: number;
  readonly variables: Variables;
}

/** How the model's part ended. */
export interface RealtimeResult {
  readonly outcome:
    | ({ readonly kind: 'handed_back' } & HandBack)
    | { readonly kind: 'ended' }
    | { readonly kind: 'failed'; readonly reason: string };
  /** What was said in it, oldest first. */
  readonly turns: readonly Turn[];
  /** Variables from the results of tools. */
  readonly variables: Variables;
}

export const handBackTool = 'hand_back';
/** Characters of a text that the model hands back. */
const longestValue = 4000;

/** The tool by which the model hands back; null: no edge leads on. */
export function handBackOf({
  exits,
  wanted,
  condition,
}: Pick<RealtimeOrder, 'exits' | 'wanted' | 'condition'>): DialogueTool | null {
  if (exits.length === 0) return null;
  const ways = exits.map(({ name, description }) => `- ${JSON.stringify(name)}: ${description || name}`);
  const only = condition === '' ? '' : ` Not before this holds: ${condition}`;
  return {
    name: handBackTool,
    description: `Hands the caller on, as soon as one of these applies. Say what is to be said first, in the same answer, and no goodbye.${only}\n${ways.join('\n')}`,
    inputSchema: {
      type: 'object',
      properties: {
        exit: { type: 'string', enum: exits.map(({ name }) => name) },
        ...(wanted.length > 0 && { variables: variablesSchema(wanted) }),
      },
      required: ['exit'],
      additionalProperties: false,
    },
    choices: [],
  };
}

/** Reads a call of that tool. */
export function readHandBack(
  { input }: ToolCall,
  { exits, wanted }: Pick<RealtimeOrder, 'exits' | 'wanted'>,
): HandBack | { readonly refused: string } {
  const given = isObject(input) ? input : {};
  const exit = exits.findIndex(({ name }) => name === given.exit);
  const names = exits.map(({ name }) => JSON.stringify(name)).join(', ');
  if (exit < 0) return { refused: `exit must be one of: ${names}` };
  const values = isObject(given.variables) ? given.variables : {};
  const variables = wanted.flatMap((one): [string, unknown][] => {
    const value = fitting(Object.hasOwn(values, one.name) ? values[one.name] : undefined, one.type);
    return value === undefined ? [] : [[one.name, value]];
  });
  return { exit, variables: Object.fromEntries(variables) };
}

function variablesSchema(wanted: readonly VariableWanted[]) {
  return {
    type: 'object',
    description: 'What the caller has said; leave out what is not known.',
    properties: Object.fromEntries(
      wanted.map(({ name, type, description }) => {
        const text = type === 'date' ? `${description} (YYYY-MM-DD)`.trim() : description;
        return [name, { type: type === 'date' ? 'string' : type, ...(text !== '' && { description: text }) }];
      }),
    ),
    additionalProperties: false,
  };
}

/** A value of the type, or undefined. */
function fitting(value: unknown, type: VariableWanted['type']): unknown {
  switch (type) {
    case 'string':
      return typeof value === 'string' && value !== '' ? value.slice(0, longestValue) : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
    case 'integer':
      return Number.isInteger(value) ? value : undefined;
    case 'date': {
      const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(asText(value)) ?? [];
      return isoDate(year, month, day);
    }
  }
}
