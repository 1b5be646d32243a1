/** The way of a call over the graph, from the lines of its log. Pure. */
import type { Answer } from '../../api/client.ts';

type Line = Answer<'GET /v1/calls/{call_id}'>['pathway_logs'][number];

/** The time that a call was in one node. */
export interface Visit {
  readonly node: string;
  readonly name: string;
  readonly at: string;
  readonly lines: readonly Line[];
}

/** Lines that name no node belong to where the call was; those before the first node to none. */
export function visitsOf(lines: readonly Line[]): Visit[] {
  const visits: { node: string; name: string; at: string; lines: Line[] }[] = [];
  for (const line of lines) {
    const last = visits.at(-1);
    if (line.node_id !== null && line.node_id !== last?.node) {
      const { node_id: node, node_name: name, created_at: at } = line;
      visits.push({ node, name: name ?? node, at, lines: [line] });
    } else last?.lines.push(line);
  }
  return visits;
}

/** What the graph shows of the way so far. */
export interface Way {
  readonly current: string | null;
  /** Nodes of the way so far, each with the steps at which it was entered, from 1. */
  readonly steps: ReadonlyMap<string, readonly number[]>;
  /** Pairs of nodes that followed one another, as `wayKey` names them. */
  readonly followed: ReadonlySet<string>;
}

export function wayKey(source: string, target: string): string {
  return JSON.stringify([source, target]);
}

/** @param step from 0 */
export function wayUntil(visits: readonly Pick<Visit, 'node'>[], step: number): Way {
  const steps = new Map<string, number[]>();
  const followed = new Set<string>();
  for (const [index, { node }] of visits.slice(0, step + 1).entries()) {
    steps.set(node, [...(steps.get(node) ?? []), index + 1]);
    const before = visits[index - 1];
    if (before) followed.add(wayKey(before.node, node));
  }
  return { current: visits[step]?.node ?? null, steps, followed };
}
