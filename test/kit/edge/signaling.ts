/** Signaling and calls on a dedicated engine, for tests, which choose what is fake. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#shared/clock.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import { newId } from '#shared/ids.ts';
import type { OutboundParts } from '../../../edge/call/call-deps.ts';
import { Calls } from '../../../edge/call/calls.ts';
import type { Agents } from '../../../edge/call/ports/agents.ts';
import type { Media } from '../../../edge/call/ports/media.ts';
import { EngineProcess } from '../../../edge/engine-process.ts';
import { createLog } from '../../../edge/log.ts';
import type { RegistrarAccess } from '../../../edge/signaling/registration/registrar-access.ts';
import { Signaling } from '../../../edge/signaling/signaling.ts';
import { createAuthority, type TestAuthority, type TestKeyPair } from '../fakes/certificates.ts';
import { echoAgent } from '../fakes/fake-agents.ts';
import { QuietLog } from '../fakes/quiet-log.ts';
import { testedFile } from '../programs/built-programs.ts';
import { DrachtioProgram, drachtioPath } from '../programs/drachtio-program.ts';
import { freeTcpPort } from '../programs/ports.ts';

export interface TestEdgeOptions {
  readonly media: Media;
  readonly agents: Agents;
  readonly outbound: Omit<OutboundParts, 'dialer'>;
  readonly noResponseMs?: number;
  readonly registrars?: RegistrarAccess;
  /** Default: 1000. */
  readonly maxCalls?: number;
  /** Default: 60,000. Silence alone ends no call. */
  readonly holdQuestionMs?: number;
  /** Whether `records` is filled; under load it would grow without limit. */
  readonly keepRecords?: boolean;
}

/** A configuration with one number; an echo agent answers callers from 127.0.0.1. */
export function answeredByEcho(number: string): EdgeConfig {
  const trunk = { id: 'trunk', auth_mode: 'ip', source_host: null } as const;
  return {
    version: 1,
    organizations: [],
    numbers: [
      {
        number,
        org_id: 'org',
        agent: echoAgent,
        outbound: [],
        inbound: [{ ...trunk, allowed_ips: ['127.0.0.1'], headers: [], codecs: [] }],
      },
    ],
    pathways: [],
    allowed_private_targets: [],
    open_inbound: false,
  };
}

export class TestEdge {
  /** Issues our certificate, and is trusted for those of peers. */
  readonly authority: TestAuthority;
  /** For 127.0.0.1 and trunk.example. */
  readonly certificate: TestKeyPair;
  /** Its port on 127.0.0.1. */
  readonly port: number;
  readonly calls: Calls;
  readonly signaling: Signaling;
  /** The reported records of each call, by call id. */
  readonly records = new Map<string, CallRecord[]>();
  /** Transcript lines that each call wrote itself, by call id. */
  readonly notes = new Map<string, string[]>();
  /** Filters the engine's dialog ids before signaling gets them, every ten seconds. */
  dialogsSeen: (ids: readonly string[]) => readonly string[] = (ids) => ids;
  /** Receives every report of a call. */
  onRecord: (record: CallRecord) => void = () => {};
  readonly #folder = mkdtempSync(join(tmpdir(), 'test-edge-'));
  /** null: a drachtio-server. */
  readonly #engine: EngineProcess | null;
  readonly #drachtio: DrachtioProgram | null;

