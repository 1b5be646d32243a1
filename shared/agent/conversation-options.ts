import type { WebhookRequest } from './conversation.ts';
import type { Graph } from './graph.ts';
import type { Turn, Understanding, Variables } from './interfaces.ts';
import type { MemoryState } from './memory.ts';
import type { PathwayTool } from './node-tools.ts';

export interface LoadedPathway {
  readonly pathwayId: string;
  readonly graph: Graph;
  /** Those that its nodes name and that are there; absent: none. */
  readonly tools?: readonly PathwayTool[];
}

export interface ConversationOptions {
  readonly pathway: LoadedPathway;
  readonly understanding: Understanding;
  /** From request_data and headers; names of built-in variables are ignored (contract 9.4). */
  readonly variables: Variables;
  /** The built-in variables as they are now, without `input`. */
  readonly builtIns: () => Variables;
  /** ms since the epoch */
  readonly now: () => number;
  /** null: the graph's start node */
  readonly startNodeId: string | null;
  /** Said in place of the first node's own words. */
  readonly firstSentence: string | null;
  /** Other pathways, for Transfer Pathway nodes; undefined when there is none of that id and version. */
  readonly otherPathway: (id: string, version: number) => LoadedPathway | undefined;
  /** What was said before the pathway was entered. */
  readonly history?: readonly Turn[];
  /** To take up a conversation that was stored, as `snapshot` gave it. */
  readonly state?: ConversationState;
  readonly limits?: Partial<ConversationLimits>;
}

export interface ConversationLimits {
  /** Nodes passed without waiting for the person; more is a loop in the graph. */
  readonly movesPerStep: number;
  /** How often a node repeats itself after silence or input that fits nothing. */
  readonly repeats: number;
  /** Whether the conversation ends when the repeats were in vain; a written one can go on listening for days. */
  readonly endsAfterRepeats: boolean;
  /** Said in place of the words of a node that is repeated and has none; null: nothing is said. */
  readonly wordlessRepeat: string | null;
  /** ms of silence after the last word until `silence` is due */
  readonly listenMs: number;
}

export const conversationLimits: ConversationLimits = {
  movesPerStep: 50,
  repeats: 2,
  endsAfterRepeats: true,
  wordlessRepeat: null,
  listenMs: 10_000,
};

/** Of a conversation in writing: who writes may do so an hour later, and takes no answer for a failure. */
export const writtenLimits: Partial<ConversationLimits> = {
  endsAfterRepeats: false,
  wordlessRepeat: 'I am sorry, I did not understand that. Could you put it another way, please?',
};

/** Where a conversation along a pathway stands: plain data, so that it can be stored and taken up again. */
export interface ConversationState {
  readonly phase: 'new' | 'listening' | 'webhook' | 'tool' | 'transfer' | 'ended';
  /** Of the pathway that a Transfer Pathway node led to; null: the one that the conversation began in. */
  readonly pathway: { readonly id: string; readonly version: number } | null;
  readonly nodeId: string;
  readonly returnToId: string | null;
  readonly repeats: number;
  readonly firstSentence: string | null;
  /** Of the webhook that is waited for. */
  readonly request: WebhookRequest | null;
  readonly memory: MemoryState;
  /** Ids of the tools that had their turn in this visit of the node. */
  readonly usedTools?: readonly string[];
  /** What the node goes on with after its tools; null: no tool runs. */
  readonly afterTools?: AfterTools | null;
}

/** Where a node stands when its tools are used: just entered, or with an answer of the person. */
export type AfterTools =
  | { readonly at: 'arrival' }
  | { readonly at: 'words'; readonly text: string }
  /** @property fills whether the keys were a value, not a choice */
  | { readonly at: 'keys'; readonly keys: string; readonly fills: boolean };

/** A stored conversation stands at a node, or in a pathway, that is not there any more. */
export class LostPlace extends Error {
  override readonly name = 'LostPlace';
}

/** The conversation was asked to begin at a node that its graph does not have. */
export class UnknownStartNode extends Error {
  override readonly name = 'UnknownStartNode';
  constructor(nodeId: string) {
    super(`Invalid start_node_id: the pathway has no node "${nodeId}"`);
  }
}
