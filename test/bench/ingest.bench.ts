/**
 * How fast the control plane takes the reports of edges, and how fast it then lists calls. Measured without a
 * network: frames go to the report store as the edge link hands them on.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listCalls } from '../../control/calls/store.ts';
import { openDatabase } from '../../control/db/open.ts';
import { ReportStore, type SequencedReport } from '../../control/edges/reports.ts';
import { callRecord } from '../../control/testing/edge-client.ts';
import { systemClock } from '../../shared/clock.ts';

export interface IngestResult {
  readonly calls: number;
  readonly reports: number;
  readonly callsPerSecond: number;
  readonly reportsPerSecond: number;
  /** CPU seconds of the process per 1,000 calls. */
  readonly cpuSecondsPerThousandCalls: number;
  /** ms of a page of 50, newest first, with all calls stored: median and worst of 200. */
  readonly listMedianMs: number;
  readonly listWorstMs: number;
  readonly databaseBytes: number;
}

/** Reports of one call as an edge sends them: three states, one transcript, a trace of 8 messages in two parts. */
const reportsPerCall = 6;
const callsPerFrame = 50;

export async function runIngestBench(options: { readonly calls?: number } = {}): Promise<IngestResult> {
  const calls = options.calls ?? 10_000;
  const folder = mkdtempSync(join(tmpdir(), 'ingest-'));
  const file = join(folder, 'control.db');
  const database = await openDatabase(file);
  try {
    const store = new ReportStore(database, systemClock);
    const frames = Array.from({ length: Math.ceil(calls / callsPerFrame) }, (_, index) =>
      frameText(index, calls),
    );
    const cpu = process.cpuUsage();
    const begun = performance.now();
    for (const text of frames) {
      const reports: SequencedReport[] = JSON.parse(text).reports;
      const { rejected } = await store.store({ edgeId: 'edge', outboxId: 'outbox' }, reports);
      if (rejected.length > 0) throw new Error(`A report of the benchmark was rejected: ${rejected[0]}`);
    }
    const seconds = (performance.now() - begun) / 1000;
    const used = process.cpuUsage(cpu);
    const times: number[] = [];
    for (let round = 0; round < 200; round++) {
      const from = performance.now();
      await listCalls(database.db, 'org', round % 2 === 0 ? {} : { outcome: 'completed' }, 50);
      times.push(performance.now() - from);
    }
    times.sort((a, b) => a - b);
    return {
      calls,
      reports: calls * reportsPerCall,
      callsPerSecond: Math.round(calls / seconds),
      reportsPerSecond: Math.round((calls * reportsPerCall) / seconds),
      cpuSecondsPerThousandCalls: (used.user + used.system) / 1e6 / (calls / 1000),
      listMedianMs: times[100] ?? 0,
      listWorstMs: times.at(-1) ?? 0,
      databaseBytes: statSync(file).size,
    };
  } finally {
    await database.close();
    rmSync(folder, { recursive: true });
  }
}

function frameText(frame: number, calls: number): string {
  const bodies: object[] = [];
  for (let index = frame * callsPerFrame; index < Math.min(calls, (frame + 1) * callsPerFrame); index++) {
    bodies.push(...bodiesOfCall(index));
  }
  const first = frame * callsPerFrame * reportsPerCall + 1;
  const reports = bodies.map((body, index) => ({ seq: first + index, at: new Date().toISOString(), body }));
  return JSON.stringify({ type: 'report', reports });
}

function bodiesOfCall(index: number): object[] {
  const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  const started_at = new Date(Date.UTC(2030, 0, 1) + index * 10).toISOString();
  const call = callRecord('org', { id, sip_call_id: `${id}@pbx.example.com`, started_at });
  const open = { ...call, ended_at: null, termination: null, hangup_by: null, media: null };
  const message = {
    at: started_at,
    direction: 'received',
    local: '203.0.113.20:5061',
    remote: '198.51.100.9:40312',
    transport: 'tls',
    start_line: 'INVITE sip:+14155550100@edge.example.com SIP/2.0',
    raw: `INVITE sip:+14155550100@edge.example.com SIP/2.0\r\n${'X-Header: some value of a usual length\r\n'.repeat(20)}\r\n`,
  };
  const entry = {
    id,
    at: started_at,
    user: 'assistant',
    text: 'Welcome. Press 1 for sales.',
    node_id: 'a',
    node_name: 'A',
  };
  const trace = { type: 'trace', call_id: id, messages: Array(4).fill(message), truncated: false };
  return [
    { type: 'call', call: { ...open, answered_at: null, status: 'ringing', sip_code: null } },
    { type: 'call', call: { ...open, status: 'in-progress', sip_code: null } },
    { type: 'transcript', call_id: id, entries: [entry, entry] },
    trace,
    { type: 'call', call },
    trace,
  ];
}

if (import.meta.main) console.log(await runIngestBench());
