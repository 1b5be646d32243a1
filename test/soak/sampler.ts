/** Reads what the programs use: from the kernel, from /metrics, from the database and from the disk. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { descriptors, residentMiB } from '../kit/programs/processes.ts';
import { boundOfDatabase, boundOfRecordings, boundOfTable } from './bounds.ts';
import type { StoredData } from './database.ts';
import { type Deployment, type Role, roles } from './deployment.ts';
import { Series, type SeriesFacts } from './series.ts';
import type { Kind } from './verdict.ts';

/** Rows are counted with every fifth sample: counting reads whole tables. */
const rowsEvery = 5;

/** Metrics that are followed, by Prometheus name. */
const followed: readonly (readonly [metric: string, role: Role, name: string, kind: Kind])[] = [
  ['trunkline_control_nodejs_heap_size_used_bytes', 'control', 'heap', 'heap'],
  ['trunkline_control_nodejs_external_memory_bytes', 'control', 'memory outside the heap', 'heap'],
  ['trunkline_control_nodejs_active_resources{type="Timeout"}', 'control', 'timers', 'activity'],
  ['trunkline_control_nodejs_active_resources_total', 'control', 'timers, sockets and requests', 'activity'],
  ['trunkline_control_test_runs', 'control', 'test runs', 'activity'],
  ['trunkline_edge_nodejs_heap_size_used_bytes', 'edge', 'heap', 'heap'],
  ['trunkline_edge_nodejs_external_memory_bytes', 'edge', 'memory outside the heap', 'heap'],
  ['trunkline_edge_nodejs_active_timers', 'edge', 'timers', 'activity'],
  ['trunkline_edge_nodejs_active_resources_total', 'edge', 'timers, sockets and requests', 'activity'],
  ['trunkline_edge_calls', 'edge', 'calls', 'activity'],
  ['trunkline_edge_dialogs', 'edge', 'dialogs', 'activity'],
  ['trunkline_edge_media_legs', 'edge', 'media legs', 'activity'],
  ['trunkline_edge_rtp_ports_in_use', 'edge', 'RTP ports', 'activity'],
  ['trunkline_edge_trace_dialogs', 'edge', 'traced dialogs', 'activity'],
  ['trunkline_edge_outbox_pending', 'edge', 'reports that wait', 'activity'],
  ['trunkline_engine_nodejs_heap_size_used_bytes', 'engine', 'heap', 'heap'],
  ['trunkline_engine_nodejs_external_memory_bytes', 'engine', 'memory outside the heap', 'heap'],
  ['trunkline_engine_nodejs_active_timers', 'engine', 'timers', 'activity'],
  ['trunkline_engine_nodejs_active_resources_total', 'engine', 'timers, sockets and requests', 'activity'],
  ['trunkline_engine_dialogs', 'engine', 'dialogs', 'activity'],
  ['trunkline_engine_client_transactions', 'engine', 'client transactions', 'activity'],
  ['trunkline_engine_server_transactions', 'engine', 'server transactions', 'activity'],
];

/** Must be zero when no call is left. Not traced dialogs: those of probes are kept for 40 s. */
export const zeroWhenIdle = [
  'trunkline_edge_calls',
  'trunkline_edge_dialogs',
  'trunkline_edge_media_legs',
  'trunkline_edge_rtp_ports_in_use',
  'trunkline_edge_outbox_pending',
  'trunkline_engine_dialogs',
  'trunkline_engine_client_transactions',
  'trunkline_engine_server_transactions',
  'trunkline_control_test_runs',
] as const;

interface Process {
  pids: string;
  segment: number;
  since: number;
}

export class Sampler {
  readonly #deployment: Deployment;
  readonly #data: StoredData;
  readonly #warmUpMs: number;
  readonly #series = new Map<string, Series>();
  readonly #processes = new Map<Role, Process>();
  #samples = 0;
  /** Samples that could not be taken completely, because a program was restarting. */
  incomplete = 0;

  /** @param warmUpMs after a start, in which caches fill and code is compiled */
  constructor(deployment: Deployment, data: StoredData, warmUpMs: number) {
    this.#deployment = deployment;
    this.#data = data;
    this.#warmUpMs = warmUpMs;
  }

