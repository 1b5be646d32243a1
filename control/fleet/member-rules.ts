/**
 * Who is in the fleet (docs/internals/fleet.md). Pure.
 *
 *                 connected, ready
 *     outside ---------------------> member
 *        ^                             |   drains: at once
 *        +-----------------------------+   disconnected, engine lost: after a while
 *
 * The last member stays until another edge can take its work.
 */

export interface Member {
  readonly id: string;
  /** The epoch with which it joined. */
  readonly since: number;
}

/** State of a connected edge. `unable`: its SIP engine is down. */
export type Presence = 'ready' | 'unable' | 'draining';

export interface MemberTimes {
  /** How long a member may be disconnected, or without its engine, ms. */
  readonly absentMs: number;
  /** The same for members from before control's start, which have to connect again, ms. */
  readonly returnMs: number;
}

export const memberTimes: MemberTimes = { absentMs: 3_000, returnMs: 10_000 };

export interface MemberView {
  readonly members: readonly Member[];
  /** The connected edges that take part. */
  readonly present: ReadonlyMap<string, Presence>;
  /** Until when each member that is not ready stays, on the clock's elapsed time. */
  readonly staying: ReadonlyMap<string, number>;
  /** Members that the operator has removed for good. */
  readonly removed?: ReadonlySet<string>;
  readonly now: number;
}

export interface MemberDecision {
  readonly joined: readonly string[];
  readonly left: readonly string[];
  readonly staying: ReadonlyMap<string, number>;
  /** When to decide again though nothing happens; null: not. */
  readonly againAt: number | null;
}

export function decideMembers(view: MemberView, { absentMs }: Pick<MemberTimes, 'absentMs'>): MemberDecision {
  const { members, present, now } = view;
  const known = new Set(members.map(({ id }) => id));
  const joined = [...present].filter(([id, how]) => how === 'ready' && !known.has(id)).map(([id]) => id);
  const staying = new Map<string, number>();
  const left: string[] = [];
  const removed: string[] = [];
  for (const { id } of members) {
    const how = present.get(id);
    if (how === 'ready') continue;
    if (how === undefined && view.removed?.has(id)) {
      removed.push(id);
      continue;
    }
    const until = how === 'draining' ? now : (view.staying.get(id) ?? now + absentMs);
    if (until <= now) left.push(id);
    else staying.set(id, until);
  }
  if (joined.length === 0 && left.length + removed.length === members.length) {
    // Nobody could take over: all that may come back stay, and leave with the next edge that joins.
    for (const id of left) staying.set(id, now);
    return { joined, left: removed, staying, againAt: null };
  }
  const ends = [...staying.values()];
  const againAt = ends.length === 0 ? null : Math.min(...ends);
  return { joined, left: [...left, ...removed], staying, againAt };
}

/** The members after a decision. @param epoch the new one */
export function membersAfter(
  members: readonly Member[],
  { joined, left }: Pick<MemberDecision, 'joined' | 'left'>,
  epoch: number,
): readonly Member[] {
  return [...members.filter(({ id }) => !left.includes(id)), ...joined.map((id) => ({ id, since: epoch }))];
}

/**
 * Whether a report is from before its edge was evicted, so that others have taken over since.
 * @param reported epoch of the report; undefined: the edge takes no part, or is of an earlier version
 */
export function isOutdated(
  { epoch, members }: { readonly epoch: number; readonly members: readonly Member[] },
  edgeId: string,
  reported: number | undefined,
): boolean {
  if (reported === undefined) return false;
  const since = members.find(({ id }) => id === edgeId)?.since ?? epoch;
  return reported < since;
}
