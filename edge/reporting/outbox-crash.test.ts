/** An outbox whose process is killed, whose machine loses its power, or whose disk damages what was written. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { callRecord } from '../../test/kit/fakes/call-record.ts';
import { MemoryDisk } from '../../test/kit/fakes/memory-disk.ts';
import { isLong } from '../../test/kit/is-long.ts';
import { rounds } from '../../test/kit/long-test.ts';
import { openOutbox } from './open-outbox.ts';
import { Outbox } from './outbox.ts';
import type { StoredReport } from './stored-reports.ts';

const at = '2030-01-01T00:00:10.000Z';
const seed = Number(process.env.SEED ?? 20_300_101);

const bodyOf = (id: string): ReportBody => ({ type: 'transcript', call_id: id, entries: [] });
const idOf = ({ body }: StoredReport): string => {
  const report = JSON.parse(body) as ReportBody;
  if (report.type === 'transcript') return report.call_id;
  if (report.type !== 'call') throw new Error(`unexpected report: ${report.type}`);
  return report.call.id;
};
const idsOf = (outbox: Outbox, after = 0) => outbox.read(after, 100_000).map(idOf);

/** A disk with one file. */
function diskOf(name: string, octets: Buffer): MemoryDisk {
  const disk = new MemoryDisk();
  disk.create(name).write(octets, 0);
  return disk;
}

/** Every octet in the long run. */
const stride = isLong ? 1 : 5;

describe('a segment', () => {
  /** Reports in groups of one to three, and the octets of the file after each group. */
  function written() {
    const disk = new MemoryDisk();
    const outbox = new Outbox(disk);
    const ends: { bytes: number; ids: string[] }[] = [{ bytes: disk.size, ids: [] }];
    for (let n = 1; n <= 4; n += 1) {
      const group = Array.from({ length: (n % 3) + 1 }, (_, place) => `call-${n}-${place}`);
      outbox.append(at, ...group.map((id) => bodyOf(id)));
      ends.push({ bytes: disk.size, ids: [...(ends.at(-1)?.ids ?? []), ...group] });
    }
    const [name = ''] = disk.list();
    return { id: outbox.id, name, octets: disk.read(name), ends };
  }

  it('that ends at any octet has every group of reports that was written whole, and no part of another', () => {
    const { id, name, octets, ends } = written();
    for (let length = 0; length <= octets.length; length += stride) {
      const outbox = new Outbox(diskOf(name, octets.subarray(0, length)));
      const whole = ends.findLast(({ bytes }) => bytes <= length);
      expect(idsOf(outbox)).toEqual(whole?.ids ?? []);
      expect(outbox.damage).toEqual(
        length === (whole?.bytes ?? 0) ? [] : [{ file: name, octets: length - (whole?.bytes ?? 0) }],
      );
      if (whole) expect(outbox.id).toBe(id);
      outbox.append(at, bodyOf('new'));
      expect(outbox.read(0, 100).at(-1)?.seq).toBeGreaterThan(whole ? 1_000_000 : 0);
    }
  });

  it('in which any octet changed has all groups but the one with it', () => {
    const { name, octets, ends } = written();
    for (let changed = 0; changed < octets.length; changed += stride) {
      const damaged = Buffer.from(octets);
      damaged[changed] = (damaged[changed] ?? 0) ^ 0x55;
      const outbox = new Outbox(diskOf(name, damaged));
      const place = ends.findIndex(({ bytes }) => changed < bytes);
      const lost = place <= 0 ? [] : (ends[place]?.ids.slice(ends[place - 1]?.ids.length) ?? []);
      expect(idsOf(outbox)).toEqual(ends.at(-1)?.ids.filter((one) => !lost.includes(one)));
      expect(outbox.damage).toHaveLength(1);
    }
  });
});

