/**
 * Calls per second through engine, drachtio-srf and call logic, without media. SIPp sets up and tears down calls over one
 * TLS connection, or one for each call, on the same machine and shares its cores. With `SIP_ENGINE=drachtio:/path` the
 * bare loads run on that drachtio-server too, each right after the embedded engine.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { ControlToEdge, EdgeToControl } from '#shared/edge-protocol/frames.ts';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { type Column, markdownTable } from '../../scripts/bench/table.ts';
import { nodeFlags } from '../../scripts/supervisor/node-flags.ts';
import { createAuthority } from '../kit/fakes/certificates.ts';
import { echoAgent } from '../kit/fakes/fake-agents.ts';
import { DrachtioProgram, drachtioPath } from '../kit/programs/drachtio-program.ts';
import { cpuMs } from './cpu-time.ts';
import type { Order, Said } from './signaling-app.ts';
import { runSipp, type SippRun } from './sipp-load.ts';
import { runTlsCallers } from './tls-callers.ts';
import type { CallsOrder } from './tls-calls.ts';

export interface SignalingBenchOptions {
  /** Seconds of each load; 10 unless given. */
  readonly seconds?: number;
  readonly loads?: readonly Load[];
}

interface Load {
  readonly mode: Order['mode'];
  /** Offered; `all`: as many as are answered, `callersAtOnce` at a time. */
  readonly callsPerSecond: number | 'all';
  /**
   * A TLS connection for each call: SIPp's with full handshakes, or those of tls-calls.ts, which `all` needs.
   * Default: one for all.
   */
  readonly perCall?: 'SIPp' | Pick<CallsOrder, 'version' | 'resume'>;
  /** Program of a drachtio-server. Default: the embedded engine. */
  readonly drachtio?: string;
}

export interface SignalingBenchRow {
  readonly load: Load;
  /** Calls per second that were set up and torn down. */
  readonly achieved: number;
  readonly calls: number;
  readonly failed: number;
  /** Final records that reached the far end of reporting; null where reporting is off. */
  readonly recorded: number | null;
  /** Milliseconds of CPU time per call. */
  readonly engineMs: number;
  readonly appMs: number;
  readonly callersMs: number;
  /** From INVITE to 200, 99 of 100 calls, ms. */
  readonly setUpMs: number;
  /** Resident memory at the end, MiB. */
  readonly engineMiB: number;
  readonly appMiB: number;
}

const number = '+14155550100';
const bare: readonly Load[] = [
  { mode: 'bare', callsPerSecond: 1000 },
  { mode: 'bare', callsPerSecond: 150, perCall: 'SIPp' },
  { mode: 'bare', callsPerSecond: 'all', perCall: { version: 'TLSv1.3', resume: false } },
  { mode: 'bare', callsPerSecond: 'all', perCall: { version: 'TLSv1.3', resume: true } },
  { mode: 'bare', callsPerSecond: 'all', perCall: { version: 'TLSv1.2', resume: true } },
];
/** Not on a drachtio-server, which does not carry it: minutes would pass until its calls have failed. */
const fastest: readonly Load[] = [
  { mode: 'bare', callsPerSecond: 3000 },
  { mode: 'tls', callsPerSecond: 3000 },
];
const whole: readonly Load[] = [
  { mode: 'calls', callsPerSecond: 300 },
  { mode: 'calls', callsPerSecond: 500 },
  { mode: 'calls', callsPerSecond: 1000 },
];
/**
 * Calls before those that are measured: compiling is no cost of a call. With engine and drachtio-srf alone it still was a
 * fifth of the CPU time of the next 10,000 after 1,500 calls, and each becomes cheaper until some 10,000.
 */
const warmUpCalls: Readonly<Record<Order['mode'], number>> = { bare: 12_000, calls: 12_000, tls: 5000 };
/** It takes at most so many times as long as what is measured. */
const longestWarmUp = 3;
const warmUpPerSecond = 500;
/** Enough that the engine always has work; fewer than the handshakes that it lets wait for their peers. */
const callersAtOnce = 32;
/** The engine admits 500 connections a second from an address. */
const callerAddresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'];

/** Each bare load on the embedded engine, on the drachtio-server if there is one, and on a TLS server without SIP. */
function standard(): readonly Load[] {
  const drachtio = drachtioPath();
  return [
    ...bare.flatMap((load): Load[] => [
      load,
      ...(drachtio === null ? [] : [{ ...load, drachtio }]),
      { ...load, mode: 'tls' },
    ]),
    ...fastest,
    ...whole,
  ];
}

