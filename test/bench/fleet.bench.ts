/**
 * One control plane on PostgreSQL with more and more edges (`fleet/edge.ts`) that report as many calls would
 * (`fleet/call-stream.ts`), until it no longer keeps up.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { type PostgresServer, startPostgres } from '../kit/db/postgres-server.ts';
import { ControlProgram } from '../kit/programs/control-program.ts';
import { residentMiB } from '../kit/programs/processes.ts';
import { cpuMs } from './cpu-time.ts';
import { CallStream } from './fleet/call-stream.ts';
import { serverCpuMs, tableSizes, walBytes } from './fleet/database.ts';
import { type Fleet, noCounts, SimulatedEdge } from './fleet/edge.ts';
import {
  type ConfigRow,
  type FleetResult,
  fleetTables,
  type GrowthRow,
  type LoadRow,
  type Times,
} from './fleet/rows.ts';
import { percentile } from './http-load.ts';

export interface FleetBenchOptions {
  /** Edges and concurrent calls of each step. None follows after a step whose reports are not stored in time. */
  readonly steps?: readonly (readonly [edges: number, concurrent: number])[];
  /** Time in which a step's calls begin. */
  readonly seconds?: number;
  readonly idleSeconds?: number;
  readonly numbers?: number;
  /** Where control writes its profile when it ends. */
  readonly profileFolder?: string;
  /** Told what is being measured. */
  readonly progress?: (what: string) => void;
}

const usualSteps: FleetBenchOptions['steps'] = [
  [10, 1_000],
  [100, 10_000],
  [300, 30_000],
  [1_000, 100_000],
];
/** Configuration changes without calls and with them. */
const changes = 5;
/** After this the outboxes count as growing, as a multiple of the time in which calls began. */
const drainFactor = 2;
/** Longest wait for a configuration. */
const settleMs = 60_000;

export async function runFleetBench(options: FleetBenchOptions = {}): Promise<FleetResult> {
  const { steps = usualSteps, numbers = 1_000 } = options;
  const postgres = await startPostgres({ durable: true });
  try {
    const bench = new FleetBench(postgres, { seconds: 20, idleSeconds: 10, ...options });
    try {
      await bench.setUp(numbers);
      for (const [edges, concurrent] of steps ?? []) if (!(await bench.step(edges, concurrent))) break;
      return { numbers, ...bench.results() };
    } finally {
      await bench.close();
    }
  } finally {
    await postgres.stop();
  }
}

type Settings = FleetBenchOptions & Required<Pick<FleetBenchOptions, 'seconds' | 'idleSeconds'>>;

class FleetBench {
  readonly #postgres: PostgresServer;
  readonly #settings: Settings;
  readonly #control: ControlProgram;
  readonly #edges: SimulatedEdge[] = [];
  readonly #load: LoadRow[] = [];
  readonly #config: ConfigRow[] = [];
  #growth: GrowthRow[] = [];
  #numbers: string[] = [];
  #fleet: Fleet | null = null;
  #onApplied: (edge: SimulatedEdge, version: number) => void = () => undefined;
  #changed = 0;

  constructor(postgres: PostgresServer, settings: Settings) {
    this.#postgres = postgres;
    this.#settings = settings;
    const { profileFolder } = settings;
    if (profileFolder !== undefined) mkdirSync(profileFolder, { recursive: true });
    this.#control = new ControlProgram({
      DATABASE_URL: postgres.url('postgres'),
      RATE_LIMIT_PER_MINUTE: '1000000',
      QUOTAS: 'numbers=100000',
      ...(profileFolder !== undefined && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profileFolder}` }),
    });
  }

  async setUp(numbers: number): Promise<void> {
    this.#settings.progress?.('configuration');
    await this.#control.start();
    const { api } = this.#control;
    this.#numbers = Array.from({ length: numbers }, (_, index) => `+1415${5_000_000 + index}`);
    for (let from = 0; from < numbers; from += attachedAtOnce) {
      await api.ok('POST', '/v1/sip/attach', {
        phone_numbers: this.#numbers.slice(from, from + attachedAtOnce),
        directions: [{ type: 'inbound', options: { allowed_ips: ['198.51.100.0/24'] } }],
      });
    }
    for (const number of this.#numbers) await api.answerWith(number, { prompt });
    const { edge_token: token } = this.#control.keys;
    this.#fleet = {
      url: `${this.#control.url.replace('http', 'ws')}/v1/edge/link`,
      token,
      counts: noCounts(),
      random: Math.random,
      applied: (edge, version) => this.#onApplied(edge, version),
    };
  }

