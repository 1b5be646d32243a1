import type { ConversationEvent, Talk, WebhookRequest } from './conversation.ts';
import type { Graph } from './graph.ts';
import type { Turn, Understanding, Variables } from './interfaces.ts';
import type { MemoryState } from './memory.ts';
import type { PathwayTool } from './node-tools.ts';

export interface LoadedPathway {
  readonly pathwayId: string;
  readonly graph: Graph;
  /** The available tools that its nodes name; absent: none. */
  readonly tools?: readonly PathwayTool[];
}

export interface ConversationOptions {
  readonly pathway: LoadedPathway;
  readonly understanding: Understanding;
  /** From request_data and headers; names of built-in variables are ignored (contract 9.4). */
  readonly variables: Variables;
  /** The current built-in variables, without `input`. */
  readonly builtIns: () => Variables;
  /** ms since the epoch */
  readonly now: () => number;
  /** null: the graph's start node */
  readonly startNodeId: string | null;
  /** Replaces the first node's own words. */
  readonly firstSentence: string | null;
  /** Other pathways, for Transfer Pathway nodes; undefined when that id and version do not exist. */
  readonly otherPathway: (id: string, version: number) => LoadedPathway | undefined;
  /** The conversation before the pathway was entered. */
  readonly history?: readonly Turn[];
  /** Continues a stored conversation from its `snapshot`. */
  readonly state?: ConversationState;
  /** Its account so far; absent: a new one. */
  readonly account?: Pick<Talk, 'visits' | 'log' | 'webhookCalls'>;
  readonly limits?: Partial<ConversationLimits>;
}

export interface ConversationLimits {
  /** Maximum nodes passed without waiting for the person; more means a loop in the graph. */
  readonly movesPerStep: number;
  /** How often a node repeats itself after silence or unusable input. */
  readonly repeats: number;
  /** Whether the conversation ends after the last repeat; a written one may keep listening for days. */
  readonly endsAfterRepeats: boolean;
  /** Said when a node without words is repeated; null: nothing is said. */
  readonly wordlessRepeat: string | null;
  /** silence after the last word before a `silence` event, ms */
  readonly listenMs: number;
  /** Whether `realtime` actions can be carried out; else Realtime nodes are simulated in text. */
  readonly realtime: boolean;
}

export const conversationLimits: ConversationLimits = {
  movesPerStep: 50,
  repeats: 2,
  endsAfterRepeats: true,
  wordlessRepeat: null,
  listenMs: 10_000,
  realtime: false,
};

/** For written conversations: the person may reply an hour later, and a missing reply is not a failure. */
export const writtenLimits: Partial<ConversationLimits> = {
  endsAfterRepeats: false,
  wordlessRepeat: 'I am sorry, I did not understand that. Could you say that another way, please?',
};

/** State of a conversation along a pathway: plain data, so that it can be stored and restored. */
export interface ConversationState {
  readonly phase: 'new' | 'listening' | 'webhook' | 'tool' | 'realtime' | 'transfer' | 'ended';
  /** The pathway entered through a Transfer Pathway node; null: the original one. */
  readonly pathway: { readonly id: string; readonly version: number } | null;
  readonly nodeId: string;
  readonly returnToId: string | null;
  readonly repeats: number;
  readonly firstSentence: string | null;
  /** The pending webhook request. */
  readonly request: WebhookRequest | null;
  readonly memory: MemoryState;
  /** Ids of the tools already used in this visit of the node. */
  readonly usedTools?: readonly string[];
  /** What the node does after its tools; null: no tool runs. */
  readonly afterTools?: AfterTools | null;
}

/** The phase in which an event is awaited: a result has the name of its phase. */
export function awaitedIn(type: ConversationEvent['type']): ConversationState['phase'] {
  if (type === 'start') return 'new';
  return type === 'silence' || type === 'keys' || type === 'heard' ? 'listening' : type;
}

/** State of a node when its tools run: just entered, or with input from the person. */
export type AfterTools =
  | { readonly at: 'arrival' }
  | { readonly at: 'words'; readonly text: string }
  /** @property fills whether the keys were a value rather than a choice */
  | { readonly at: 'keys'; readonly keys: string; readonly fills: boolean };

/** A stored conversation refers to a node or pathway that no longer exists. */
export class LostPosition extends Error {
  override readonly name = 'LostPosition';
}

/** The requested start node is not in the graph. */
export class UnknownStartNode extends Error {
  override readonly name = 'UnknownStartNode';
  constructor(nodeId: string) {
    super(`Invalid start_node_id: the pathway has no node "${nodeId}"`);
  }
}
