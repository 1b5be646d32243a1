/** Position of a conversation along a pathway: the pathway, the node, and the tools used in this visit of the node. */
import {
  type ConversationOptions,
  type ConversationState,
  type LoadedPathway,
  LostPosition,
} from './conversation-options.ts';
import type { Graph, GraphNode } from './graph.ts';
import type { Option, Variables } from './interfaces.ts';
import { optionsOf } from './node-options.ts';
import {
  type DueTool,
  dueTool,
  missingInputs,
  namedTools,
  type PathwayTool,
  unknownTools,
} from './node-tools.ts';

type PositionState = Pick<ConversationState, 'pathway' | 'nodeId' | 'returnToId' | 'usedTools'>;

export class Position {
  readonly #otherPathway: ConversationOptions['otherPathway'];
  #pathway: LoadedPathway;
  /** The pathway, if it is not the original one. */
  #transferred: PositionState['pathway'] = null;
  #node: GraphNode;
  /** The node to which a global node without edges returns. */
  #returnTo: GraphNode | null = null;
  /** Ids of the tools already used in this visit of the node. */
  #usedTools: string[] = [];

  constructor(pathway: LoadedPathway, node: GraphNode, otherPathway: ConversationOptions['otherPathway']) {
    this.#pathway = pathway;
    this.#node = node;
    this.#otherPathway = otherPathway;
  }

  get node(): GraphNode {
    return this.#node;
  }

  get graph(): Graph {
    return this.#pathway.graph;
  }

  get pathwayId(): string {
    return this.#pathway.pathwayId;
  }

  /** The options to leave the node. */
  get options(): Option[] {
    return optionsOf(this.graph, this.#node);
  }

  snapshot(): PositionState {
    return {
      pathway: this.#transferred,
      nodeId: this.#node.id,
      returnToId: this.#returnTo?.id ?? null,
      usedTools: [...this.#usedTools],
    };
  }

  /** @throws LostPosition */
  restore({ pathway, nodeId, returnToId, usedTools = [] }: PositionState): void {
    if (pathway && !this.enterPathway(pathway.id, pathway.version))
      throw new LostPosition(`pathway ${pathway.id} version ${pathway.version} no longer exists`);
    const { nodes } = this.graph;
    const node = nodes.get(nodeId);
    if (!node) throw new LostPosition(`the pathway no longer has node "${nodeId}"`);
    this.#node = node;
    this.#returnTo = returnToId === null ? null : (nodes.get(returnToId) ?? null);
    this.#usedTools = [...usedTools];
  }

  /** Starts a visit of a node. */
  enter(node: GraphNode): void {
    this.#node = node;
    this.#usedTools = [];
  }

  /** Moves to another pathway. @returns its start node; null when it does not exist */
  enterPathway(id: string, version: number): GraphNode | null {
    const other = this.#otherPathway(id, version);
    if (!other) return null;
    this.#pathway = other;
    this.#transferred = { id, version };
    this.#returnTo = null;
    return other.graph.start;
  }

  /** @returns the node that an option leads to, null for none; a global node remembers where it was called from */
  follow(way: Option): GraphNode | null {
    if (way.global) this.#returnTo = this.#node;
    return this.graph.nodes.get(way.target) ?? null;
  }

  /** The node that a global node without edges interrupted, to return to; else null. */
  wayBack(): GraphNode | null {
    const back = this.#returnTo;
    this.#returnTo = null;
    const leadsOn = (this.graph.edgesFrom.get(this.#node.id) ?? []).length > 0;
    return this.#node.globalLabel === null || leadsOn ? null : back;
  }

  /** Takes the node's next tool whose inputs are all known; each runs once per visit. */
  takeTool(variables: Variables): DueTool | null {
    const due = dueTool(this.#node, this.#tools, variables, this.#usedTools);
    if (due) this.#usedTools.push(due.tool.toolId);
    return due;
  }

  /** Ids of the node's tools that do not exist. */
  unknownTools(): string[] {
    return unknownTools(this.#node, this.#tools);
  }

  /** The node's tools that exist. */
  namedTools(): PathwayTool[] {
    return namedTools(this.#node, this.#tools);
  }

  /** The node, with inputs missing for its tools added to the variables it asks for. */
  asking(variables: Variables): GraphNode {
    const missing = missingInputs(this.#node, this.#tools, variables);
    if (missing.length === 0) return this.#node;
    return { ...this.#node, extractVars: [...this.#node.extractVars, ...missing] };
  }

  get #tools(): readonly PathwayTool[] {
    return this.#pathway.tools ?? [];
  }
}
