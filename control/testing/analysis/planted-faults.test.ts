/** Analysis names class and node of a fault of each kind; `npm run bench verdicts` counts all of them. */
import { describe, expect, it } from 'vitest';
import { analyzed, isRight } from '../../../test/kit/verdicts/analyzed.ts';
import { plantedIn, seenFaults } from '../../../test/kit/verdicts/faults.ts';
import { seenBusinesses } from '../../../test/kit/verdicts/faults-seen.ts';

const planted = plantedIn(seenBusinesses, seenFaults).slice(0, seenFaults.length);

it('pathways without a fault pass', async () => {
  for (const business of seenBusinesses.slice(0, 3)) {
    for (const caller of ['wish', 'other'] as const) {
      expect((await analyzed({ business, fault: null }, 1, caller)).status).toBe('PASSED');
    }
  }
});

describe('a planted fault', () => {
  it.each(planted.map((one) => [one.fault.kind, one] as const))('%s is named', async (_, one) => {
    const { failed, findings, status } = await analyzed(one);
    expect(status).toBe('FAILED');
    expect([isRight(one, findings[0]), findings[0]]).toEqual([true, findings[0]]);
    const ids = findings.flatMap(({ nodeId }) => (nodeId === null ? [] : [nodeId]));
    expect(ids.filter((id) => failed.tested?.graph.nodes.has(id) !== true)).toEqual([]);
  });
});
