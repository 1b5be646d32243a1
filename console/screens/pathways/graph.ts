/** A pathway's graph as the page sees it: open objects of the API, read but never rebuilt. Pure. */
import { edgeLabel } from '#shared/agent/graph.ts';
import { isObject, type JsonObject } from '#shared/agent/graph-problem.ts';

export interface Graph {
  readonly nodes: readonly JsonObject[];
  readonly edges: readonly JsonObject[];
}

/** Keys and indexes, from the outside to the inside. */
export type Path = readonly (string | number)[];

export interface ShownNode {
  /** In `nodes`. */
  readonly index: number;
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly isStart: boolean;
  readonly isGlobal: boolean;
  readonly data: JsonObject;
}

export interface ShownEdge {
  /** In `edges`. */
  readonly index: number;
  readonly source: string;
  readonly target: string;
  readonly label: string;
}

/** What the side of the graph shows. */
export type Selected =
  | { readonly kind: 'node'; readonly id: string }
  | { readonly kind: 'edge'; readonly index: number }
  | { readonly kind: 'all' };

/** Without the member that holds the settings of all nodes, and those without an id, which cannot be named. */
export function nodesOf({ nodes }: Graph): ShownNode[] {
  return nodes.flatMap((member, index): ShownNode[] => {
    if (typeof member.id !== 'string') return [];
    const data = isObject(member.data) ? member.data : {};
    const name = typeof data.name === 'string' && data.name !== '' ? data.name : member.id;
    return [
      {
        index,
        id: member.id,
        type: String(member.type),
        name,
        isStart: data.isStart === true,
        isGlobal: data.isGlobal === true,
        data,
      },
    ];
  });
}

/** The settings of all nodes. @returns undefined: there are none */
export function globalOf({ nodes }: Graph): unknown {
  return nodes.find((member) => member.id === undefined && member.globalConfig !== undefined)?.globalConfig;
}

export function edgesOf({ edges }: Graph): ShownEdge[] {
  return edges.map((member, index) => ({
    index,
    source: String(member.source),
    target: String(member.target),
    label: edgeLabel(member),
  }));
}
