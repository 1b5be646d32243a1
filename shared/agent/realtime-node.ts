/** The Realtime node (contract 11.1): its order to the model, and the ways out that the model may choose. */
import type { GraphNode } from './graph.ts';
import type { Option } from './interfaces.ts';
import type { Learning } from './learning.ts';
import type { Memory } from './memory.ts';
import type { Position } from './position.ts';
import type { RealtimeExit, RealtimeOrder } from './realtime-order.ts';
import { roleOf } from './special-edges.ts';
import { asText, fillQuoted, fillTemplate } from './template.ts';

/** Edges and global nodes that the model is told of: the first ones. */
const mostExits = 100;
/** Characters of an edge's label that the model is told. */
const longestName = 200;

/** Roles of edges that a model does not choose: events. */
const eventRoles: ReadonlySet<string> = new Set(['no_input', 'invalid', 'failure']);

/** The connection that a node names; empty: none. */
export function connectionOf({ data }: Pick<GraphNode, 'data'>): string {
  return asText(data.connection);
}

/** The edges of the current node for wishes of the person and for everything else, then the global nodes. */
export function exitsOf({ options }: Pick<Position, 'options'>): Option[] {
  return options.filter((option) => !eventRoles.has(roleOf(option))).slice(0, mostExits);
}

interface Parts {
  readonly position: Position;
  readonly memory: Memory;
  readonly learning: Learning;
}

/** The order of the current node. @param sentence replaces its words; null: it does not */
export function realtimeOrder({ position, memory, learning }: Parts, sentence: string | null): RealtimeOrder {
  const { node, graph } = position;
  const { variables, history } = memory;
  const exits = exitsOf(position);
  const text = sentence ?? node.text;
  // What the person has said must not pass for the author's words.
  const quoted = (template: string) => fillQuoted(template, variables);
  const instructions = [graph.globalPrompt, node.prompt].map(quoted).filter((part) => part !== '');
  return {
    connection: connectionOf(node),
    instructions: instructions.join('\n\n'),
    sentence: text === '' ? null : fillTemplate(text, variables),
    voice: asText(node.data.voice) || null,
    temperature: node.temperature,
    exits: named(exits),
    wanted: learning.asking.extractVars,
    condition: quoted(node.condition),
    mayEnd: exits.every((option) => option.global),
    tools: position.namedTools().map(({ toolId }) => toolId),
    history: [...history],
    variables,
  };
}

/** Names for the model, each once. */
function named(options: readonly Option[]): RealtimeExit[] {
  const names = new Set<string>();
  return options.map(({ label, description }, index) => {
    const plain = label.trim().slice(0, longestName) || `way ${index + 1}`;
    let name = plain;
    for (let n = 2; names.has(name); n++) name = `${plain} (${n})`;
    names.add(name);
    return { name, description };
  });
}
