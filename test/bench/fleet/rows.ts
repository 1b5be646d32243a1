/** Results of the fleet benchmark, and their tables. */
import { type Column, grouped, markdownTable } from '../../../scripts/bench/table.ts';
import { callSeconds, linesPerCall, reportsPerCall } from './call-stream.ts';

/** Times, ms. */
export interface Times {
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
}

/** Calls of one size of the fleet. */
export interface LoadRow {
  readonly edges: number;
  readonly concurrent: number;
  readonly callsPerSecond: number;
  readonly calls: number;
  /** From the first report to the last acknowledgement, s. */
  readonly seconds: number;
  /** From the last report to the last acknowledgement, s; null: given up. */
  readonly drainSeconds: number | null;
  /** Reports in all outboxes when the last call had ended. */
  readonly pending: number;
  readonly lag: Times;
  /** CPU, s. */
  readonly controlCpu: number;
  readonly postgresCpu: number;
  readonly edgesCpu: number;
  readonly reportsPerFrame: number;
  readonly reportBytesPerCall: number;
  readonly walBytesPerCall: number;
}

/** Configuration and connections of one size of the fleet. */
export interface ConfigRow {
  readonly edges: number;
  /** CPU of control with all edges connected and no calls, ms a second. */
  readonly idleCpu: number;
  readonly idlePostgresCpu: number;
  readonly residentMiB: number;
  /** From the request to each edge's confirmation, without calls and with them. */
  readonly idleChange: Times;
  readonly busyChange: Times;
  readonly changeCpuMs: number;
  readonly changeBytes: number;
  readonly snapshotBytes: number;
  /** After a restart of control, from its first answer to the configuration of the last edge. */
  readonly reconnectSeconds: number;
  readonly reconnectCpu: number;
  readonly reconnectPeakMiB: number;
}

/** What 1,000 calls add to a table. */
export interface GrowthRow {
  readonly table: string;
  readonly rows: number;
  readonly bytes: number;
}

export interface FleetResult {
  readonly numbers: number;
  readonly load: readonly LoadRow[];
  readonly config: readonly ConfigRow[];
  readonly growth: readonly GrowthRow[];
}

/** CPU seconds per second of the offered calls. */
const cores = (row: LoadRow, cpu: number) => ((cpu / row.calls) * row.callsPerSecond).toFixed(2);
const ms = (value: number) => grouped(Math.round(value));

const loadColumns: readonly Column<LoadRow>[] = [
  ['edges, concurrent calls', ({ edges, concurrent }) => `${grouped(edges)}, ${grouped(concurrent)}`],
  ['offered, calls/s', (row) => row.callsPerSecond.toFixed(1)],
  ['stored, calls/s', (row) => (row.calls / row.seconds).toFixed(1)],
  ['stored after the last report, s', ({ drainSeconds }) => drainSeconds?.toFixed(1) ?? 'given up'],
  ['waiting at the last report, reports', ({ pending }) => grouped(pending)],
  ['acknowledged after p50, ms', ({ lag }) => ms(lag.p50)],
  ['p99, ms', ({ lag }) => ms(lag.p99)],
  ['control, ms CPU/call', (row) => ((row.controlCpu / row.calls) * 1000).toFixed(2)],
  ['PostgreSQL, ms CPU/call', (row) => ((row.postgresCpu / row.calls) * 1000).toFixed(2)],
  ['control for the offered, cores', (row) => cores(row, row.controlCpu)],
  ['PostgreSQL for the offered, cores', (row) => cores(row, row.postgresCpu)],
  ['edges, ms CPU/call', (row) => ((row.edgesCpu / row.calls) * 1000).toFixed(2)],
  ['reports per frame', (row) => row.reportsPerFrame.toFixed(1)],
  ['from edges, KB/call', (row) => (row.reportBytesPerCall / 1000).toFixed(1)],
  ['write-ahead log, KB/call', (row) => (row.walBytesPerCall / 1000).toFixed(1)],
];

const three = ({ p50, p99, most }: Times) => `${ms(p50)} / ${ms(p99)} / ${ms(most)}`;

const configColumns: readonly Column<ConfigRow>[] = [
  ['edges', ({ edges }) => grouped(edges)],
  ['control without calls, % of a core', (row) => row.idleCpu.toFixed(1)],
  ['PostgreSQL without calls, % of a core', (row) => row.idlePostgresCpu.toFixed(1)],
  ['control, MiB', (row) => row.residentMiB.toFixed(0)],
  ['change confirmed without calls, p50 / p99 / last, ms', ({ idleChange }) => three(idleChange)],
  ['with calls, p50 / p99 / last, ms', ({ busyChange }) => three(busyChange)],
  ['control, ms CPU per change', (row) => ms(row.changeCpuMs)],
  ['change, octets per edge', (row) => grouped(Math.round(row.changeBytes))],
  ['whole configuration, KB per edge', (row) => grouped(Math.round(row.snapshotBytes / 1000))],
  ['all connected again after a restart, s', (row) => row.reconnectSeconds.toFixed(1)],
  ['control until then, s CPU', (row) => row.reconnectCpu.toFixed(1)],
  ['control then, peak MiB', (row) => row.reconnectPeakMiB.toFixed(0)],
];

const growthColumns: readonly Column<GrowthRow>[] = [
  ['table, per 1,000 calls', ({ table }) => `\`${table}\``],
  ['rows', ({ rows }) => grouped(Math.round(rows))],
  ['with indexes, MB', ({ bytes }) => (bytes / 1e6).toFixed(2)],
];

export function fleetTables({ numbers, load, config, growth }: FleetResult): string {
  const sum = (of: (row: GrowthRow) => number) => growth.reduce((total, row) => total + of(row), 0);
  const all = { table: 'all', rows: sum(({ rows }) => rows), bytes: sum(({ bytes }) => bytes) };
  return [
    `${grouped(numbers)} numbers with an agent each. A call takes ${callSeconds} s on average and makes ${reportsPerCall} reports, ${linesPerCall} of them transcript lines.`,
    markdownTable(loadColumns, load),
    markdownTable(configColumns, config),
    markdownTable(growthColumns, [...growth, all]),
  ].join('\n\n');
}