  async close(): Promise<void> {
    for (const edge of this.#edges) edge.close();
    await this.#control.end('SIGTERM');
    await this.#control.remove();
  }

  results(): Pick<FleetResult, 'load' | 'config' | 'growth'> {
    return { load: this.#load, config: this.#config, growth: this.#growth };
  }

  /** @returns whether all reports were stored in time */
  async step(edges: number, concurrent: number): Promise<boolean> {
    const progress = (what: string) =>
      this.#settings.progress?.(`${edges} edges, ${concurrent} concurrent calls: ${what}`);
    progress('connecting');
    await this.#connect(edges);
    progress('without calls');
    const idle = await this.#idle();
    progress('calls');
    const { row, busyChange } = await this.#calls(concurrent);
    this.#load.push(row);
    progress('restart');
    const restart = await this.#restart();
    this.#config.push({ edges, ...idle, busyChange, ...restart });
    return row.drainSeconds !== null;
  }

  get #pid(): number {
    return this.#control.pid ?? 0;
  }

  /** Connects more edges, until there are `count`. */
  async #connect(count: number): Promise<void> {
    const fleet = this.#fleet;
    if (!fleet) throw new Error('setUp comes first');
    const added = Array.from(
      { length: count - this.#edges.length },
      (_, index) => new SimulatedEdge(fleet, `edge-${String(this.#edges.length + index).padStart(5, '0')}`),
    );
    this.#edges.push(...added);
    const all = this.#allApplied(1, added);
    for (const edge of added) edge.connect();
    await all;
  }

  /** @returns when each of the edges confirmed `version` or a later one; those that did not within a minute, then */
  #allApplied(version: number, edges: readonly SimulatedEdge[] = this.#edges): Promise<number[]> {
    const missing = new Set(edges.filter((edge) => edge.version < version));
    const times: number[] = [];
    const { promise, resolve } = Promise.withResolvers<number[]>();
    const done = () => {
      clearTimeout(limit);
      resolve([...times, ...[...missing].map(() => performance.now())]);
    };
    const limit = setTimeout(done, settleMs);
    this.#onApplied = (edge, applied) => {
      if (applied < version || !missing.delete(edge)) return;
      times.push(performance.now());
      if (missing.size === 0) done();
    };
    if (missing.size === 0) done();
    return promise;
  }

  async #idle(): Promise<
    Pick<
      ConfigRow,
      'idleCpu' | 'idlePostgresCpu' | 'residentMiB' | 'idleChange' | 'changeCpuMs' | 'changeBytes'
    >
  > {
    const { idleSeconds } = this.#settings;
    const [cpu, postgresCpu] = [cpuMs(this.#pid), serverCpuMs(this.#postgres.pid)];
    await wait(idleSeconds * 1000);
    const idleCpu = (cpuMs(this.#pid) - cpu) / (idleSeconds * 10);
    const idlePostgresCpu = (serverCpuMs(this.#postgres.pid) - postgresCpu) / (idleSeconds * 10);
    this.#counted();
    const before = cpuMs(this.#pid);
    const idleChange = await this.#changes(0);
    return {
      idleCpu,
      idlePostgresCpu,
      residentMiB: residentMiB(this.#pid),
      idleChange,
      changeCpuMs: (cpuMs(this.#pid) - before) / changes,
      changeBytes: this.#counted().changeBytes / changes / this.#edges.length,
    };
  }

  /** What was counted since the last time. */
  #counted() {
    const counts = this.#fleet?.counts ?? noCounts();
    if (this.#fleet) this.#fleet.counts = noCounts();
    return counts;
  }

  /** Changes numbers one after the other. @param pauseMs before each @returns from request to confirmations */
  async #changes(pauseMs: number): Promise<Times> {
    const times: number[] = [];
    for (let left = changes; left > 0; left--) {
      await wait(pauseMs);
      const number = this.#numbers[this.#changed++ % this.#numbers.length] ?? '';
      const version = (this.#edges[0]?.version ?? 0) + 1;
      const begun = performance.now();
      const all = this.#allApplied(version);
      await this.#control.api.answerWith(number, { prompt: `${prompt} ${this.#changed}` });
      times.push(...(await all).map((at) => at - begun));
    }
    return timesOf(times);
  }

  async #calls(concurrent: number): Promise<{ row: LoadRow; busyChange: Times }> {
    const { seconds } = this.#settings;
    const database = this.#postgres.url('postgres');
    const stream = new CallStream(this.#edges, this.#control.keys.org_id, this.#numbers, concurrent);
    const [tables, wal] = [await tableSizes(database), await walBytes(database)];
    const [cpu, postgresCpu, ownCpu] = [
      cpuMs(this.#pid),
      serverCpuMs(this.#postgres.pid),
      process.cpuUsage(),
    ];
    const begun = performance.now();
    const changing = this.#changes((seconds * 1000) / changes);
    await stream.run(seconds);
    const pending = this.#pending;
    const reported = performance.now();
    const isDrained = await this.#drained(seconds * drainFactor);
    const ended = performance.now();
    const own = process.cpuUsage(ownCpu);
    const { lagsMs, frames, reportBytes } = this.#counted();
    const calls = stream.ended;
    const row: LoadRow = {
      edges: this.#edges.length,
      concurrent,
      callsPerSecond: stream.perSecond,
      calls,
      seconds: (ended - begun) / 1000,
      drainSeconds: isDrained ? (ended - reported) / 1000 : null,
      pending,
      lag: timesOf(lagsMs),
      controlCpu: (cpuMs(this.#pid) - cpu) / 1000,
      postgresCpu: (serverCpuMs(this.#postgres.pid) - postgresCpu) / 1000,
      edgesCpu: (own.user + own.system) / 1e6,
      reportsPerFrame: lagsMs.length / Math.max(1, frames),
      reportBytesPerCall: reportBytes / calls,
      walBytesPerCall: ((await walBytes(database)) - wal) / calls,
    };
    const busyChange = await changing;
    const before = new Map(tables.map((one) => [one.table, one]));
    this.#growth = (await tableSizes(database)).flatMap(({ table, rows, bytes }) => {
      const old = before.get(table);
      const grown = (value: number, than = 0) => ((value - than) / calls) * 1000;
      const row = { table, rows: grown(rows, old?.rows), bytes: grown(bytes, old?.bytes) };
      return row.rows >= 1 ? [row] : [];
    });
    return { row, busyChange };
  }

  get #pending(): number {
    return this.#edges.reduce((sum, { pending }) => sum + pending, 0);
  }

  async #drained(seconds: number): Promise<boolean> {
    const end = performance.now() + seconds * 1000;
    while (this.#pending > 0) {
      if (performance.now() > end) return false;
      await wait(50);
    }
    return true;
  }

  async #restart(): Promise<
    Pick<ConfigRow, 'snapshotBytes' | 'reconnectSeconds' | 'reconnectCpu' | 'reconnectPeakMiB'>
  > {
    this.#counted();
    await this.#control.end('SIGTERM');
    for (const edge of this.#edges) edge.expectConfig();
    const all = this.#allApplied(1);
    await this.#control.start();
    const listening = performance.now();
    const times = await all;
    // Its start included, which edges wait for.
    const reconnectCpu = cpuMs(this.#pid) / 1000;
    const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${this.#pid}/status`, 'utf8'))?.[1];
    const { configBytes, snapshots } = this.#counted();
    return {
      snapshotBytes: configBytes / Math.max(1, snapshots),
      reconnectSeconds: (Math.max(...times) - listening) / 1000,
      reconnectCpu,
      reconnectPeakMiB: Number(peak ?? 0) / 1024,
    };
  }
}

/** Largest list of `POST /v1/sip/attach`. */
const attachedAtOnce = 100;
const prompt = `You answer the telephone of a dental practice. ${'Be brief and friendly. Offer appointments on weekdays from nine to five. '.repeat(8)}`;

function timesOf(unsorted: readonly number[]): Times {
  const times = unsorted.toSorted((a, b) => a - b);
  return { p50: percentile(times, 50), p99: percentile(times, 99), most: times.at(-1) ?? 0 };
}

export const formatFleetBench = fleetTables;

if (import.meta.main) {
  const [seconds, profileFolder] = process.argv.slice(2);
  const result = await runFleetBench({
    ...(seconds !== undefined && { seconds: Number(seconds) }),
    ...(profileFolder !== undefined && { profileFolder }),
    progress: (what) => process.stderr.write(`${new Date().toISOString()} ${what}\n`),
  });
  process.stdout.write(`${formatFleetBench(result)}\n`);
}
