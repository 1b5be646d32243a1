import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Candidate, chooseEdge } from './choice.ts';

const edge = (edgeId: string, more: Partial<Candidate> = {}): Candidate => ({
  edgeId,
  region: null,
  weight: 100,
  isSilent: false,
  hasEngine: true,
  calls: 0,
  ...more,
});

const anyEdge = fc.record({
  edgeId: fc.uuid(),
  region: fc.constantFrom(null, 'east', 'west'),
  weight: fc.integer({ min: 0, max: 1000 }),
  isSilent: fc.constant(false),
  hasEngine: fc.boolean(),
  calls: fc.integer({ min: 0, max: 10_000 }),
});
const anyWish = fc.record({ region: fc.constantFrom('east', 'west', 'north'), strict: fc.boolean() });

const serves = ({ region }: Candidate, wanted: string) => region === null || region === wanted;

describe('the edge of an outbound call', () => {
  it('is the one with the fewest calls for its weight', () => {
    const fleet = [edge('large', { weight: 300, calls: 5 }), edge('small', { weight: 100, calls: 2 })];
    expect(chooseEdge(fleet)?.edgeId).toBe('large');
  });

  it('is one of the region, and one of another only when there is none', () => {
    const east = edge('east', { region: 'east', calls: 50 });
    const west = edge('west', { region: 'west' });
    const wish = { region: 'east', strict: false };
    expect(chooseEdge([west, east], wish)).toBe(east);
    expect(chooseEdge([west], wish)).toBe(west);
    expect(chooseEdge([west], { ...wish, strict: true })).toBeNull();
    expect(chooseEdge([edge('any')], { ...wish, strict: true })?.edgeId).toBe('any');
  });

  it('has weight 0 only when no other is ready', () => {
    const spare = edge('spare', { weight: 0 });
    expect(chooseEdge([spare, edge('a', { calls: 900 })])?.edgeId).toBe('a');
    expect(chooseEdge([spare])).toBe(spare);
  });

  it('is one that left a command unanswered only when all have', () => {
    const silent = edge('silent', { isSilent: true });
    expect(chooseEdge([silent, edge('a', { hasEngine: false, calls: 900 })])?.edgeId).toBe('a');
    expect(chooseEdge([silent])).toBe(silent);
  });

  it('never lacks an engine or the region while another has both', () => {
    fc.assert(
      fc.property(fc.array(anyEdge, { minLength: 1, maxLength: 12 }), anyWish, (fleet, wish) => {
        const chosen = chooseEdge(fleet, wish);
        const allowed = fleet.filter((one) => !wish.strict || serves(one, wish.region));
        if (!chosen) {
          expect(allowed).toEqual([]);
          return;
        }
        expect(allowed).toContain(chosen);
        const able = allowed.filter((one) => one.hasEngine);
        if (able.length === 0) return;
        expect(chosen.hasEngine).toBe(true);
        const near = able.filter((one) => serves(one, wish.region));
        if (near.length === 0) return;
        expect(serves(chosen, wish.region)).toBe(true);
        if (near.some(({ weight }) => weight > 0)) expect(chosen.weight).toBeGreaterThan(0);
      }),
    );
  });

  it('follows the weights: after any number of calls each edge has its share, give or take one', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(weights, fc.integer({ min: 1, max: 400 }), (all, total) => {
        const fleet = all.map((weight, index) => ({ ...edge(`e${index}`), weight, calls: 0 }));
        for (let call = 0; call < total; call++) {
          const chosen = chooseEdge(fleet);
          if (chosen) chosen.calls += 1;
        }
        // The least loaded for its weight is at most one call behind the most loaded.
        const least = Math.min(...fleet.map(({ calls, weight }) => (calls + 1) / weight));
        for (const { calls, weight } of fleet) expect(calls / weight).toBeLessThanOrEqual(least);
        expect(fleet.reduce((sum, { calls }) => sum + calls, 0)).toBe(total);
      }),
    );
  });
});