  private constructor(
    options: TestEdgeOptions,
    { port, appPort }: { readonly port: number; readonly appPort: number },
    up: (error?: Error) => void,
  ) {
    this.port = port;
    this.authority = createAuthority();
    this.certificate = this.authority.issue({ names: ['IP:127.0.0.1', 'DNS:trunk.example'] });
    this.calls = new Calls({
      clock: systemClock,
      log: new QuietLog(),
      newId,
      media: options.media,
      agents: options.agents,
      maxCalls: options.maxCalls ?? 1000,
      settings: {
        ringAfterMs: 0,
        prepareTimeoutMs: 10_000,
        mediaTimeoutMs: 0,
        holdQuestionMs: options.holdQuestionMs ?? 60_000,
      },
      reporter: {
        report: (body) => {
          if (body.type === 'transcript' && options.keepRecords !== false) {
            const lines = body.entries.map(({ text }) => text);
            this.notes.set(body.call_id, [...(this.notes.get(body.call_id) ?? []), ...lines]);
          }
          if (body.type !== 'call') return;
          this.onRecord(body.call);
          if (options.keepRecords === false) return;
          this.records.set(body.call.id, [...(this.records.get(body.call.id) ?? []), body.call]);
        },
      },
      outbound: { ...options.outbound, dialer: { dial: (...call) => this.signaling.dial(...call) } },
    });
    this.signaling = new Signaling({
      clock: systemClock,
      log: new QuietLog(),
      calls: this.calls,
      publicAddress: null,
      software: 'Trunkline/test',
      session: { expiresS: 1800, minS: 90 },
      strangers: { tries: 2, windowS: 60, blockS: 600, maxSources: 10 },
      refused: () => {},
      engineUp: () => up(),
      ...(options.noResponseMs === undefined ? {} : { noResponseMs: options.noResponseMs }),
      ...(options.registrars === undefined ? {} : { registrars: options.registrars }),
    });
    const files = {
      cert: this.#file('server.crt', this.certificate.cert),
      key: this.#file('server.key', this.certificate.key),
      ca: this.#file('ca.crt', this.authority.cert),
    };
    const program = drachtioPath();
    this.#engine = program === null ? this.#embedded(files, up) : null;
    this.#drachtio =
      program === null
        ? null
        : new DrachtioProgram({
            program,
            folder: this.#folder,
            secret: 's',
            sipPort: port,
            appPort,
            hepPort: null,
            wssPort: null,
            tls: this.#folder,
          });
    this.signaling.watchSources((known) => this.#engine?.know(known));
    this.#engine?.start();
    this.#drachtio?.start().then(() => this.#drachtio && this.signaling.connect(this.#drachtio.app), up);
  }

  #embedded(
    files: Readonly<Record<'cert' | 'key' | 'ca', string>>,
    up: (error?: Error) => void,
  ): EngineProcess {
    const engine: EngineProcess = new EngineProcess({
      program: testedFile(join(import.meta.dirname, '..', '..', '..', 'edge', 'engine', 'main.ts')),
      config: {
        tls: {
          host: '127.0.0.1',
          port: this.port,
          cert: files.cert,
          key: files.key,
        },
        wss: null,
        publicHost: null,
        app: { host: '127.0.0.1', port: 0, secret: 's' },
        clientTls: { ca: files.ca, folder: null },
        hep: null,
        limits: {},
      },
      clock: systemClock,
      log: createLog({ level: 'silent', form: null }),
      onReady: (app) => this.signaling.connect({ ...app, secret: 's' }),
      onRestart: () => {},
      onDialogs: (ids) => {
        const unowned = this.signaling.reconcile(this.dialogsSeen(ids));
        if (unowned.length > 0) engine.endDialogs(unowned);
      },
      onUnusable: () => up(new Error('the engine cannot start')),
    });
    return engine;
  }

  static async start(options: TestEdgeOptions): Promise<TestEdge> {
    const ports = { port: await freeTcpPort(), appPort: await freeTcpPort() };
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const edge = new TestEdge(options, ports, (error) => (error ? reject(error) : resolve()));
    await promise;
    return edge;
  }

  get enginePid(): number | undefined {
    return this.#engine?.pid;
  }

  /** Allows private networks that peers may name. */
  allow(networks: readonly string[]): void {
    this.#engine?.allow(networks);
  }

  /** The last reported record of the call. */
  last(callId: string): CallRecord | undefined {
    return this.records.get(callId)?.at(-1);
  }

  async stop(): Promise<void> {
    this.signaling.close();
    await this.#engine?.stop();
    await this.#drachtio?.kill();
    rmSync(this.#folder, { recursive: true });
  }

  #file(name: string, text: string): string {
    writeFileSync(join(this.#folder, name), text);
    return join(this.#folder, name);
  }
}
