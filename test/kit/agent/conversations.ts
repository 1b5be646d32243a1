/** Conversations over small graphs, for tests: events in, short forms of the actions out. */
import { ruleEngine } from '#shared/models/rule-engine.ts';
import type { Action, ConversationEvent } from '../../../shared/agent/conversation.ts';
import type { ConversationOptions } from '../../../shared/agent/conversation-options.ts';
import { loadGraph } from '../../../shared/agent/graph.ts';
import { Conversation } from '../../../shared/agent/interpreter.ts';

export type Node = [id: string, type: string, data?: object];
export type Edge = [source: string, target: string, label: string, description?: string];

export function graphOf(nodes: Node[], edges: Edge[]) {
  return loadGraph(
    nodes.map(([id, type, data = {}], index) => ({
      id,
      type,
      data: { ...(index === 0 ? { isStart: true } : {}), ...data },
    })),
    edges.map(([source, target, label, description = '']) => ({
      source,
      target,
      data: { label, description },
    })),
  );
}

export function talk(nodes: Node[], edges: Edge[], options: Partial<ConversationOptions> = {}) {
  return new Conversation({
    pathway: { pathwayId: 'p', graph: graphOf(nodes, edges) },
    understanding: ruleEngine,
    variables: {},
    builtIns: () => ({ from: '+14155550101' }),
    now: () => 1000,
    startNodeId: null,
    firstSentence: null,
    otherPathway: () => undefined,
    ...options,
  });
}

/** A short form of the actions. */
export function short(action: Action): string {
  switch (action.type) {
    case 'say':
      return `say ${action.text}`;
    case 'listen':
      return `listen at ${action.nodeId}`;
    case 'recording':
      return `${action.step} the recording`;
    case 'press':
      return `press ${action.digits}`;
    case 'webhook':
      return `${action.request.method} ${action.request.url}`;
    case 'tool':
      return `tool ${action.name}`;
    case 'realtime':
      return `realtime with ${action.order.connection}`;
    case 'transfer':
      return `transfer to ${action.target} by ${action.method}`;
    case 'end':
      return `end: ${action.reason}`;
  }
}

export async function run(conversation: Conversation, ...events: ConversationEvent[]): Promise<string[][]> {
  const all: string[][] = [];
  for (const event of [{ type: 'start' } as const, ...events]) {
    all.push((await conversation.step(event)).map(short));
  }
  return all;
}

export const keys = (pressed: string): ConversationEvent => ({ type: 'keys', keys: pressed });
export const heard = (text: string): ConversationEvent => ({ type: 'heard', text });
export const silence: ConversationEvent = { type: 'silence' };
export const webhook = (
  status: number | null,
  body: unknown,
  error: string | null = null,
): ConversationEvent => ({
  type: 'webhook',
  result: { status, body, error },
});

export const menu: Node[] = [
  ['menu', 'Default', { text: 'Menu.' }],
  ['bills', 'End Call', { text: 'Bills.' }],
  ['sales', 'End Call', { text: 'Sales.' }],
  ['bad', 'End Call', { text: 'Bad key.' }],
  ['quiet', 'End Call', { text: 'Nobody there.' }],
];
export const ended = 'end: the pathway reached its End Call node';
