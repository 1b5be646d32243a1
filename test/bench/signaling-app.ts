/**
 * The edge's signaling as a separate process, for signaling.bench.ts: the embedded engine and, depending on the first
 * message, either a handler that answers every call itself (`bare`), or signaling and call logic with traces, reporting
 * and media without packets (`calls`); or no engine at all but a TLS server that answers (`tls`).
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '#shared/clock.ts';
import type { EngineLimits } from '#shared/engine-protocol/limits.ts';
import { newId } from '#shared/ids.ts';
import { Calls } from '../../edge/call/calls.ts';
import { EngineProcess } from '../../edge/engine-process.ts';
import { createLog } from '../../edge/log.ts';
import { growNurseryWhenBusy, holdNurseries } from '../../edge/nursery.ts';
import { plainEnvironment } from '../../edge/plain-environment.ts';
import { Reporting } from '../../edge/reporting/reporting.ts';
import { Signaling } from '../../edge/signaling/signaling.ts';
import { type EngineAddress, openSrf } from '../../edge/signaling/srf/srf.ts';
import { FakeAgents } from '../kit/fakes/fake-agents.ts';
import { FakeMedia, fakeAnswer } from '../kit/fakes/fake-media.ts';
import { answerByTls } from './bare-tls.ts';

export interface Order {
  readonly mode: 'bare' | 'calls' | 'tls';
  readonly port: number;
  readonly cert: string;
  readonly key: string;
  readonly dataDir: string;
  readonly controlUrl: string;
  /** A drachtio-server that takes the place of the embedded engine; only in `bare`. */
  readonly drachtio: EngineAddress | null;
  /** In the place of the engine's own. */
  readonly limits?: Partial<EngineLimits>;
}

export type Said =
  /** `enginePid` 0: the engine is not ours. */
  | { readonly type: 'ready'; readonly enginePid: number }
  /** Ended calls of call logic; 0 in `bare`. */
  | { readonly type: 'done'; readonly ended: number };

const clock = systemClock;
const log = createLog({ level: 'warn', form: null });

holdNurseries();
process.once('message', (order: Order) => void run(order));

async function run(order: Order): Promise<void> {
  plainEnvironment();
  let ended = 0;
  if (order.mode === 'tls') {
    process.once('message', () => {
      say({ type: 'done', ended });
      process.exit(0);
    });
    answerByTls(order, () => say({ type: 'ready', enginePid: process.pid }));
    return;
  }
  const reporting = order.mode === 'calls' ? await report(order) : null;
  const { connect, close } = reporting ? callLogic(reporting, () => ended++) : answerAll();
  const { drachtio } = order;
  if (drachtio) {
    process.once('message', () => {
      close();
      say({ type: 'done', ended });
      process.disconnect();
    });
    connect(drachtio, () => say({ type: 'ready', enginePid: 0 }));
    return;
  }
  const secret = randomBytes(16).toString('hex');
  const engine = new EngineProcess({
    program: join(import.meta.dirname, '../../edge/engine/main.ts'),
    config: {
      tls: { host: '127.0.0.1', port: order.port, cert: order.cert, key: order.key },
      wss: null,
      publicHost: null,
      app: { host: '127.0.0.1', port: 0, secret },
      clientTls: { ca: null, folder: null },
      hep: reporting?.hep ?? null,
      limits: order.limits ?? {},
    },
    clock,
    log,
    onReady: (app) => connect({ ...app, secret }, () => say({ type: 'ready', enginePid: engine.pid ?? 0 })),
    onRestart: () => log.error({}, 'the engine died under load'),
    onUnusable: () => process.exit(1),
  });
  // As the edge does for the sources of its configuration: a stranger may not have this much under way.
  engine.know({ org: ['127.0.0.0/8'] });
  engine.start();
  growNurseryWhenBusy();
  process.once('message', async () => {
    close();
    await engine.stop();
    await reporting?.close();
    say({ type: 'done', ended });
    process.disconnect();
  });
}

function say(message: Said): void {
  process.send?.(message);
}

type App = { connect: (address: EngineAddress, up: () => void) => void; close: () => void };

/** drachtio-srf and a handler of three lines: the cost of engine and library alone. */
function answerAll(): App {
  let close = (): void => {};
  return {
    connect: (address, up) => {
      const connection = openSrf(
        address,
        (request, response) => {
          if (request.method === 'INVITE') response.send(200, { body: fakeAnswer }, () => {});
          else if (request.method !== 'ACK') response.send(200, {});
        },
        up,
        () => {},
      );
      close = () => connection.close();
    },
    close: () => close(),
  };
}

function callLogic(reporting: Reporting, onEnded: () => void): App {
  let up = (): void => {};
  const calls = new Calls({
    clock,
    log,
    newId,
    media: new FakeMedia(false),
    agents: new FakeAgents(false),
    reporter: reporting,
    maxCalls: 100_000,
    settings: { ringAfterMs: 200, prepareTimeoutMs: 10_000, mediaTimeoutMs: 60_000 },
    onEnded,
  });
  const signaling = new Signaling({
    clock,
    log,
    calls,
    publicAddress: null,
    software: 'Trunkline/bench',
    session: { expiresS: 1800, minS: 90 },
    strangers: { tries: 5, windowS: 60, blockS: 600, maxSources: 1000 },
    refused: (reason) => log.error({ reason }, 'a call of the load was refused'),
    engineUp: (isUp) => {
      if (isUp && reporting.config) up();
    },
  });
  configured = (config) => signaling.configure(config);
  if (reporting.config) signaling.configure(reporting.config);
  return {
    connect: (address, whenUp) => {
      up = whenUp;
      signaling.connect(address);
    },
    close: () => signaling.close(),
  };
}

let configured: (config: NonNullable<Reporting['config']>) => void = () => {};

/** Reporting that already has its first configuration. */
async function report({ dataDir, controlUrl, port }: Order): Promise<Reporting> {
  const first = Promise.withResolvers<void>();
  const reporting = await Reporting.open({
    dataDir,
    clock,
    controlUrl,
    edgeToken: 'bench',
    facts: {
      software: 'bench',
      sip: { host: '127.0.0.1', port },
      rtp: { ip: '127.0.0.1', port_min: 10_000, port_max: 20_000 },
      codecs: ['PCMU'],
    },
    log: (level, message, facts) => log[level](facts ?? {}, message),
    onConfig: (config) => {
      configured(config);
      first.resolve();
    },
    onCommand: async () => {},
    metrics: () => ({}),
  });
  reporting.start();
  await first.promise;
  return reporting;
}
