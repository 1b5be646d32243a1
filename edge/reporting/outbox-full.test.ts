/** An outbox on a full disk, simulated by SQLite's own size limit, which works everywhere. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { callRecord } from '../../test/kit/fakes/call-record.ts';
import { Outbox, type OutboxOptions, openAlone } from './outbox.ts';

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
  let folder: string;
  let path: string;
  let connection: Database;
  let outbox: Outbox;

  const open = (options: OutboxOptions = {}): Outbox =>
    new Outbox(path, {
      ...options,
      open: (file) => {
        connection = openAlone(file);
        return connection;
      },
    });
  const pages = (most: number) => connection.pragma(`max_page_count = ${most}`);
  const fill = () => pages(1);
  const makeRoom = () => pages(1_000_000);
  const bodies = () => outbox.read(0, 100_000).map((report) => JSON.parse(report.body) as ReportBody);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'outbox-'));
    path = join(folder, 'outbox.db');
    outbox = open();
  });

  afterEach(() => {
    outbox.close();
    rmSync(folder, { recursive: true });
  });

  it('holds what it cannot write, and writes it in order when there is room', () => {
    const all = Array.from({ length: 450 }, (_, n) => ended(`call-${n}`));
    all.forEach((body, n) => {
      if (n === 100) fill();
      outbox.append(at, body);
    });
    expect(outbox.fault).toBe('full');
    expect(outbox.held.reports).toBeGreaterThan(300);
    expect(outbox.pending).toBe(450);
    expect(outbox.settle()).toBe(false);
    makeRoom();
    expect(outbox.settle()).toBe(true);
    expect(outbox.fault).toBeNull();
    expect(outbox.held).toEqual({ reports: 0, bytes: 0 });
    expect(bodies()).toEqual(all);
    expect(outbox.read(0, 1_000).map((report) => report.seq)).toEqual(all.map((_, n) => n + 1));
    expect(outbox.dropped).toBe(0);
  });

  it('accepts acknowledgements on a full disk, and never reuses a number', () => {
    outbox.append(at, live('a'), live('b'), live('c'));
    fill();
    for (let n = 0; outbox.fault === null && n < 100; n += 1) outbox.append(at, transcript('a'));
    const stored = outbox.read(0, 1_000).map((report) => report.seq);
    const held = outbox.held.reports;
    outbox.acknowledge(stored.at(-1) ?? 0);
    expect(outbox.pending).toBe(held);
    makeRoom();
    expect(outbox.settle()).toBe(true);
    expect(outbox.read(stored.at(-1) ?? 0, 1_000).map((report) => report.seq)).toEqual(
      Array.from({ length: held }, (_, n) => (stored.at(-1) ?? 0) + 1 + n),
    );
    expect(outbox.pending).toBe(held);
  });

  it('notices a full disk by its heartbeat while nothing is reported', () => {
    connection.pragma('query_only = ON');
    outbox.heartbeat(at);
    expect(outbox.fault).toBe('read_only');
    connection.pragma('query_only = OFF');
    expect(outbox.settle()).toBe(true);
  });

  it('counts an acknowledgement once, however often its deletion fails', () => {
    outbox.append(at, live('a'), live('b'), live('c'));
    connection.pragma('query_only = ON');
    outbox.acknowledge(1);
    outbox.acknowledge(2);
    expect(outbox.pending).toBe(1);
    outbox.append(at, ended('a'));
    expect(outbox.pending).toBe(2);
    connection.pragma('query_only = OFF');
    expect(outbox.settle()).toBe(true);
    expect(outbox.pending).toBe(2);
    expect(outbox.read(0, 10).map((report) => report.seq)).toEqual([3, 4]);
  });

  it('rejects new calls while there is still room for live ones', () => {
    outbox.close();
    outbox = open({ heldBytes: 100_000 });
    outbox.append(at, live('up'));
    connection.pragma('query_only = ON');
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
    connection.pragma('query_only = OFF');
    outbox.settle();
    expect(bodies().at(-1)).toEqual(ended('up'));
    expect(outbox.refuses).toBe(false);
  });

  it('loses held reports when the process is killed, and closes the calls whose end was held', () => {
    outbox.append(at, live('up'));
    connection.pragma('query_only = ON');
    outbox.append(at, ended('up'));
    outbox.append(at, live('new'), ended('new'));
    // As after a kill: the file is unchanged and lacks what was in memory.
    outbox.close();
    outbox = open();
    expect(outbox.closeAbandonedCalls(at)).toBe(1);
    expect(bodies()).toMatchObject([
      { type: 'call', call: { id: 'up', ended_at: null } },
      { type: 'call', call: { id: 'up', termination: 'edge_restarted' } },
    ]);
  });

  it("throws errors that are not the disk's", () => {
    connection.exec('DROP TABLE reports');
    expect(() => outbox.append(at, live('a'))).toThrow(/no such table/);
    connection.exec(
      'CREATE TABLE reports (seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, body TEXT NOT NULL) STRICT',
    );
  });

  it('delivers every report once and in order, whatever the disk does in the meantime', () => {
    const seed = Number(process.env.SEED ?? 20_300_101);
    const step = fc.oneof(
      fc.record({ kind: fc.constant('report' as const), size: fc.integer({ min: 0, max: 9_000 }) }),
      fc.record({ kind: fc.constant('take' as const), size: fc.integer({ min: 1, max: 20 }) }),
      fc.constant({ kind: 'full' as const, size: 0 }),
      fc.constant({ kind: 'broken' as const, size: 0 }),
      fc.constant({ kind: 'room' as const, size: 0 }),
      fc.constant({ kind: 'settle' as const, size: 0 }),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 80 }), (steps) => {
        outbox.close();
        rmSync(folder, { recursive: true });
        folder = mkdtempSync(join(tmpdir(), 'outbox-'));
        path = join(folder, 'outbox.db');
        outbox = open();
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
          connection.pragma('query_only = OFF');
          makeRoom();
        };
        for (const { kind, size } of steps) {
          if (kind === 'report') {
            const body = transcript(`call-${sent.length}`, 'x'.repeat(size));
            sent.push(JSON.stringify(body));
            outbox.append(at, body);
          } else if (kind === 'take') take(size);
          else if (kind === 'full') fill();
          else if (kind === 'broken') connection.pragma('query_only = ON');
          else if (kind === 'room') room();
          else outbox.settle();
          expect(outbox.pending).toBe(sent.length - got.length);
        }
        room();
        outbox.settle();
        take(1_000);
        expect(got).toEqual(sent);
        expect(outbox.pending).toBe(0);
      }),
      { seed, numRuns: 100 },
    );
  });
});
