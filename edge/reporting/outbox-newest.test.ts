/** The newest file of the outbox, of which no later file knows, deleted or cut: between two runs, and while the edge runs. */
import { mkdtempSync, readdirSync, rmSync, truncateSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { MemoryDisk } from '../../test/kit/fakes/memory-disk.ts';
import { openOutbox } from './open-outbox.ts';
import { Outbox } from './outbox.ts';

const at = '2030-01-01T00:00:10.000Z';
const report = (call_id: string): ReportBody => ({ type: 'transcript', call_id, entries: [] });
const newestOf = (names: readonly string[]) =>
  names
    .filter((name) => /^\d+$/.test(name))
    .sort()
    .at(-1) ?? '';

describe('between two runs', () => {
  const cut = (disk: MemoryDisk, name: string, octets: number) => {
    const file = disk.files.get(name);
    if (file) file.octets = file.octets.subarray(0, octets);
  };
  it.each([
    ['deleted, and there are others', 100, (disk: MemoryDisk, name: string) => disk.files.delete(name)],
    ['deleted, and it was the only one', 10_000, (disk: MemoryDisk, name: string) => disk.files.delete(name)],
    ['emptied', 10_000, (disk: MemoryDisk, name: string) => cut(disk, name, 0)],
  ])(
    'a newest file that is %s is noticed with what is lost, and no number is used again',
    async (_, segmentBytes, spoil) => {
      const disk = new MemoryDisk();
      const former = new Outbox(disk, { segmentBytes });
      for (const id of ['a', 'b', 'c']) former.append(at, report(id));
      await former.sync();
      former.heartbeat(at);
      const last = former.read(0, 10).at(-1)?.seq ?? 0;
      const name = newestOf(disk.list());
      spoil(disk, name);

      const outbox = new Outbox(disk, { segmentBytes });
      expect(outbox.newestLost).toMatchObject({ file: name });
      expect({ id: outbox.id, files: outbox.filesLost }).toEqual({ id: former.id, files: 1 });
      const there = outbox.read(0, 10).length;
      // Control has the first of them.
      outbox.acknowledge(1);
      expect(outbox.countLost()).toBe(3 - Math.max(1, there));
      outbox.append(at, report('d'));
      expect(outbox.read(0, 10).at(-1)?.seq).toBeGreaterThan(last);
      await outbox.sync();
      const next = new Outbox(disk, { segmentBytes });
      next.acknowledge(1);
      expect({ lost: next.newestLost, reports: next.countLost() }).toEqual({ lost: null, reports: 0 });
    },
  );

  it('a newest file that is cut between two reports is noticed', async () => {
    const disk = new MemoryDisk();
    const former = new Outbox(disk);
    former.append(at, report('a'));
    const whole = disk.size;
    former.append(at, report('b'));
    await former.sync();
    former.heartbeat(at);
    cut(disk, newestOf(disk.list()), whole);
    const outbox = new Outbox(disk);
    expect(outbox.damage).toEqual([]);
    expect(outbox.newestLost).not.toBeNull();
    expect({ there: outbox.read(0, 10).length, lost: outbox.countLost() }).toEqual({ there: 1, lost: 1 });
  });

  it('what a loss of power takes, which was on no disk, is not called lost', async () => {
    const disk = new MemoryDisk();
    const former = new Outbox(disk);
    former.append(at, report('a'));
    await former.sync();
    former.append(at, report('b'));
    former.heartbeat(at);
    const outbox = new Outbox(disk.afterPowerLoss());
    expect({ lost: outbox.newestLost, reports: outbox.countLost() }).toEqual({ lost: null, reports: 0 });
    expect(outbox.read(0, 10)).toHaveLength(1);
  });
});

describe('while the edge runs', () => {
  async function opened() {
    const folder = mkdtempSync(join(tmpdir(), 'outbox-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const outbox = await openOutbox(folder);
    outbox.append(at, report('a'));
    await outbox.sync();
    outbox.append(at, report('b'));
    return { folder, files: join(folder, 'outbox'), outbox };
  }

  it.each([
    ['deleted', unlinkSync],
    ['cut', (path: string) => truncateSync(path, 10)],
  ])('a newest file that is %s is noticed, and its reports are written once more', async (_, spoil) => {
    const { folder, files, outbox } = await opened();
    expect(outbox.heartbeat(at)).toEqual([]);
    const name = newestOf(readdirSync(files));
    spoil(join(files, name));
    expect(outbox.heartbeat(at)).toEqual([name]);
    expect({ fault: outbox.fault, files: outbox.filesLost }).toEqual({ fault: 'failing', files: 1 });
    outbox.append(at, report('c'));
    await outbox.sync();
    outbox.settle();
    await outbox.sync();
    expect(outbox.settle()).toBe(true);
    expect(outbox.heartbeat(at)).toEqual([]);
    await outbox.close();
    const next = await openOutbox(folder);
    const bodies = next.read(0, 10).map(({ body }) => JSON.parse(body).call_id);
    expect(bodies).toEqual(['a', 'b', 'c']);
    expect({ lost: next.lost, newest: next.newestLost }).toEqual({ lost: 0, newest: null });
    await next.close();
  });

  it('its whole folder is made again', async () => {
    const { files, outbox } = await opened();
    rmSync(files, { recursive: true });
    expect(outbox.heartbeat(at)).toHaveLength(1);
    await outbox.sync();
    outbox.settle();
    await outbox.sync();
    expect(outbox.settle()).toBe(true);
    expect(outbox.read(0, 10)).toHaveLength(2);
    await outbox.close();
  });

  it('reports of a deleted file that are not in memory any more are counted', async () => {
    const disk = new MemoryDisk();
    const outbox = new Outbox(disk, { segmentBytes: 100 });
    for (const letter of ['a', 'b', 'c']) {
      outbox.append(at, report(letter.repeat(4_000_000)));
      await outbox.sync();
    }
    const [, second = ''] = disk.list().sort();
    disk.files.delete(second);
    expect(outbox.heartbeat(at)).toEqual([second]);
    expect(outbox.lost).toBe(1);
    await outbox.sync();
    outbox.settle();
    await outbox.sync();
    expect(outbox.settle()).toBe(true);
    expect(outbox.read(0, 10).map(({ seq }) => seq)).toEqual([1, 3]);
  });
});
