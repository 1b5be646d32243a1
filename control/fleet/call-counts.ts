/**
 * Counts the outgoing calls of all edges against the call limits, while there are several (docs/internals/fleet.md).
 * A call is counted before its edge gets permission to start it, so the sum never exceeds a limit. Pure but for the
 * time that is passed in.
 */
import type { CallScope, HeldCalls } from '#shared/edge-protocol/fleet.ts';

/** Starts count this long, ms. */
const windowMs = 60_000;
/** How long the calls of an edge count whose link is lost, ms: it may be back soon. Its starts count to their end. */
export const lostEdgeMs = 10_000;

interface Tally {
  /** Live calls, by edge. */
  readonly live: Map<string, number>;
  /** Starts within the window, oldest first. */
  started: { readonly edgeId: string; readonly at: number }[];
}

export type CountAnswer = { readonly full: null } | { readonly full: { scope: string; reason: Reason } };
type Reason = 'concurrent' | 'per_minute';

export class CallCounts {
  readonly #tallies = new Map<string, Tally>();
  /** Edges that have declared what they hold. */
  readonly #known = new Set<string>();
  /** Until when the calls of edges without a link count. */
  readonly #lost = new Map<string, number>();

  /** Whether it is known what all these edges hold. */
  knows(edgeIds: readonly string[]): boolean {
    return edgeIds.every((id) => this.#known.has(id));
  }

  /** What edges hold has to be declared from the beginning. */
  forget(): void {
    this.#tallies.clear();
    this.#known.clear();
    this.#lost.clear();
  }

  /** What edges hold has to be declared again; until then, what is known of them counts. */
  doubt(): void {
    this.#known.clear();
  }

  /** What an edge holds, which replaces what was counted for it. */
  claim(edgeId: string, held: readonly HeldCalls[], now: number): void {
    this.#drop(edgeId);
    this.#known.add(edgeId);
    this.#lost.delete(edgeId);
    for (const { scope, live, started_ms_ago } of held) {
      const tally = this.#tally(scope);
      if (live > 0) tally.live.set(edgeId, live);
      const starts = started_ms_ago.map((ago) => ({ edgeId, at: now - ago }));
      tally.started = [...tally.started, ...starts].sort((one, other) => one.at - other.at);
    }
  }

  /** Counts a call, if all its scopes have room. */
  ask(edgeId: string, scopes: readonly CallScope[], now: number): CountAnswer {
    this.#dropLost(now);
    for (const { scope, concurrent, per_minute } of scopes) {
      const { live, started } = this.#used(scope, now);
      if (concurrent !== null && live >= concurrent) return { full: { scope, reason: 'concurrent' } };
      if (per_minute !== null && started >= per_minute) return { full: { scope, reason: 'per_minute' } };
    }
    this.note(
      edgeId,
      scopes.map(({ scope }) => scope),
      now,
    );
    return { full: null };
  }

  /** Counts a call that has started. */
  note(edgeId: string, scopes: readonly string[], now: number): void {
    for (const scope of scopes) {
      const tally = this.#tally(scope);
      tally.live.set(edgeId, (tally.live.get(edgeId) ?? 0) + 1);
      tally.started.push({ edgeId, at: now });
    }
  }

  /** A call is over. @param sent whether anything of it was sent: if not, it does not count as started */
  free(edgeId: string, scopes: readonly string[], sent: boolean): void {
    for (const scope of scopes) {
      const tally = this.#tallies.get(scope);
      if (!tally) continue;
      const left = (tally.live.get(edgeId) ?? 0) - 1;
      if (left > 0) tally.live.set(edgeId, left);
      else tally.live.delete(edgeId);
      const last = sent ? -1 : tally.started.findLastIndex((start) => start.edgeId === edgeId);
      if (last >= 0) tally.started.splice(last, 1);
    }
  }

  /** The link to an edge is lost. */
  lost(edgeId: string, now: number): void {
    this.#lost.set(edgeId, now + lostEdgeMs);
  }

  /** The edge is gone for good. */
  remove(edgeId: string): void {
    this.#known.delete(edgeId);
    this.#lost.delete(edgeId);
    this.#drop(edgeId);
  }

  /** Organizations and numbers with counted calls: a leak check. */
  size(now: number): number {
    for (const scope of [...this.#tallies.keys()]) this.#used(scope, now);
    return this.#tallies.size;
  }

  #tally(scope: string): Tally {
    const tally = this.#tallies.get(scope) ?? { live: new Map(), started: [] };
    this.#tallies.set(scope, tally);
    return tally;
  }

  #used(scope: string, now: number): { live: number; started: number } {
    const tally = this.#tallies.get(scope);
    if (!tally) return { live: 0, started: 0 };
    tally.started = tally.started.filter(({ at }) => at > now - windowMs);
    if (tally.live.size === 0 && tally.started.length === 0) this.#tallies.delete(scope);
    return {
      live: [...tally.live.values()].reduce((sum, one) => sum + one, 0),
      started: tally.started.length,
    };
  }

  #dropLost(now: number): void {
    for (const [edgeId, until] of this.#lost) {
      if (until > now) continue;
      this.#lost.delete(edgeId);
      for (const tally of this.#tallies.values()) tally.live.delete(edgeId);
    }
  }

  #drop(edgeId: string): void {
    for (const [scope, tally] of this.#tallies) {
      tally.live.delete(edgeId);
      tally.started = tally.started.filter((start) => start.edgeId !== edgeId);
      if (tally.live.size === 0 && tally.started.length === 0) this.#tallies.delete(scope);
    }
  }
}
