/** Where a conversation along a pathway stands: the pathway, the node, and what has passed in this visit of the node. */
import {
  type ConversationOptions,
  type ConversationState,
  type LoadedPathway,
  LostPlace,
} from './conversation-options.ts';
import type { Graph, GraphNode } from './graph.ts';
import type { Option, Variables } from './interfaces.ts';
import { type DueTool, dueTool, missingInputs, type PathwayTool, unknownTools } from './node-tools.ts';
import { waysOut } from './ways.ts';

type PlaceState = Pick<ConversationState, 'pathway' | 'nodeId' | 'returnToId' | 'usedTools'>;

export class Place {
  readonly #otherPathway: ConversationOptions['otherPathway'];
  #pathway: LoadedPathway;
  /** Of the pathway, when it is not the one that the conversation began in. */
  #transferred: PlaceState['pathway'] = null;
  #node: GraphNode;
  /** Where a global node without edges returns to. */
  #returnTo: GraphNode | null = null;
  /** Ids of the tools that had their turn in this visit of the node. */
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

  /** The ways out of the node. */
  get ways(): Option[] {
    return waysOut(this.graph, this.#node);
  }

  snapshot(): PlaceState {
    return {
      pathway: this.#transferred,
      nodeId: this.#node.id,
      returnToId: this.#returnTo?.id ?? null,
      usedTools: [...this.#usedTools],
    };
  }

  /** @throws LostPlace */
  restore({ pathway, nodeId, returnToId, usedTools = [] }: PlaceState): void {
    if (pathway && !this.enterPathway(pathway.id, pathway.version))
      throw new LostPlace(`pathway ${pathway.id} version ${pathway.version} is not there any more`);
    const { nodes } = this.graph;
    const node = nodes.get(nodeId);
    if (!node) throw new LostPlace(`the pathway has no node "${nodeId}" any more`);
    this.#node = node;
    this.#returnTo = returnToId === null ? null : (nodes.get(returnToId) ?? null);
    this.#usedTools = [...usedTools];
  }

  /** Begins a visit of a node. */
  enter(node: GraphNode): void {
    this.#node = node;
    this.#usedTools = [];
  }

  /** Goes over into another pathway. @returns its start; null when it is not there */
  enterPathway(id: string, version: number): GraphNode | null {
    const other = this.#otherPathway(id, version);
    if (!other) return null;
    this.#pathway = other;
    this.#transferred = { id, version };
    this.#returnTo = null;
    return other.graph.start;
  }

  /** @returns where a way leads, null for nowhere; a global node will know where it was called from */
  follow(way: Option): GraphNode | null {
    if (way.global) this.#returnTo = this.#node;
    return this.graph.nodes.get(way.target) ?? null;
  }

  /** A global node that leads nowhere gives the word back to the node that it interrupted: that one, else null. */
  wayBack(): GraphNode | null {
    const back = this.#returnTo;
    this.#returnTo = null;
    const leadsOn = (this.graph.edgesFrom.get(this.#node.id) ?? []).length > 0;
    return this.#node.globalLabel === null || leadsOn ? null : back;
  }

  /** Takes the next tool of the node whose inputs are all known; each has one turn in a visit. */
  takeTool(variables: Variables): DueTool | null {
    const due = dueTool(this.#node, this.#tools, variables, this.#usedTools);
    if (due) this.#usedTools.push(due.tool.toolId);
    return due;
  }

  /** Ids of tools that the node names and that are not there. */
  unknownTools(): string[] {
    return unknownTools(this.#node, this.#tools);
  }

  /** The node, with what the person must still say for its tools among what is asked for. */
  asking(variables: Variables): GraphNode {
    const missing = missingInputs(this.#node, this.#tools, variables);
    if (missing.length === 0) return this.#node;
    return { ...this.#node, extractVars: [...this.#node.extractVars, ...missing] };
  }

  get #tools(): readonly PathwayTool[] {
    return this.#pathway.tools ?? [];
  }
}
