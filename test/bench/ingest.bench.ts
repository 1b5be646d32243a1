/**
 * How fast the control plane stores reports of edges, and how fast it then lists calls. Without a network: frames go to
 * the report store as from the edge link.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listCalls } from '../../control/calls/log-store.ts';
import { openDatabase } from '../../control/db/open.ts';
import type { SequencedReport } from '../../control/edge-link/reports.ts';
import { createReportStore } from '../../control/report-writers.ts';
import { grouped, valueTable } from '../../scripts/bench/table.ts';
import { systemClock } from '../../shared/clock.ts';
import { callsPerFrame, reportsOfFrame, reportsPerCall } from './call-reports.ts';

export interface IngestResult {
  readonly calls: number;
  readonly reports: number;
  readonly callsPerSecond: number;
  readonly reportsPerSecond: number;
  /** CPU seconds of the process per 1,000 calls. */
  readonly cpuSecondsPerThousandCalls: number;
  /** ms for a page of 50, newest first, with all calls stored: median and worst of 200. */
  readonly listMedianMs: number;
  readonly listWorstMs: number;
  readonly databaseBytes: number;
}

export async function runIngestBench(options: { readonly calls?: number } = {}): Promise<IngestResult> {
  const calls = options.calls ?? 10_000;
  const folder = mkdtempSync(join(tmpdir(), 'ingest-'));
  const file = join(folder, 'control.db');
  const database = await openDatabase(file);
  try {
    const store = createReportStore(database, systemClock);
    const frames = Array.from({ length: Math.ceil(calls / callsPerFrame) }, (_, index) =>
      reportsOfFrame('org', index, calls),
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

if (import.meta.main) console.log(await runIngestBench());

export function formatIngestBench(result: IngestResult): string {
  return valueTable([
    ['calls', grouped(result.calls)],
    ['reports', grouped(result.reports)],
    ['calls, calls/s', grouped(result.callsPerSecond)],
    ['reports, reports/s', grouped(result.reportsPerSecond)],
    ['CPU, s per 1,000 calls', grouped(result.cpuSecondsPerThousandCalls)],
    ['list, median, ms', grouped(result.listMedianMs)],
    ['list, worst, ms', grouped(result.listWorstMs)],
    ['database, octets', grouped(result.databaseBytes)],
  ]);
}
