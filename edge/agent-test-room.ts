/**
 * Room for the calls of test runs. Each end of a call to this edge itself takes a call and a pair of ports: a run for
 * which there are none is refused before its call is placed, and control waits. Runs of one organization take no more
 * than their share while others may want to test, too.
 */
import { counted } from '#shared/counted.ts';
import { CommandRefused } from './call/refused.ts';

export interface TestRoomLimits {
  /** Part of the calls of tests that an edge can carry which one organization may have, where there are others. */
  readonly mostShare: number;
}

export const testRoom: TestRoomLimits = {
  // The 20 runs that an organization may have at once fit on an edge with the usual ports, and so do 12 of others.
  mostShare: 0.65,
};

export interface TestRoomParts {
  readonly limits: TestRoomLimits;
  /** Pairs of ports for tests, and those in use. */
  readonly pairs: number;
  readonly pairsInUse: () => number;
  readonly maxCalls: number;
  readonly liveCalls: () => number;
  /** Why this organization gets no further call; null: it does. */
  readonly closedFor: (orgId: string) => string | null;
  /** Organizations that have numbers. */
  readonly organizations: () => number;
  readonly refused: (why: 'share' | 'calls' | 'ports') => void;
}

export class TestRoom {
  readonly #parts: TestRoomParts;
  /** Calls of runs that are under way, by organization. */
  readonly #held = new Map<string, number>();

  constructor(parts: TestRoomParts) {
    this.#parts = parts;
  }

  /** Organizations with runs. */
  get size(): number {
    return this.#held.size;
  }

  /**
   * @param calls of the run
   * @returns what gives them back; safe to call twice
   * @throws CommandRefused RATE_LIMITED when there is no room now
   */
  take(orgId: string, calls: number): () => void {
    const own = this.#held.get(orgId) ?? 0;
    this.#check(orgId, own, calls);
    this.#held.set(orgId, own + calls);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = (this.#held.get(orgId) ?? 0) - calls;
      if (left > 0) this.#held.set(orgId, left);
      else this.#held.delete(orgId);
    };
  }

  #check(orgId: string, own: number, calls: number): void {
    const { closedFor, limits, liveCalls, maxCalls, organizations, pairs, pairsInUse } = this.#parts;
    const all = [...this.#held.values()].reduce((sum, held) => sum + held, 0);
    const share = Math.floor(limits.mostShare * Math.min(pairs, maxCalls));
    if (own > 0 && organizations() > 1 && own + calls > share)
      this.#refuse('share', `Your organization has its share of the edge's test calls: ${own} of ${share}.`);
    // Runs that have just begun have no port yet.
    if (pairs - Math.max(all, pairsInUse()) < calls)
      this.#refuse('ports', `All ${counted(pairs, 'pair')} of RTP ports for test calls are in use.`);
    if (maxCalls - liveCalls() < calls || closedFor(orgId) !== null)
      this.#refuse('calls', `The edge has as many calls as it takes: ${maxCalls} in all.`);
  }

  #refuse(why: 'share' | 'calls' | 'ports', words: string): never {
    this.#parts.refused(why);
    throw new CommandRefused('RATE_LIMITED', words);
  }
}
