/** A readable difference between two graphs. Pure. */
import type { JsonObject } from '#shared/agent/graph-problem.ts';
import type { GraphEdit, RawGraph } from '../analysis/edits.ts';

export interface Difference {
  readonly op: 'added' | 'removed' | 'changed';
  /** `nodes/<id>/data/text`, `edges/<id>` */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Members are matched by id; for those in both graphs each changed key is one difference. */
export function graphDiff(before: RawGraph, after: RawGraph): Difference[] {
  return [
    ...membersDiff('nodes', before.nodes, after.nodes),
    ...membersDiff('edges', before.edges, after.edges),
  ];
}

function membersDiff(
  kind: 'nodes' | 'edges',
  before: readonly JsonObject[],
  after: readonly JsonObject[],
): Difference[] {
  const keyed = (members: readonly JsonObject[]) =>
    new Map(members.map((member, index) => [String(member.id ?? `#${index}`), member]));
  const [old, now] = [keyed(before), keyed(after)];
  const ids = new Set([...old.keys(), ...now.keys()]);
  return [...ids].flatMap((id) => valueDiff(`${kind}/${id}`, old.get(id), now.get(id)));
}

function valueDiff(path: string, before: unknown, after: unknown): Difference[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (before === undefined) return [{ op: 'added', path, before: null, after }];
  if (after === undefined) return [{ op: 'removed', path, before, after: null }];
  if (!isPlain(before) || !isPlain(after)) return [{ op: 'changed', path, before, after }];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => valueDiff(`${path}/${key}`, before[key], after[key]));
}

function isPlain(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The first 500 characters of the first prompt changed by edits, or null. */
export function promptExcerpt(edits: readonly GraphEdit[]): string | null {
  for (const edit of edits) {
    if (edit.kind === 'set_words' || edit.kind === 'set_global_prompt') return edit.words.slice(0, 500);
  }
  return null;
}