describe('a loss of power', () => {
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('report' as const), n: fc.integer({ min: 1, max: 4 }) }),
    },
    fc.record({ kind: fc.constant('take' as const), n: fc.integer({ min: 1, max: 8 }) }),
    fc.record({ kind: fc.constantFrom('sync' as const, 'beat' as const), n: fc.constant(0) }),
  );
  const life = fc.record({
    steps: fc.array(step, { minLength: 1, maxLength: 30 }),
    /** Of 8 unsynced octets in a row, how many are kept: 0 none, 8 all. */
    kept: fc.integer({ min: 0, max: 8 }),
    salt: fc.integer({ min: 0, max: 1_000 }),
  });

  it('takes no report that was synced, gives no number twice, and keeps the order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 4 }), async (lives) => {
        let disk = new MemoryDisk();
        let named = 0;
        /** What control has, by number; what is sure to be on the disk; and what was reported, in order. */
        const stored = new Map<number, string>();
        let safe: string[] = [];
        const all: string[] = [];
        let last = 0;
        let id: string | null = null;
        for (const { steps, kept, salt } of lives) {
          const outbox: Outbox = new Outbox(disk, { segmentBytes: 1_000 });
          expect(outbox.id).toBe(id ?? outbox.id);
          ({ id } = outbox);
          const found = idsOf(outbox, last);
          expect(found.filter((one) => safe.includes(one))).toEqual(safe);
          expect(found).toEqual(all.filter((one) => found.includes(one)));
          for (const { kind, n } of steps) {
            if (kind === 'report') {
              const names = Array.from({ length: n }, () => `call-${++named}`);
              all.push(...names);
              outbox.append(at, ...names.map((one) => bodyOf(one)));
            } else if (kind === 'sync') {
              await outbox.sync();
              safe = idsOf(outbox, last);
            } else if (kind === 'beat') outbox.heartbeat(at);
            else {
              for (const report of outbox.read(last, n)) {
                expect(stored.has(report.seq)).toBe(false);
                stored.set(report.seq, idOf(report));
                last = report.seq;
              }
              outbox.acknowledge(last);
              safe = safe.filter((one) => ![...stored.values()].includes(one));
            }
          }
          disk = disk.afterPowerLoss(
            (name, offset) => (Math.floor(offset / 8) * 7 + salt + name.length) % 8 < kept,
          );
        }
        expect(new Set(stored.values()).size).toBe(stored.size);
      }),
      { seed, numRuns: rounds(200) },
    );
  });

  it('takes only what was reported after the last sync', async () => {
    const disk = new MemoryDisk();
    const outbox = new Outbox(disk);
    outbox.append(at, { type: 'call', call: callRecord({ id: 'up' }) });
    outbox.append(at, bodyOf('over'));
    await outbox.sync();
    outbox.append(at, bodyOf('late'));
    const next = new Outbox(disk.afterPowerLoss());
    expect(idsOf(next)).toEqual(['up', 'over']);
    expect(next.closeAbandonedCalls(at)).toBe(1);
    expect(idsOf(next)).toEqual(['up', 'over', 'up']);
  });

  it('is covered by one sync for all who wait, and by another one for what came in the meantime', async () => {
    const disk = new MemoryDisk();
    const outbox = new Outbox(disk);
    const before = disk.syncs;
    const device = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    disk.slow = device[0].promise;
    outbox.append(at, bodyOf('a'));
    const first = outbox.sync();
    await Promise.resolve();
    disk.slow = device[1].promise;
    outbox.append(at, bodyOf('b'));
    const second = outbox.sync();
    outbox.append(at, bodyOf('c'));
    expect(outbox.sync()).toBe(second);
    device[0].resolve();
    await first;
    expect(idsOf(new Outbox(disk.afterPowerLoss()))).toEqual(['a']);
    device[1].resolve();
    await second;
    expect(idsOf(new Outbox(disk.afterPowerLoss()))).toEqual(['a', 'b', 'c']);
    expect(disk.syncs - before).toBe(2);
  });
});

describe('kill -9', () => {
  const writer = join(import.meta.dirname, '../../test/kit/programs/outbox-writer.ts');

  it('at any point loses no report whose append had returned', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'outbox-'));
    let last = 0;
    for (const lines of [1, 40, 333, 2_100]) {
      const child = spawn(process.execPath, [writer, folder, String(last)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let appended = last;
      let seen = 0;
      for await (const line of createInterface({ input: child.stdout })) {
        appended = Number(line);
        seen += 1;
        if (seen === lines) child.kill('SIGKILL');
      }
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      expect(child.signalCode).toBe('SIGKILL');
      expect(seen).toBeGreaterThanOrEqual(lines);
      const outbox = await openOutbox(folder);
      const found = outbox.read(0, 1_000_000).map((report) => Number(idOf(report)));
      expect(outbox.damage).toEqual([]);
      // One more at most: its append had not returned.
      expect([appended, appended + 1]).toContain(found.length);
      expect(found).toEqual(found.map((_, n) => n + 1));
      last = found.length;
      await outbox.close();
    }
    rmSync(folder, { recursive: true });
  });
});