/** @throws Error when a program does not start */
export async function runSignalingBench(options: SignalingBenchOptions = {}): Promise<SignalingBenchRow[]> {
  const rows: SignalingBenchRow[] = [];
  for (const load of options.loads ?? standard()) rows.push(await measure(load, options.seconds ?? 10));
  return rows;
}

async function measure(load: Load, seconds: number): Promise<SignalingBenchRow> {
  const { mode } = load;
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-bench-'));
  const control = new AckingControl();
  let drachtio: DrachtioProgram | null = null;
  const app = fork(join(import.meta.dirname, 'signaling-app.ts'), { execArgv: [...nodeFlags.edge] });
  try {
    const authority = createAuthority();
    const pair = authority.issue({ names: ['IP:127.0.0.1'] });
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const ca = file('ca.crt', authority.cert);
    const port = await freePort();
    const cert = file('server.crt', pair.cert);
    const key = file('server.key', pair.key);
    if (load.drachtio !== undefined) {
      const secret = 'bench';
      const where = { sipPort: port, appPort: await freePort(), hepPort: null, wssPort: null };
      drachtio = new DrachtioProgram({ program: load.drachtio, folder, secret, tls: folder, ...where });
      await drachtio.start();
    }
    const order: Order = {
      mode,
      port,
      cert,
      key,
      dataDir: join(folder, 'data'),
      controlUrl: await control.url(),
      drachtio: drachtio?.app ?? null,
    };
    app.send(order);
    const ready = await heard(app, 'ready');
    const enginePid = drachtio?.pid ?? ready.enginePid;
    const callers = callersOf(load, { folder, caFile: ca, ca: authority.cert, port, seconds });
    await callers.warmUp();
    const warm = control.ended.size;
    const appPid = mode === 'tls' ? undefined : app.pid;
    const before = { engine: cpuMs(enginePid), app: cpuMs(appPid) };
    const run = await callers.run();
    // Reports and responses in flight belong to the calls' cost.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const usage = { engine: cpuMs(enginePid), app: cpuMs(appPid) };
    const memory = { engineMiB: residentMiB(enginePid), appMiB: residentMiB(app.pid) };
    app.send('stop');
    await heard(app, 'done');
    const calls = Math.max(1, run.succeeded);
    return {
      load,
      achieved: run.succeeded / run.seconds,
      calls: run.succeeded,
      failed: run.failed,
      recorded: mode === 'calls' ? control.ended.size - warm : null,
      engineMs: (usage.engine - before.engine) / calls,
      appMs: (usage.app - before.app) / calls,
      callersMs: run.cpuMs / calls,
      setUpMs: run.setUpMs,
      ...memory,
    };
  } finally {
    app.kill();
    await drachtio?.kill();
    await control.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Callers {
  warmUp(): Promise<unknown>;
  run(): Promise<Pick<SippRun, 'succeeded' | 'failed' | 'seconds' | 'cpuMs' | 'setUpMs'>>;
}

/** @throws Error when no caller for the load exists */
function callersOf(
  { mode, callsPerSecond, perCall }: Load,
  where: {
    readonly folder: string;
    readonly caFile: string;
    readonly ca: string;
    readonly port: number;
    readonly seconds: number;
  },
): Callers {
  const { port, seconds } = where;
  if (callsPerSecond !== 'all') {
    if (typeof perCall === 'object') throw new Error('callers that resume take no rate');
    const order = {
      folder: where.folder,
      ca: where.caFile,
      port,
      number,
      connectionPerCall: perCall === 'SIPp',
    };
    const rate = Math.min(warmUpPerSecond, callsPerSecond);
    const calls = Math.min(warmUpCalls[mode], rate * seconds * longestWarmUp);
    return {
      warmUp: () => runSipp({ ...order, rate, calls }),
      run: () => runSipp({ ...order, rate: callsPerSecond, calls: callsPerSecond * seconds }),
    };
  }
  if (typeof perCall !== 'object')
    throw new Error('as many calls as are answered need callers with connections');
  const order = { ...perCall, port, ca: where.ca, number, atOnce: callersAtOnce, from: callerAddresses };
  const run = async (calls: number, longest: number) => {
    const result = await runTlsCallers({ ...order, calls, seconds: longest });
    if (result.firstFailure !== null) console.error(`the first call that failed: ${result.firstFailure}`);
    return result;
  };
  return {
    warmUp: () => run(warmUpCalls[mode], seconds * longestWarmUp),
    run: () => run(Number.MAX_SAFE_INTEGER, seconds),
  };
}

/** Accepts and acknowledges every report at once. */
class AckingControl {
  readonly #server = new WebSocketServer({ port: 0, host: '127.0.0.1', maxPayload: 64 * 1024 * 1024 });
  readonly ended = new Set<string>();

  constructor() {
    this.#server.on('connection', (socket) => {
      socket.on('message', (data) => this.#take(socket, JSON.parse(String(data)) as EdgeToControl));
    });
  }

  async url(): Promise<string> {
    if (!this.#server.address()) await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#server.clients) socket.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(socket: WebSocket, frame: EdgeToControl): void {
    const say = (answer: ControlToEdge): void => socket.send(JSON.stringify(answer));
    if (frame.type === 'hello') {
      say({ type: 'welcome', acknowledged: 0, revision: edgeProtocol.revision });
      say({ type: 'config', config });
    } else if (frame.type === 'report') {
      for (const { body } of frame.reports) {
        if (body.type === 'call' && body.call.ended_at !== null) this.ended.add(body.call.id);
      }
      const last = frame.reports.at(-1);
      if (last) say({ type: 'ack', seq: last.seq });
    }
  }
}

const config: EdgeConfig = {
  version: 1,
  organizations: [],
  numbers: [
    {
      number,
      org_id: 'org',
      agent: echoAgent,
      outbound: [],
      inbound: [
        {
          id: 'trunk',
          auth_mode: 'ip',
          allowed_ips: ['127.0.0.1'],
          source_host: null,
          headers: [],
          codecs: ['PCMU'],
        },
      ],
    },
  ],
  pathways: [],
  allowed_private_targets: [],
  open_inbound: false,
};

function heard<T extends Said['type']>(app: ChildProcess, type: T): Promise<Extract<Said, { type: T }>> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`the bench's edge ended early (${code})`));
    app.once('exit', onExit);
    app.on('message', function listen(message: Said) {
      if (message.type !== type) return;
      app.off('message', listen);
      app.off('exit', onExit);
      resolve(message as Extract<Said, { type: T }>);
    });
  });
}

