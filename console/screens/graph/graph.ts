/** A pathway's graph as the page sees it: open objects of the API, read but never rebuilt. Pure. */
import { edgeLabel } from '#shared/agent/graph.ts';
import { isObject, type JsonObject } from '#shared/agent/graph-problem.ts';
import { pathways } from '../../text/pathways.ts';

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
  /** Its own, else the first words of what it says, else its id. */
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
    return [
      {
        index,
        id: member.id,
        type: String(member.type),
        name: ownName(data) ?? (firstWords(data) || member.id),
        isStart: data.isStart === true,
        isGlobal: data.isGlobal === true,
        data,
      },
    ];
  });
}

function ownName({ name }: JsonObject): string | null {
  return typeof name === 'string' && name !== '' ? name : null;
}

const mostFirst = 40;

/** Of its text or its prompt; '': it has neither. */
function firstWords({ text, prompt }: JsonObject): string {
  const said = [text, prompt].find((one) => typeof one === 'string' && one.trim() !== '');
  const words = String(said ?? '')
    .trim()
    .split(/\s+/);
  let first = '';
  for (const word of words) {
    if (first !== '' && first.length + word.length >= mostFirst) return `${first}…`;
    first += `${first === '' ? '' : ' '}${word}`;
  }
  return first;
}

/** What people know a node by where nothing else of it is shown: one without a name by its type as well. */
export function titleOf({ data, name, type }: ShownNode): string {
  return ownName(data) ?? `${typeText(type)}: ${name}`;
}

const typeTexts: Readonly<Record<string, string>> = pathways.types;

export function typeText(type: string): string {
  return typeTexts[type] ?? type;
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
