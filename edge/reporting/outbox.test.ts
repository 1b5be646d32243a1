import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { callRecord } from '../../test/kit/fakes/call-record.ts';
import { MemoryDisk } from '../../test/kit/fakes/memory-disk.ts';
import { openOutbox } from './open-outbox.ts';
import { Outbox } from './outbox.ts';
import type { OutboxOptions } from './outbox-options.ts';
import type { StoredReport } from './stored-reports.ts';

const at = '2030-01-01T00:00:10.000Z';
const live: ReportBody = { type: 'call', call: callRecord() };
const ended: ReportBody = {
  type: 'call',
  call: callRecord({
    ended_at: '2030-01-01T00:00:09.000Z',
    status: 'completed',
    termination: 'caller_hangup',
  }),
};
const trace: ReportBody = { type: 'trace', call_id: callRecord().id, messages: [], truncated: false };

function call(report: StoredReport | undefined) {
  const body = JSON.parse(report?.body ?? 'null') as ReportBody;
  if (body.type !== 'call') throw new Error(`expected a call report, got ${body.type}`);
  return body.call;
}

describe('Outbox', () => {
  let folder: string;
  let outbox: Outbox;

  const reopen = async (options?: OutboxOptions) => {
    await outbox.close();
    outbox = await openOutbox(folder, options);
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'outbox-'));
    outbox = await openOutbox(folder);
  });

  afterEach(async () => {
    await outbox.close();
    rmSync(folder, { recursive: true });
  });

  it('returns reports in order, numbered without gaps', () => {
    outbox.append(at, live, trace);
    outbox.append(at, ended);
    expect(outbox.read(0, 10).map((r) => r.seq)).toEqual([1, 2, 3]);
    expect(outbox.read(1, 1).map((r) => r.seq)).toEqual([2]);
    expect(outbox.pending).toBe(3);
  });

  it('deletes what was acknowledged and never reuses a number', async () => {
    outbox.append(at, live, ended);
    outbox.acknowledge(2);
    expect(outbox.pending).toBe(0);
    outbox.append(at, trace);
    expect(outbox.read(0, 10).map((r) => r.seq)).toEqual([3]);
    await reopen();
    expect(outbox.pending).toBe(1);
    expect(outbox.read(0, 10).map((r) => r.seq)).toEqual([3]);
  });

  it('keeps its id, numbering and reports across a restart', async () => {
    const { id } = outbox;
    outbox.append(at, ended);
    await reopen();
    expect(outbox.id).toBe(id);
    expect(outbox.pending).toBe(1);
    outbox.append(at, trace);
    const [first, second] = outbox.read(0, 10).map((report) => report.seq);
    expect(first).toBe(1);
    expect(second).toBeGreaterThan(1);
    expect(outbox.read(first ?? 0, 10).map(({ seq }) => seq)).toEqual([second]);
  });

  it('keeps every character of a report', async () => {
    const text = 'é 漢 🙂 \u2028 \ud800 \x1eTO1 \n "\\';
    const body: ReportBody = {
      type: 'transcript',
      call_id: 'call',
      entries: [{ id: 'e', at, user: 'user', text, node_id: null, node_name: null }],
    };
    outbox.append(at, body);
    await reopen();
    expect(outbox.read(0, 1)).toEqual([{ seq: 1, at, body: JSON.stringify(body) }]);
  });

  it('closes the calls that were live when the process died, dated by its last heartbeat', async () => {
    outbox.append(at, { type: 'call', call: callRecord({ answered_at: '2030-01-01T00:00:02.000Z' }) });
    outbox.heartbeat('2030-01-01T00:00:07.000Z');
    await reopen();
    expect(outbox.closeAbandonedCalls(at)).toBe(1);
    expect(call(outbox.read(1, 1)[0])).toMatchObject({
      status: 'completed',
      sip_code: 200,
      ended_at: '2030-01-01T00:00:07.000Z',
      termination: 'edge_restarted',
      hangup_by: 'error',
    });
    expect(outbox.closeAbandonedCalls(at)).toBe(0);
  });

  it('does not close a call whose end was stored', async () => {
    outbox.append(at, live);
    outbox.append(at, ended);
    expect(outbox.closeAbandonedCalls(at)).toBe(0);
    await reopen();
    expect(outbox.closeAbandonedCalls(at)).toBe(0);
  });

  it('cannot be opened by a second edge', async () => {
    await expect(openOutbox(folder)).rejects.toThrow(
      /outbox is in use by another edge; give each edge its own data folder/,
    );
  });

  it('accepts call records but no traces when it is full', async () => {
    await reopen({ maxReports: 1 });
    outbox.append(at, live, trace, ended);
    expect(outbox.read(0, 10).map((r) => (JSON.parse(r.body) as ReportBody).type)).toEqual(['call', 'call']);
    expect(outbox.dropped).toBe(1);
  });
});

