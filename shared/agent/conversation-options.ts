import type { Graph } from './graph.ts';
import type { Understanding, Variables } from './interfaces.ts';

export interface LoadedPathway {
  readonly pathwayId: string;
  readonly graph: Graph;
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
  readonly limits?: Partial<ConversationLimits>;
}

export interface ConversationLimits {
  /** Nodes passed without waiting for the person; more is a loop in the graph. */
  readonly movesPerStep: number;
  /** How often a node repeats itself after silence or input that fits nothing. */
  readonly repeats: number;
  /** ms of silence after the last word until `silence` is due */
  readonly listenMs: number;
}

export const conversationLimits: ConversationLimits = { movesPerStep: 50, repeats: 2, listenMs: 10_000 };

/** The conversation was asked to begin at a node that its graph does not have. */
export class UnknownStartNode extends Error {
  override readonly name = 'UnknownStartNode';
  constructor(nodeId: string) {
    super(`Invalid start_node_id: the pathway has no node "${nodeId}"`);
  }
}
