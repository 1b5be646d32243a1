/** An outbox whose files were deleted: how many reports are lost is known exactly, and none is called lost that control has. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { MemoryDisk } from '../../test/kit/fakes/memory-disk.ts';
import { missingNumbers, type NumberRun } from './number-runs.ts';
import { Outbox } from './outbox.ts';

const at = '2030-01-01T00:00:10.000Z';
const body: ReportBody = { type: 'transcript', call_id: 'call', entries: [] };

const numbersOf = (runs: readonly NumberRun[]) =>
  runs.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, index) => first + index));

it('missing numbers are those expected that are not present', () => {
  const run = fc
    .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 8 }))
    .map(([first, more]): NumberRun => ({ first, last: first + more }));
  const present = fc
    .uniqueArray(fc.integer({ min: 1, max: 50 }))
    .map((all) =>
      all.toSorted((one, other) => one - other).map((number): NumberRun => ({ first: number, last: number })),
    );
  fc.assert(
    fc.property(fc.array(run), present, fc.integer({ min: 0, max: 50 }), (expected, there, after) => {
      const known = new Set(numbersOf(there));
      const wanted = [...new Set(numbersOf(expected))].filter((one) => one > after && !known.has(one));
      const missing = missingNumbers(expected, there, after);
      expect(numbersOf(missing.runs)).toEqual(wanted.toSorted((one, other) => one - other));
      expect(missing.size).toBe(wanted.length);
    }),
  );
});

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('report' as const), n: fc.integer({ min: 1, max: 6 }) }),
  },
  fc.record({ kind: fc.constant('take' as const), n: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ kind: fc.constantFrom('sync' as const, 'beat' as const), n: fc.constant(0) }),
);
const life = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 25 }),
  /** Which of the files but the last are deleted after it. */
  deleted: fc.nat(255),
});

describe('files that were deleted', () => {
  it.each([true, false])('(%s) are noticed with exactly the reports that are lost', async (deletes) => {
    let mostLost = 0;
    let mostStale = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 4 }), async (lives) => {
        const disk = new MemoryDisk();
        /** Numbers of reports that control does not have, and the highest that it has. */
        let waiting: number[] = [];
        let taken = 0;
        for (const { steps, deleted } of [...lives, { steps: [], deleted: 0 }]) {
          const outbox = new Outbox(disk, { segmentBytes: 400 });
          mostStale = Math.max(mostStale, taken - outbox.acknowledged);
          outbox.acknowledge(taken);
          const there = outbox.read(taken, 1_000).map(({ seq }) => seq);
          const lost = waiting.filter((number) => !there.includes(number));
          expect(outbox.countLost()).toBe(lost.length);
          expect(outbox.countLost()).toBe(0);
          mostLost = Math.max(mostLost, outbox.lost);
          waiting = there;
          for (const { kind, n } of steps) {
            if (kind === 'report') {
              outbox.append(at, ...Array.from({ length: n }, () => body));
              waiting = outbox.read(taken, 1_000).map(({ seq }) => seq);
            } else if (kind === 'take') {
              taken = waiting.slice(0, n).at(-1) ?? taken;
              waiting = waiting.slice(n);
              outbox.acknowledge(taken);
            } else if (kind === 'beat') outbox.heartbeat(at);
            else await outbox.sync();
          }
          // The process is killed: what it knew of control's acknowledgements is in its last frame.
          await new Promise(setImmediate);
          if (!deletes) continue;
          const files = disk.list().toSorted().slice(0, -1);
          for (const [index, name] of files.entries())
            if (deleted & (1 << (index % 8))) disk.files.delete(name);
        }
      }),
      { numRuns: 150 },
    );
    expect(mostLost > 0).toBe(deletes);
    expect(mostStale).toBeGreaterThan(0);
  });

  it('are remembered until control has said what it has', () => {
    const disk = new MemoryDisk();
    const first = new Outbox(disk, { segmentBytes: 100 });
    for (let count = 0; count < 5; count++) first.append(at, body);
    const [oldest = ''] = disk.list().toSorted();
    disk.files.delete(oldest);
    expect(new Outbox(disk).lost).toBe(0);
    const later = new Outbox(disk);
    expect(later.countLost()).toBe(1);
    expect(later.countLost()).toBe(0);
    expect(new Outbox(disk).countLost()).toBe(0);
  });
});
