/** The calls of all edges stay within the limits, whatever the edges do. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallCounts, lostEdgeMs } from './call-counts.ts';

const limits = { scope: 'organization o', concurrent: 3, per_minute: 5 };
const edges = ['a', 'b', 'c'] as const;
const step = fc.record({
  edge: fc.constantFrom(...edges),
  what: fc.constantFrom('ask', 'end', 'end unsent', 'reconnect', 'pass'),
});

describe('the calls of all edges', () => {
  it('never exceed a limit together', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const counts = new CallCounts();
        for (const edge of edges) counts.claim(edge, [], 0);
        const live = new Map<string, { at: number }[]>(edges.map((edge) => [edge, []]));
        let starts: { edge: string; at: number }[] = [];
        let now = 0;
        for (const { edge, what } of steps) {
          const own = live.get(edge) ?? [];
          if (what === 'pass') now += 7_000;
          if (what === 'ask' && counts.ask(edge, [limits], now).full === null) {
            own.push({ at: now });
            starts.push({ edge, at: now });
          }
          if (what.startsWith('end') && own.length > 0) {
            const call = own.pop();
            counts.free(edge, [limits.scope], what === 'end');
            const index = starts.findLastIndex((start) => start.edge === edge && start.at === call?.at);
            if (what === 'end unsent' && index >= 0) starts.splice(index, 1);
          }
          if (what === 'reconnect') {
            counts.lost(edge, now);
            const recent = starts.filter((start) => start.edge === edge && start.at > now - 60_000);
            const started_ms_ago = recent.map(({ at }) => now - at);
            counts.claim(edge, [{ scope: limits.scope, live: own.length, started_ms_ago }], now);
          }
          starts = starts.filter(({ at }) => at > now - 60_000);
          const sum = [...live.values()].reduce((total, calls) => total + calls.length, 0);
          expect(sum).toBeLessThanOrEqual(limits.concurrent);
          expect(starts.length).toBeLessThanOrEqual(limits.per_minute);
        }
      }),
    );
  });

  it('of a dead edge count for a minute, and then no more', () => {
    const counts = new CallCounts();
    for (const edge of ['a', 'b']) counts.claim(edge, [], 0);
    for (let call = 0; call < 3; call++) counts.ask('a', [limits], 0);
    counts.lost('a', 0);
    const full = { full: { scope: limits.scope, reason: 'concurrent' } };
    expect(counts.ask('b', [limits], lostEdgeMs - 1)).toEqual(full);
    expect(counts.ask('b', [limits], lostEdgeMs)).toEqual({ full: null });
  });

  it('are unknown until every edge has said what it holds', () => {
    const counts = new CallCounts();
    counts.claim('a', [], 0);
    expect(counts.knows(['a', 'b'])).toBe(false);
    counts.claim('b', [{ scope: limits.scope, live: 3, started_ms_ago: [] }], 0);
    expect(counts.knows(['a', 'b'])).toBe(true);
    expect(counts.ask('a', [limits], 0).full?.reason).toBe('concurrent');
  });

  it('are forgotten when they are over', () => {
    const counts = new CallCounts();
    counts.ask('a', [limits], 0);
    counts.free('a', [limits.scope], true);
    expect(counts.size(59_999)).toBe(1);
    expect(counts.size(60_000)).toBe(0);
  });
});
