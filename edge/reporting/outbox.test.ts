import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { callRecord } from '../../test/kit/fakes/call-record.ts';
import { Outbox, type StoredReport } from './outbox.ts';

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
  let path: string;
  let outbox: Outbox;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'outbox-'));
    path = join(folder, 'outbox.db');
    outbox = new Outbox(path);
  });

  afterEach(() => {
    outbox.close();
    rmSync(folder, { recursive: true });
  });

  it('returns reports in order, numbered without gaps', () => {
    outbox.append(at, live, trace);
    outbox.append(at, ended);
    expect(outbox.read(0, 10).map((r) => r.seq)).toEqual([1, 2, 3]);
    expect(outbox.read(1, 1).map((r) => r.seq)).toEqual([2]);
    expect(outbox.pending).toBe(3);
  });

  it('deletes what was acknowledged and never reuses a number', () => {
    outbox.append(at, live, ended);
    outbox.acknowledge(2);
    expect(outbox.pending).toBe(0);
    outbox.append(at, trace);
    expect(outbox.read(0, 10).map((r) => r.seq)).toEqual([3]);
  });

  it('keeps its id, numbering and reports across a restart', () => {
    const id = outbox.id;
    outbox.append(at, ended);
    outbox.close();
    outbox = new Outbox(path);
    expect(outbox.id).toBe(id);
    expect(outbox.pending).toBe(1);
    outbox.append(at, trace);
    const [first, second] = outbox.read(0, 10).map((report) => report.seq);
    expect(first).toBe(1);
    expect(second).toBeGreaterThan(1);
  });

  it('gives no number twice after losses of power, which take its last commits back', () => {
    const saved = join(folder, 'saved');
    const numbers: number[] = [];
    for (let loss = 0; loss < 3; loss++) {
      // What is on the disk before the reports, which get there too late.
      cpSync(path, `${saved}.db`);
      cpSync(`${path}-wal`, `${saved}.db-wal`);
      outbox.append(at, trace, trace, trace);
      numbers.push(...outbox.read(0, 10).map((report) => report.seq));
      outbox.close();
      path = join(folder, `outbox-${loss}.db`);
      cpSync(`${saved}.db`, path);
      cpSync(`${saved}.db-wal`, `${path}-wal`);
      outbox = new Outbox(path);
      expect(outbox.pending).toBe(0);
    }
    expect(numbers).toHaveLength(9);
    expect(new Set(numbers).size).toBe(9);
  });

  it('closes the calls that were live when the process died, dated by its last heartbeat', () => {
    outbox.append(at, { type: 'call', call: callRecord({ answered_at: '2030-01-01T00:00:02.000Z' }) });
    outbox.heartbeat('2030-01-01T00:00:07.000Z');
    outbox.close();
    outbox = new Outbox(path);
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

  it('does not close a call whose end was stored', () => {
    outbox.append(at, live);
    outbox.append(at, ended);
    expect(outbox.closeAbandonedCalls(at)).toBe(0);
  });

  it('cannot be opened by a second edge', () => {
    expect(() => new Outbox(path)).toThrow(
      /outbox\.db is in use by another edge; give each edge its own data folder/,
    );
  });

  it('accepts call records but no traces when it is full', () => {
    outbox.close();
    outbox = new Outbox(path, { maxReports: 1 });
    outbox.append(at, live, trace, ended);
    expect(outbox.read(0, 10).map((r) => (JSON.parse(r.body) as ReportBody).type)).toEqual(['call', 'call']);
    expect(outbox.dropped).toBe(1);
  });
});
