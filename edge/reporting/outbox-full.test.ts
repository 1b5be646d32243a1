/** An outbox on a disk that is full, or cannot be written or synced. */
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { callRecord } from '../../test/kit/fakes/call-record.ts';
import { MemoryDisk } from '../../test/kit/fakes/memory-disk.ts';
import { rounds } from '../../test/kit/long-test.ts';
import { Outbox } from './outbox.ts';

const at = '2030-01-01T00:00:10.000Z';
const long = 'x'.repeat(3_000);

const live = (id: string): ReportBody => ({ type: 'call', call: callRecord({ id }) });
const ended = (id: string): ReportBody => ({
  type: 'call',
  call: callRecord({
    id,
    ended_at: '2030-01-01T00:00:09.000Z',
    status: 'completed',
    termination_detail: long,
  }),
});
const transcript = (id: string, text = long): ReportBody => ({
  type: 'transcript',
  call_id: id,
  entries: [{ id: 'e1', at, user: 'user', text, node_id: null, node_name: null }],
});

describe('an outbox on a full disk', () => {
  let disk: MemoryDisk;
  let outbox: Outbox;

  const fill = (left = 0) => {
    disk.room = disk.size + left;
  };
  const makeRoom = () => {
    disk.room = Number.POSITIVE_INFINITY;
  };
  const readOnly = () => {
    disk.broken = 'EROFS';
  };
  const writable = () => {
    disk.broken = null;
  };
  const bodies = () => outbox.read(0, 100_000).map((report) => JSON.parse(report.body) as ReportBody);

  beforeEach(() => {
    disk = new MemoryDisk();
    outbox = new Outbox(disk, { segmentBytes: 100_000 });
  });

  it('holds what it cannot write, and writes it in order when there is room', () => {
    const all = Array.from({ length: 450 }, (_, n) => ended(`call-${n}`));
    all.forEach((body, n) => {
      if (n === 100) fill(1_000);
      outbox.append(at, body);
    });
    expect(outbox.fault).toBe('full');
    expect(outbox.held.reports).toBe(350);
    expect(outbox.pending).toBe(450);
    expect(outbox.settle()).toBe(false);
    makeRoom();
    expect(outbox.settle()).toBe(true);
    expect(outbox.fault).toBeNull();
    expect(outbox.held).toEqual({ reports: 0, bytes: 0 });
    expect(bodies()).toEqual(all);
    expect(outbox.read(0, 1_000).map((report) => report.seq)).toEqual(all.map((_, n) => n + 1));
    expect(outbox.dropped).toBe(0);
    outbox = new Outbox(disk);
    expect(bodies()).toEqual(all);
    expect(outbox.damage).toEqual([]);
  });

  it('accepts acknowledgements on a full disk, and never reuses a number', () => {
    outbox.append(at, live('a'), live('b'), live('c'));
    fill();
    for (let n = 0; outbox.fault === null && n < 100; n += 1) outbox.append(at, transcript('a'));
    outbox.append(at, transcript('b'));
    const stored = outbox.read(0, 1_000).map((report) => report.seq);
    expect(stored).toEqual([1, 2, 3]);
    outbox.acknowledge(3);
    expect(outbox.pending).toBe(2);
    makeRoom();
    expect(outbox.settle()).toBe(true);
    expect(outbox.read(3, 1_000).map((report) => report.seq)).toEqual([4, 5]);
    expect(outbox.pending).toBe(2);
  });

  it('notices a full disk by its heartbeat while nothing is reported', () => {
    readOnly();
    outbox.heartbeat(at);
    expect(outbox.fault).toBe('read_only');
    expect(outbox.settle()).toBe(false);
    writable();
    expect(outbox.settle()).toBe(true);
  });

  it('rejects new calls while there is still room for live ones', () => {
    outbox = new Outbox(disk, { heldBytes: 100_000 });
    outbox.append(at, live('up'));
    readOnly();
    outbox.append(at, live('up'));
    let taken = 0;
    for (; !outbox.refuses && taken < 1_000; taken += 1) outbox.append(at, transcript('up'));
    expect(taken).toBeLessThan(20);
    expect(outbox.held.bytes).toBeLessThan(60_000);
    expect(outbox.dropped).toBe(0);
    for (let n = 0; n < 100; n += 1) outbox.append(at, transcript('up'));
    expect(outbox.held.bytes).toBeLessThan(110_000);
    expect(outbox.dropped).toBeGreaterThan(0);
    outbox.append(at, ended('up'));
    writable();
    outbox.settle();
    expect(bodies().at(-1)).toEqual(ended('up'));
    expect(outbox.refuses).toBe(false);
  });

  it('loses held reports when the process is killed, and closes the calls whose end was held', () => {
    outbox.append(at, live('up'));
    readOnly();
    outbox.append(at, ended('up'));
    outbox.append(at, live('new'), ended('new'));
    writable();
    // As after a kill: the files are unchanged and lack what was in memory.
    outbox = new Outbox(disk);
    expect(outbox.closeAbandonedCalls(at)).toBe(1);
    expect(bodies()).toMatchObject([
      { type: 'call', call: { id: 'up', ended_at: null } },
      { type: 'call', call: { id: 'up', termination: 'edge_restarted' } },
    ]);
  });

  it("throws errors that are not the disk's", () => {
    disk.broken = 'ERR_INVALID_ARG_TYPE';
    expect(() => outbox.append(at, live('a'))).toThrow(/ERR_INVALID_ARG_TYPE/);
  });

  it('writes once more what a failed sync may have lost, and holds further reports until that is synced', async () => {
    outbox.append(at, live('a'));
    await outbox.sync();
    outbox.append(at, transcript('a'), ended('a'), live('b'));
    disk.brokenSync = 'EIO';
    await outbox.sync();
    expect(outbox.fault).toBe('failing');
    outbox.append(at, ended('b'));
    expect(outbox.held.reports).toBe(1);
    outbox.settle();
    await outbox.sync();
    expect(outbox.settle()).toBe(false);
    expect(outbox.held.reports).toBe(1);
    disk.brokenSync = null;
    outbox.settle();
    await outbox.sync();
    expect(outbox.settle()).toBe(true);
    await outbox.sync();
    const all = [live('a'), transcript('a'), ended('a'), live('b'), ended('b')];
    expect(bodies()).toEqual(all);
    for (const survivor of [disk.afterPowerLoss(), disk.afterPowerLoss(() => true), disk]) {
      outbox = new Outbox(survivor);
      expect(bodies()).toEqual(all);
      expect(outbox.pending).toBe(5);
      expect(outbox.closeAbandonedCalls(at)).toBe(0);
    }
  });

  it('rejects new calls while half of the memory for reports waits for one slow sync', async () => {
    outbox = new Outbox(disk, { heldBytes: 20_000_000 });
    const slow = Promise.withResolvers<void>();
    disk.slow = slow.promise;
    outbox.append(at, live('up'));
    void outbox.sync();
    const text = 'x'.repeat(1_000_000);
    let taken = 0;
    for (; !outbox.refuses && taken < 100; taken += 1) outbox.append(at, transcript(`up-${taken}`, text));
    expect(taken).toBeGreaterThan(8);
    expect(taken).toBeLessThan(12);
    slow.resolve();
    await outbox.sync();
    expect(outbox.refuses).toBe(false);
    expect(outbox.read(0, 1_000)).toHaveLength(taken + 1);
  });

  it.each(['a disk that takes nothing', 'one slow sync'])(
    'drops the lines of the call that has its share first, and says so once, while calls wait for %s',
    async (what) => {
      outbox = new Outbox(disk, { heldBytes: 40_000_000 });
      const slow = Promise.withResolvers<void>();
      if (what === 'one slow sync') {
        disk.slow = slow.promise;
        void outbox.sync();
      } else readOnly();
      const text = 'x'.repeat(20_000);
      for (let n = 0; n < 2_000; n += 1) outbox.append(at, transcript('loud', text));
      expect(outbox.dropped).toBeGreaterThan(1_400);
      for (let n = 0; n < 100; n += 1) {
        outbox.append(at, live(`call-${n}`), transcript(`call-${n}`));
        expect(outbox.refuses).toBe(false);
      }
      writable();
      slow.resolve();
      await outbox.sync();
      outbox.settle();
      const stored = bodies();
      const sayings = stored.filter((body) => JSON.stringify(body).includes('had its share of the memory'));
      expect(sayings).toHaveLength(1);
      expect(sayings[0]).toMatchObject({ type: 'transcript', call_id: 'loud' });
      const lines = stored.filter((body) => body.type === 'transcript' && body.call_id !== 'loud');
      expect(lines).toEqual(Array.from({ length: 100 }, (_, n) => transcript(`call-${n}`)));
      // With room for all again, so has the call.
      outbox.append(at, transcript('loud', 'again'));
      expect(bodies().at(-1)).toEqual(transcript('loud', 'again'));
    },
  );

  it('delivers every report once and in order, whatever the disk does in the meantime', async () => {
    const seed = Number(process.env.SEED ?? 20_300_101);
    const step = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('report' as const),
          size: fc.integer({ min: 0, max: 9_000 }),
        }),
      },
      fc.record({ kind: fc.constant('take' as const), size: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ kind: fc.constant('full' as const), size: fc.integer({ min: 0, max: 5_000 }) }),
      fc.constantFrom(
        { kind: 'broken' as const, size: 0 },
        { kind: 'lossy' as const, size: 0 },
        { kind: 'room' as const, size: 0 },
        { kind: 'settle' as const, size: 0 },
        { kind: 'sync' as const, size: 0 },
        { kind: 'beat' as const, size: 0 },
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80 }), async (steps) => {
        disk = new MemoryDisk();
        outbox = new Outbox(disk, { segmentBytes: 20_000 });
        const sent: string[] = [];
        const got: string[] = [];
        let last = 0;
        const take = (most: number) => {
          for (const { seq, body } of outbox.read(last, most)) {
            expect(seq).toBeGreaterThan(last);
            last = seq;
            got.push(body);
          }
          outbox.acknowledge(last);
        };
        const room = () => {
          writable();
          disk.brokenSync = null;
          makeRoom();
        };
        for (const { kind, size } of steps) {
          if (kind === 'report') {
            const body = transcript(`call-${sent.length}`, 'x'.repeat(size));
            sent.push(JSON.stringify(body));
            outbox.append(at, body);
          } else if (kind === 'take') take(size);
          else if (kind === 'full') fill(size);
          else if (kind === 'broken') readOnly();
          else if (kind === 'lossy') disk.brokenSync = 'EIO';
          else if (kind === 'room') room();
          else if (kind === 'sync') await outbox.sync();
          else if (kind === 'beat') outbox.heartbeat(at);
          else outbox.settle();
          expect(outbox.pending).toBe(sent.length - got.length);
        }
        room();
        for (let n = 0; n < 3; n += 1) {
          outbox.settle();
          await outbox.sync();
        }
        take(1_000);
        expect(got).toEqual(sent);
        expect(outbox.pending).toBe(0);
      }),
      { seed, numRuns: rounds(200) },
    );
  });
});