function residentMiB(pid: number | undefined): number {
  const kib = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib ?? 0) / 1024;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The rows as a Markdown table. */
export function formatSignalingBench(rows: readonly SignalingBenchRow[]): string {
  const what = {
    bare: 'engine + drachtio-srf',
    calls: 'engine, drachtio-srf, signaling, call logic, traces, reporting',
    tls: "Node's TLS server with fixed answers",
  };
  const columns: Column<SignalingBenchRow>[] = [
    [
      'what',
      ({ load }) => (load.drachtio === undefined ? what[load.mode] : 'drachtio-server + drachtio-srf'),
    ],
    ['TLS connections', ({ load }) => connectionsOf(load)],
    ['offered, calls/s', ({ load }) => String(load.callsPerSecond)],
    ['completed, calls/s', (row) => row.achieved.toFixed(0)],
    ['total, calls', (row) => String(row.calls)],
    ['failed, calls', (row) => String(row.failed)],
    ['recorded, calls', (row) => (row.recorded === null ? '' : String(row.recorded))],
    ['engine, ms CPU/call', (row) => row.engineMs.toFixed(2)],
    ['edge, ms CPU/call', (row) => row.appMs.toFixed(2)],
    ['callers, ms CPU/call', (row) => row.callersMs.toFixed(2)],
    ['INVITE to 200, p99 ms', (row) => row.setUpMs.toFixed(0)],
    ['engine, MiB', (row) => row.engineMiB.toFixed(0)],
    ['edge, MiB', (row) => row.appMiB.toFixed(0)],
  ];
  return markdownTable(columns, rows);
}

function connectionsOf({ perCall }: Load): string {
  if (perCall === undefined) return '1';
  if (perCall === 'SIPp') return 'one per call';
  return `one per call, ${perCall.version.replace('v', ' ')}, ${perCall.resume ? 'resumed' : 'full'}`;
}

if (import.meta.main) {
  process.stdout.write(
    `${formatSignalingBench(await runSignalingBench({ seconds: Number(process.argv[2] ?? 10) }))}\n`,
  );
}
