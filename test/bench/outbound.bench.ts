/**
 * Outbound calls: how many per second the edge sets up and ends over one TLS connection (engine, signaling, call logic
 * and failover are real, media has no packets), with SIPp calling the same SIPp as the baseline; and how long a caller
 * waits for the second endpoint when the first does not respond.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { newId } from '#shared/ids.ts';
import type { Trunks } from '../../edge/trunks/trunks.ts';
import { type Column, markdownTable } from '../../scripts/bench/table.ts';
import { sippProgram } from '../../scripts/setup/sipp.ts';
import { TestEdge } from '../kit/edge/signaling.ts';
import type { TestKeyPair } from '../kit/fakes/certificates.ts';
import { echoAgent, FakeAgents } from '../kit/fakes/fake-agents.ts';
import { FakeMedia } from '../kit/fakes/fake-media.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';
import { loopbackTrunks } from '../sipp/trunk-edge.ts';
import { cpuMs } from './cpu-time.ts';

const number = '+14155550100';
const connectTimeoutMs = 4_000;

interface LoadRow {
  readonly caller: string;
  readonly asked: number;
  readonly done: number;
  readonly calls: number;
  readonly failed: number;
  /** ms of CPU time per call, all processes of the caller; null where it was not measured */
  readonly cpuMs: number | null;
}

interface FailoverRow {
  readonly primary: string;
  /** From the order to the answer of the second endpoint, ms. */
  readonly answeredAfterMs: number;
}

export interface OutboundBenchResult {
  readonly loads: readonly LoadRow[];
  readonly failover: readonly FailoverRow[];
}

/** @throws Error when a program does not start */
export async function runOutboundBench(): Promise<OutboundBenchResult> {
  const bench = await Bench.start();
  try {
    const loads = [await bench.floor(300, 10), await bench.load(100, 10), await bench.load(300, 10)];
    return { loads, failover: await bench.failover() };
  } finally {
    await bench.stop();
  }
}

class Bench {
  readonly #folder = mkdtempSync(join(tmpdir(), 'trunkline-bench-'));
  readonly #edge: TestEdge;
  readonly #trunks: Trunks;

  private constructor(edge: TestEdge, trunks: Trunks) {
    this.#edge = edge;
    this.#trunks = trunks;
  }

  static async start(): Promise<Bench> {
    const trunks = loopbackTrunks();
    const edge = await TestEdge.start({
      media: new FakeMedia(false),
      agents: new FakeAgents(false),
      outbound: { routes: trunks, ringTimeoutMs: 30_000 },
      maxCalls: 100_000,
      keepRecords: false,
    });
    return new Bench(edge, trunks);
  }

