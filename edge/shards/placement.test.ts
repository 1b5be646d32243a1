import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Candidate, mostTogether, placesFor } from './placement.ts';

/** Shards with calls of several organizations. */
class Model {
  readonly ports: number;
  readonly shards: Map<string, number>[];

  constructor(shards: number, ports = 5000) {
    this.ports = ports;
    this.shards = Array.from({ length: shards }, () => new Map<string, number>());
  }

  callsOn(shard: number): number {
    return [...(this.shards[shard]?.values() ?? [])].reduce((sum, calls) => sum + calls, 0);
  }

  get loads(): number[] {
    return this.shards.map((_, shard) => this.callsOn(shard));
  }

  order(org: string): (Candidate & { readonly index: number })[] {
    const candidates = this.shards.map((own, index) => ({
      index,
      calls: this.callsOn(index),
      own: own.get(org) ?? 0,
      ports: this.ports,
    }));
    return placesFor(candidates);
  }

  /** @returns the shard of the call; null: all ports of all shards are in use */
  place(org: string): number | null {
    const free = this.order(org).find(({ calls, ports }) => calls < ports);
    if (!free) return null;
    const own = this.shards[free.index];
    own?.set(org, (own.get(org) ?? 0) + 1);
    return free.index;
  }

  end(org: string, shard: number): void {
    const own = this.shards[shard];
    const left = (own?.get(org) ?? 0) - 1;
    if (left > 0) own?.set(org, left);
    else own?.delete(org);
  }
}

/** Calls that come (of an organization) and go (one of those that are there). */
const story = fc.array(fc.record({ org: fc.nat(11), ends: fc.boolean(), which: fc.nat() }), {
  maxLength: 400,
});

function play(
  model: Model,
  events: readonly { org: number; ends: boolean; which: number }[],
  check: () => void,
) {
  const calls: { org: string; shard: number }[] = [];
  for (const { org, ends, which } of events) {
    const [over] = ends && calls.length > 0 ? calls.splice(which % calls.length, 1) : [];
    if (over) model.end(over.org, over.shard);
    else {
      const shard = model.place(String(org));
      if (shard !== null) calls.push({ org: String(org), shard });
      check();
    }
  }
}

describe('the media shard of a call', () => {
  it('is that of the other calls of its organization, also beside an organization with far more calls', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 8 }),
        fc.array(fc.boolean(), { maxLength: 600 }),
        (shards, turns) => {
          const model = new Model(shards);
          let small = 0;
          const used = new Set<number | null>();
          for (const isSmall of turns) {
            if (!isSmall) model.place('large');
            else if (small++ < mostTogether) used.add(model.place('small'));
          }
          expect(used.size).toBeLessThanOrEqual(1);
        },
      ),
    );
  });

  it('has at most as many calls more than the one with the fewest as the limit says', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 8 }), story, (shards, events) => {
        const model = new Model(shards);
        let before = model.loads;
        play(model, events, () => {
          const now = model.loads;
          const grown = now.findIndex((calls, index) => calls > (before[index] ?? 0));
          expect((now[grown] ?? 0) - Math.min(...before)).toBeLessThanOrEqual(2 * mostTogether + 1);
          before = now;
        });
      }),
    );
  });

  it.each([2, 4, 8])(
    'is the one with the fewest calls for the first call of each organization: %i shards',
    (n) => {
      const model = new Model(n);
      for (let org = 0; org < 1000; org++) model.place(`org-${org}`);
      expect(Math.max(...model.loads) - Math.min(...model.loads)).toBeLessThanOrEqual(1);
    },
  );

  it('is found as long as a shard has a free port, and the load is even when ports are few', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.nat(5), { maxLength: 200 }),
        (shards, ports, orgs) => {
          const model = new Model(shards, ports);
          for (const [placed, org] of orgs.entries()) {
            const shard = model.place(String(org));
            expect(shard === null).toBe(placed >= shards * ports);
          }
        },
      ),
    );
  });

  it('keeps ports for the legs of transfers: an organization alone on two shards takes less than all of one', () => {
    const model = new Model(2, 30);
    for (let i = 0; i < 30; i++) model.place('org');
    expect(model.loads).toEqual([18, 12]);
  });
});