describe('the segments of an outbox', () => {
  const segmentBytes = 4_000;
  const bodyOf = (n: number): ReportBody => ({
    type: 'call',
    call: callRecord({ id: `call-${n}`, ended_at: at }),
  });
  const many = (outbox: Outbox, from: number, to: number) => {
    for (let n = from; n <= to; n += 1) outbox.append(at, bodyOf(n));
  };

  it('are removed once their reports are acknowledged and the next one is synced', async () => {
    const disk = new MemoryDisk();
    const outbox = new Outbox(disk, { segmentBytes });
    many(outbox, 1, 100);
    const files = disk.list().length;
    expect(files).toBeGreaterThan(10);
    outbox.acknowledge(50);
    expect(disk.list()).toHaveLength(files);
    await outbox.sync();
    expect(disk.list().length).toBeLessThan(files / 2 + 2);
    outbox.acknowledge(100);
    expect(disk.list()).toHaveLength(1);
  });

  it('are closed when they are complete, delivered or not', async () => {
    const disk = new MemoryDisk();
    const outbox = new Outbox(disk, { segmentBytes });
    for (let n = 1; n <= 20; n += 1) {
      outbox.append(at, bodyOf(n));
      await outbox.sync();
    }
    expect(disk.list().length).toBeGreaterThan(3);
    expect(disk.open).toBe(1);
  });

  it('are closed when they are removed, also those that were synced before the next one began', async () => {
    const disk = new MemoryDisk();
    const outbox = new Outbox(disk, { segmentBytes });
    for (let n = 1; n <= 20; n += 1) {
      outbox.append(at, bodyOf(n));
      await outbox.sync();
      outbox.acknowledge(n);
      // All is delivered: a segment begins, and the former one goes with the next sync.
      outbox.heartbeat(at);
      await outbox.sync();
    }
    outbox.acknowledge(20);
    expect(disk.removals).toBeGreaterThan(15);
    expect(disk.open).toBe(disk.list().length);
    await outbox.close();
    expect(disk.open).toBe(0);
  });

  it('carry the calls that are up, however long ago their reports were acknowledged', async () => {
    const disk = new MemoryDisk();
    const outbox = new Outbox(disk, { segmentBytes });
    outbox.append(at, { type: 'call', call: callRecord({ id: 'long' }) });
    many(outbox, 1, 100);
    await outbox.sync();
    outbox.acknowledge(101);
    expect(disk.list()).toHaveLength(1);
    const next = new Outbox(disk);
    expect(next.closeAbandonedCalls(at)).toBe(1);
    expect(call(next.read(101, 1)[0]).id).toBe('long');
  });

  it('have less in them than four times the live calls, however many there are', async () => {
    const disk = new MemoryDisk();
    const outbox = new Outbox(disk, { segmentBytes });
    for (let n = 0; n < 100; n += 1) outbox.append(at, { type: 'call', call: callRecord({ id: `up-${n}` }) });
    const before = disk.list().length;
    const written = disk.size;
    many(outbox, 1, 300);
    expect(disk.list().length - before).toBeLessThan(3);
    expect(disk.size).toBeLessThan(written * 6);
  });

  it('are removed at a heartbeat when all their reports are delivered', async () => {
    const disk = new MemoryDisk();
    const outbox = new Outbox(disk);
    many(outbox, 1, 3);
    outbox.acknowledge(3);
    outbox.heartbeat(at);
    await outbox.sync();
    expect(disk.list().map((name) => disk.read(name).includes('call-'))).toEqual([false]);
    outbox.heartbeat(at);
    await outbox.sync();
    expect(disk.list()).toHaveLength(1);
  });

  it('are kept and tried again when they cannot be removed', async () => {
    const disk = new MemoryDisk();
    const outbox = new Outbox(disk, { segmentBytes });
    many(outbox, 1, 20);
    await outbox.sync();
    disk.broken = 'EROFS';
    outbox.acknowledge(20);
    await outbox.sync();
    expect(outbox.fault).toBe('read_only');
    disk.broken = null;
    expect(outbox.settle()).toBe(true);
    await outbox.sync();
    expect(disk.list()).toHaveLength(1);
    expect(outbox.read(0, 10)).toEqual([]);
  });

  it('of another version are not touched', () => {
    const disk = new MemoryDisk();
    disk.create('00000001').write(Buffer.from('\x1eTO2 something'), 0);
    expect(() => new Outbox(disk)).toThrow('the outbox file 00000001 is of another version');
  });

  it('are read from the disk when more waits than memory holds', async () => {
    const disk = new MemoryDisk();
    const outbox = new Outbox(disk, { segmentBytes: 1_000_000 });
    const text = 'x'.repeat(40_000);
    for (let n = 1; n <= 400; n += 1) {
      outbox.append(at, {
        type: 'transcript',
        call_id: `call-${n}`,
        entries: [{ id: 'e', at, user: 'user', text, node_id: null, node_name: null }],
      });
      if (n % 50 === 0) await outbox.sync();
    }
    const seqs: number[] = [];
    for (let batch = outbox.read(0, 7); batch.length > 0; batch = outbox.read(seqs.at(-1) ?? 0, 7)) {
      for (const { seq, body } of batch) expect(body).toContain(`call-${seq}"`);
      seqs.push(...batch.map(({ seq }) => seq));
    }
    expect(seqs).toEqual(Array.from({ length: 400 }, (_, n) => n + 1));
    expect(outbox.read(9, 2).map(({ seq }) => seq)).toEqual([10, 11]);
  });
});
