import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fullFor } from './capacity.ts';

describe('room for a call', () => {
  it.each<[string, number, number, number, number, string | null]>([
    ['a single organization gets all of it', 10, 9, 9, 1, null],
    ['no organization exceeds the total', 10, 10, 0, 3, 'capacity'],
    ['one organization takes the unreserved part', 10, 8, 8, 2, null],
    ['but not the reserve', 10, 9, 9, 2, 'organization_share'],
    ['which another organization gets', 10, 9, 0, 2, null],
    ['up to its even share', 500, 480, 250, 2, 'organization_share'],
    ['with very many organizations the even share is one call', 10, 9, 0, 1000, null],
    ['and no more than one', 10, 9, 1, 1000, 'organization_share'],
    ['a single slot goes to the first one', 1, 0, 0, 5, null],
    ['the last of two slots goes to another organization', 2, 1, 1, 2, 'organization_share'],
  ])('%s', (_what, maxCalls, live, ofOrganization, organizations, full) => {
    expect(fullFor({ maxCalls, live, ofOrganization, organizations })).toBe(full);
  });

  it('always remains for other organizations, and can be used up completely', () => {
    const size = fc.integer({ min: 2, max: 2_000 });
    fc.assert(
      fc.property(size, fc.integer({ min: 2, max: 50 }), (maxCalls, organizations) => {
        const held = new Array<number>(organizations).fill(0);
        const live = () => held.reduce((sum, each) => sum + each, 0);
        const take = (which: number) => {
          const ofOrganization = held[which] ?? 0;
          const full = fullFor({ maxCalls, live: live(), ofOrganization, organizations });
          if (full === null) held[which] = ofOrganization + 1;
          return full;
        };
        while (take(0) === null);
        expect(maxCalls - live()).toBeGreaterThanOrEqual(1);
        expect(take(1)).toBeNull();
        for (let which = 0; which < organizations; which++) while (take(which) === null);
        expect(live()).toBeGreaterThan(maxCalls - Math.max(1, Math.floor(maxCalls / 10)) - 1);
      }),
      { numRuns: 60 },
    );
  });
});