  async stop(): Promise<void> {
    await this.#edge.stop();
    this.#trunks.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** SIPp calls SIPp. */
  async floor(rate: number, seconds: number): Promise<LoadRow> {
    const port = await freeTcpPort();
    const callee = await this.#callee(port, this.#edge.certificate);
    const statistics = join(this.#folder, 'floor.csv');
    const ca = this.#file('ca.crt', this.#edge.authority.cert);
    const startedAt = performance.now();
    const caller = spawn(
      sippProgram(),
      [
        ...[`127.0.0.1:${port}`, '-sf', join(import.meta.dirname, 'uac-load.xml'), '-s', number],
        ...['-t', 'l1', '-tls_ca', ca, '-i', '127.0.0.1', '-nostdin', '-r', String(rate)],
        ...['-m', String(rate * seconds), '-l', '20000', '-timeout', '120s'],
        ...['-trace_stat', '-stf', statistics, '-fd', '1'],
      ],
      { cwd: this.#folder, stdio: 'ignore' },
    );
    let cpu = 0;
    const watch = setInterval(() => {
      cpu = cpuMs(caller.pid) || cpu;
    }, 100);
    await once(caller, 'close');
    clearInterval(watch);
    const took = (performance.now() - startedAt) / 1000;
    await end(callee);
    const { succeeded, failed } = sippTotals(statistics);
    return {
      caller: 'SIPp (baseline)',
      asked: rate,
      done: succeeded / took,
      calls: succeeded,
      failed,
      cpuMs: cpu / Math.max(1, succeeded),
    };
  }

  /** Places calls at an even rate, ends each when it is answered. */
  async load(rate: number, seconds: number): Promise<LoadRow> {
    const port = await freeTcpPort();
    const callee = await this.#callee(port, this.#edge.certificate);
    this.#configure([port]);
    const total = rate * seconds;
    let succeeded = 0;
    let failed = 0;
    const all = Promise.withResolvers<void>();
    this.#edge.onRecord = (record) => {
      if (record.ended_at === null) {
        if (record.answered_at !== null) this.#edge.calls.stop(record.id);
        return;
      }
      if (record.status === 'completed') succeeded++;
      else failed++;
      if (succeeded + failed === total) all.resolve();
    };
    const before = process.cpuUsage();
    const engineBefore = cpuMs(this.#edge.enginePid);
    const startedAt = performance.now();
    let placed = 0;
    const pace = setInterval(() => {
      const due = Math.min(total, Math.ceil(((performance.now() - startedAt) / 1000) * rate));
      for (; placed < due; placed++) this.#place();
      if (placed === total) clearInterval(pace);
    }, 5);
    await all.promise;
    const took = (performance.now() - startedAt) / 1000;
    const own = process.cpuUsage(before);
    const engine = cpuMs(this.#edge.enginePid) - engineBefore;
    this.#edge.onRecord = () => {};
    await end(callee);
    return {
      caller: 'the edge',
      asked: rate,
      done: succeeded / took,
      calls: succeeded,
      failed,
      cpuMs: ((own.user + own.system) / 1000 + engine) / Math.max(1, succeeded),
    };
  }

  async failover(): Promise<FailoverRow[]> {
    const second = await freeTcpPort();
    const callee = await this.#callee(second, this.#edge.certificate);
    const silent = await listenSilently();
    const rows: FailoverRow[] = [];
    try {
      const refused = await freeTcpPort();
      this.#configure([refused, second]);
      rows.push({ primary: 'refuses connections, first call', answeredAfterMs: await this.#answered() });
      rows.push({
        primary: 'the same, known from the previous call',
        answeredAfterMs: await this.#answered(),
      });
      this.#configure([silent.port, second]);
      const what = `accepts TCP but no TLS handshake, limit ${connectTimeoutMs / 1000} s`;
      rows.push({ primary: `${what}, first call`, answeredAfterMs: await this.#answered() });
      rows.push({
        primary: 'the same, known from the previous call',
        answeredAfterMs: await this.#answered(),
      });
      return rows;
    } finally {
      await silent.close();
      await end(callee);
    }
  }

  /** ms from the order to the answer of one call. */
  async #answered(): Promise<number> {
    const over = Promise.withResolvers<number>();
    const startedAt = performance.now();
    let answeredAfter = 0;
    this.#edge.onRecord = (record) => {
      if (record.ended_at !== null) over.resolve(answeredAfter);
      else if (record.answered_at !== null) {
        answeredAfter = performance.now() - startedAt;
        this.#edge.calls.stop(record.id);
      }
    };
    this.#place();
    return over.promise;
  }

  #place(): void {
    this.#edge.calls.place({
      callId: newId(),
      orgId: 'org',
      from: number,
      to: '+14155550123',
      agent: echoAgent,
      variables: {},
    });
  }

  #configure(ports: readonly number[]): void {
    const trunk: OutboundTrunk = {
      id: newId(),
      priority: 1,
      endpoints: ports.map((port, priority) => ({ host: '127.0.0.1', port, priority })),
      triggers: ['unreachable', 'auth_failure', 'timeout'],
      failback: 'auto',
      codecs: ['PCMU'],
      transcode: false,
      credentials: null,
      headers: [],
    };
    this.#trunks.configure([{ number, outbound: [trunk] }]);
  }

  async #callee(port: number, pair: TestKeyPair): Promise<ChildProcess> {
    const callee = spawn(
      sippProgram(),
      [
        ...[
          '-sf',
          join(import.meta.dirname, 'uas-load.xml'),
          '-t',
          'l1',
          '-i',
          '127.0.0.1',
          '-p',
          String(port),
        ],
        ...['-tls_cert', this.#file('callee.crt', pair.cert), '-tls_key', this.#file('callee.key', pair.key)],
        ...['-bind_local', '-nostdin', '-l', '20000'],
      ],
      { cwd: this.#folder, stdio: 'ignore' },
    );
    const listening = new RegExp(`:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A `);
    await eventually(`SIPp on ${port}`, () => listening.test(readFileSync('/proc/net/tcp', 'utf8')) || null);
    return callee;
  }

  #file(name: string, text: string): string {
    const path = join(this.#folder, name);
    writeFileSync(path, text);
    return path;
  }
}

async function listenSilently(): Promise<{ port: number; close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port to listen on');
  return {
    port: address.port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

async function end(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null) return;
  program.kill('SIGKILL');
  await once(program, 'close');
}

function sippTotals(statistics: string): { succeeded: number; failed: number } {
  const [header = '', ...rows] = readFileSync(statistics, 'utf8').trim().split('\n');
  const names = header.split(';');
  const last = (rows.at(-1) ?? '').split(';');
  const value = (name: string): number => Number(last[names.indexOf(name)] ?? 0);
  return { succeeded: value('SuccessfulCall(C)'), failed: value('FailedCall(C)') };
}

/** The result as two Markdown tables. */
export function formatOutboundBench({ loads, failover }: OutboundBenchResult): string {
  const columns: Column<LoadRow>[] = [
    ['who calls SIPp over one TLS connection', (row) => row.caller],
    ['offered, calls/s', (row) => String(row.asked)],
    ['completed, calls/s', (row) => row.done.toFixed(0)],
    ['total, calls', (row) => String(row.calls)],
    ['failed, calls', (row) => String(row.failed)],
    ['caller, ms CPU/call', (row) => row.cpuMs?.toFixed(2) ?? ''],
  ];
  const ofFailover: Column<FailoverRow>[] = [
    ['the first endpoint', (row) => row.primary],
    ['answer of the second after, ms', (row) => row.answeredAfterMs.toFixed(0)],
  ];
  return `${markdownTable(columns, loads)}\n\n${markdownTable(ofFailover, failover)}`;
}

if (import.meta.main) process.stdout.write(`${formatOutboundBench(await runOutboundBench())}\n`);