  get series(): readonly Series[] {
    return [...this.#series.values()];
  }

  get samples(): number {
    return this.#samples;
  }

  /** @param at ms since the beginning of the load @param calls made so far */
  async take(at: number, calls: number): Promise<void> {
    this.#samples++;
    const add = (facts: SeriesFacts, value: number, role: Role | null = null) => {
      const process = role === null ? undefined : this.#processes.get(role);
      const since = process?.since ?? 0;
      const sample = {
        at,
        calls,
        value,
        segment: process?.segment ?? 0,
        settled: at - since >= this.#warmUpMs,
      };
      this.#seriesOf(facts).add(sample);
    };
    try {
      this.#processSamples(at, add);
      this.#diskSamples(add);
      await this.#metricSamples(add);
      if (this.#samples % rowsEvery === 0) await this.#storedSamples(add);
    } catch {
      // A process that has just ended, or control that does not answer.
      this.incomplete++;
    }
  }

  /** Values of /metrics by name; labels of the edge left out. */
  async metrics(): Promise<Map<string, number>> {
    const { bootstrap, url } = this.#deployment;
    const response = await fetch(`${url}/metrics`, {
      headers: { authorization: `Bearer ${bootstrap.operator_key}` },
      signal: AbortSignal.timeout(20_000),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`/metrics: ${response.status}`);
    return readMetrics(text);
  }

  #seriesOf(facts: SeriesFacts): Series {
    const key = `${facts.group}: ${facts.name}`;
    const known = this.#series.get(key) ?? new Series(facts);
    this.#series.set(key, known);
    return known;
  }

  #processSamples(at: number, add: Add): void {
    const running = this.#deployment.processes();
    for (const role of roles) {
      const pids = running[role];
      const name = pids.join(' ');
      const known = this.#processes.get(role);
      if (known?.pids !== name)
        this.#processes.set(role, { pids: name, segment: (known?.segment ?? -1) + 1, since: known ? at : 0 });
      if (pids.length === 0) continue;
      const memory = pids.reduce((sum, pid) => sum + residentMiB(pid) * 1024 * 1024, 0);
      const open = pids.reduce((sum, pid) => sum + descriptors(pid), 0);
      const facts = { group: role, bound: null };
      add({ ...facts, name: 'resident memory', unit: 'octets', kind: 'memory' }, memory, role);
      add({ ...facts, name: 'descriptors', unit: 'count', kind: 'descriptors' }, open, role);
    }
    const own = {
      group: 'soak',
      name: 'resident memory',
      unit: 'octets',
      kind: 'own',
      bound: null,
    } as const;
    add(own, process.memoryUsage().rss);
    const { first, count } = this.#deployment.rtp;
    const ports = {
      group: 'edge',
      name: 'UDP ports bound',
      unit: 'count',
      kind: 'activity',
      bound: null,
    } as const;
    add(ports, boundUdpPorts(first, count).length, 'edge');
  }

  async #metricSamples(add: Add): Promise<void> {
    const metrics = await this.metrics();
    for (const [metric, role, name, kind] of followed) {
      const value = metrics.get(metric);
      const unit = kind === 'heap' ? 'octets' : 'count';
      if (value !== undefined) add({ group: role, name, unit, kind, bound: null }, value, role);
    }
  }

  async #storedSamples(add: Add): Promise<void> {
    const { rows, bytes } = await this.#data.read();
    for (const [table, count] of rows) {
      const facts = { group: 'rows', name: table, unit: 'count', kind: 'rows' } as const;
      add({ ...facts, bound: boundOfTable(table) }, count);
    }
    const database = { group: 'disk', name: 'database', unit: 'octets', kind: 'disk' } as const;
    if (bytes !== null) add({ ...database, bound: boundOfDatabase }, bytes);
  }

  #diskSamples(add: Add): void {
    const { folder } = this.#deployment;
    const files = readdirSync(folder).map((name) => ({ name, bytes: sizeOf(join(folder, name)) }));
    const sum = (prefix: string) =>
      files.filter(({ name }) => name.startsWith(prefix)).reduce((all, { bytes }) => all + bytes, 0);
    const facts = { group: 'disk', unit: 'octets', kind: 'disk' } as const;
    if (sum('control.db') > 0) add({ ...facts, name: 'database', bound: boundOfDatabase }, sum('control.db'));
    add({ ...facts, name: "edge's outbox", bound: null }, sum('outbox'));
    // Filled by the first two starts of each version; Node keeps one file per module in it.
    add({ ...facts, name: 'compiled code', bound: 'one file per module' }, sum('compile-cache'));
    add({ ...facts, name: 'recordings', bound: boundOfRecordings }, sum('recordings'));
    const others = sum('') - sum('control.db') - sum('outbox') - sum('compile-cache') - sum('recordings');
    add({ ...facts, name: 'other files', bound: null }, others);
  }
}

type Add = (facts: SeriesFacts, value: number, role?: Role | null) => void;

/** A file, or a folder's files. */
function sizeOf(path: string): number {
  try {
    const stat = statSync(path);
    if (!stat.isDirectory()) return stat.size;
    return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
  } catch {
    // It has just been deleted.
    return 0;
  }
}

/** UDP ports of a range that are bound, as the kernel lists them. */
export function boundUdpPorts(first: number, count: number): number[] {
  const ports = ['udp', 'udp6'].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => Number.parseInt(/^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) /.exec(line)?.[1] ?? '0', 16)),
  );
  return [...new Set(ports)].filter((port) => port >= first && port < first + count);
}

/** The text format of Prometheus. Of several edges the last counts: the soak has one. */
export function readMetrics(text: string): Map<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = /^([a-zA-Z_:][\w:]*)(\{[^}]*\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) continue;
    const own = labels.replace(/edge="[^"]*",?/, '').replace('{}', '');
    values.set(`${name}${own}`, Number(value));
  }
  return values;
}
