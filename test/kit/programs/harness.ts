/**
 * A whole Trunkline for a test: control and edge as real processes on free ports, with a separate data
 * folder, and a drachtio-server if `SIP_ENGINE` names one. `stop()` ends all and fails when a process or a port is left.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toneNumber } from '../../../control/bootstrap.ts';
import type { ControlOptions } from '../../../control/program.ts';
import type { EdgeOptions } from '../../../edge/start/context.ts';
import {
  type Bootstrap,
  bootstrapFile,
  caCertificate,
  readBootstrap,
} from '../../../scripts/supervisor/bootstrap.ts';
import { releaseAll } from '../fakes/release.ts';
import { Api } from './api.ts';
import { DrachtioProgram, drachtioPath } from './drachtio-program.ts';
import { eventually, saw } from './eventually.ts';
import { busyUdpPorts, freeTcpPort, freeUdpRange, isTcpFree } from './ports.ts';
import { commandLine, isAlive } from './processes.ts';
import { TestProgram } from './program.ts';

const rtpPorts = 128;
const startLimitMs = 180_000;

/** Limits that a test replaces in the programs. */
export interface SystemOptions {
  readonly control?: ControlOptions;
  readonly edge?: EdgeOptions;
}

export class TestSystem {
  readonly folder: string;
  readonly sipPort: number;
  readonly controlPort: number;
  readonly rtpMin: number;
  readonly rtpMax: number;
  /** The line check that the first start creates. */
  readonly tone = { number: toneNumber, hz: 440 };
  readonly control: TestProgram;
  readonly edge: TestProgram;
  /** null: the edge starts an embedded engine. */
  readonly #drachtio: DrachtioProgram | null;
  #bootstrap: Bootstrap | null = null;
  #ca = '';

  private constructor(
    folder: string,
    ports: { sip: number; control: number; rtp: number },
    extra: Record<string, string>,
    options: SystemOptions,
    drachtio: { readonly server: DrachtioProgram; readonly settings: Record<string, string> } | null,
  ) {
    this.folder = folder;
    this.sipPort = ports.sip;
    this.controlPort = ports.control;
    this.rtpMin = ports.rtp;
    this.rtpMax = ports.rtp + rtpPorts - 1;
    const env: NodeJS.ProcessEnv = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      XDG_CACHE_HOME: process.env.XDG_CACHE_HOME,
      TRUNKLINE_CACHE: process.env.TRUNKLINE_CACHE,
      TRUNKLINE_DATA: folder,
      CONTROL_HOST: '127.0.0.1',
      CONTROL_PORT: String(ports.control),
      SIP_HOST: '0.0.0.0',
      SIP_TLS_PORT: String(ports.sip),
      SIP_PUBLIC_HOST: '127.0.0.1',
      RTP_HOST: '127.0.0.1',
      RTP_PUBLIC_IP: '127.0.0.1',
      RTP_PORT_MIN: String(this.rtpMin),
      RTP_PORT_MAX: String(this.rtpMax),
      EXPECT_EDGE: 'true',
      RATE_LIMIT_PER_MINUTE: '1000000',
      ...drachtio?.settings,
      ...extra,
    };
    this.#drachtio = drachtio?.server ?? null;
    this.control = TestProgram.control(env, options.control);
    this.edge = TestProgram.edge(env, options.edge);
  }

  /** @param extra settings in addition to those of the harness */
  static async start(extra: Record<string, string> = {}, options: SystemOptions = {}): Promise<TestSystem> {
    const folder = await mkdtemp(join(tmpdir(), 'trunkline-system-'));
    const ports = {
      sip: await freeTcpPort(),
      control: await freeTcpPort(),
      rtp: await freeUdpRange(rtpPorts),
    };
    // A test with an engine of its own says where that is.
    const program = extra.DRACHTIO_HOST === undefined ? drachtioPath() : null;
    const drachtio =
      program === null ? null : await drachtioOf(program, folder, ports.sip, extra.SIP_WSS_PORT);
    const system = new TestSystem(folder, ports, extra, options, drachtio);
    try {
      await system.startControl();
      await system.startEdge();
      return system;
    } catch (error) {
      await system.#abandon();
      throw error;
    }
  }

  get bootstrap(): Bootstrap {
    if (!this.#bootstrap) throw new Error('the system has not started');
    return this.#bootstrap;
  }

  /** PEM of the CA that issued the edge's certificate. */
  get ca(): string {
    return this.#ca;
  }

  get api(): Api {
    return new Api(`http://127.0.0.1:${this.controlPort}`, this.bootstrap.api_key);
  }

  /** Resolves when control answers (not when an edge is connected). */
  async startControl(): Promise<void> {
    const file = bootstrapFile({ TRUNKLINE_DATA: this.folder });
    this.control.start();
    await this.#up(this.control, async () => existsSync(file));
    this.#bootstrap = await readBootstrap(file);
    this.#ca = await caCertificate(this.#bootstrap);
  }

  /** Resolves when /health is 200: the edge listens and has its configuration. */
  async startEdge(): Promise<void> {
    // It needs the certificate files, which the first start of control makes.
    if (this.#drachtio?.running === false) await this.#drachtio.start();
    this.edge.start();
    await this.#up(this.edge, async () => (await this.#health()) === 200);
  }

  /** Kills the edge with all its children and its engine, as a power cut would. {@link startEdge} restarts them. */
  async crashEdge(): Promise<void> {
    const members = this.edge.noteFamily();
    await this.edge.end('SIGKILL');
    await this.#drachtio?.kill();
    await eventually('engine and media workers to end with the edge', () =>
      members.some(isAlive) ? null : true,
    );
  }

  /** Kills the engine, which is started again: by the edge, or by the operator whose drachtio-server it is. */
  async crashEngine(): Promise<void> {
    if (this.#drachtio) {
      await this.#drachtio.kill();
      await this.#drachtio.start();
      return;
    }
    process.kill(this.enginePid, 'SIGKILL');
  }

  get enginePid(): number {
    if (this.#drachtio) return this.#drachtio.pid;
    const [engine] = this.embeddedEngines();
    if (engine === undefined) throw new Error('no engine runs');
    return engine;
  }

  /** Those that the edge started. */
  embeddedEngines(): number[] {
    return this.processes().filter((pid) => /engine\/main\.(ts|mjs)/.test(commandLine(pid)));
  }

  /** Status of /health; null: no answer. */
  health(): Promise<number | null> {
    return this.#health();
  }

  /** Waits for /health to be 200. */
  async ready(): Promise<void> {
    await eventually('/health to be 200', async () => (await this.#health()) === 200 || null, startLimitMs);
  }

  /** All running processes: control, edge, engine, media workers. */
  processes(): number[] {
    return [...this.control.noteFamily(), ...this.edge.noteFamily()];
  }

  /** RTP ports of the system that are in use. */
  busyRtpPorts(): Promise<number[]> {
    return busyUdpPorts(this.rtpMin, rtpPorts);
  }

  /** Stops both as an operator would, and checks that nothing is left. */
  async stop(): Promise<void> {
    const started = this.processes();
    await releaseAll(
      () => this.edge.end('SIGTERM'),
      () => this.#drachtio?.kill(),
      () => this.control.end('SIGTERM'),
      () => this.#nothingLeft(started),
      () => noFault(this.edge),
      () => noFault(this.control),
      () => rm(this.folder, { recursive: true }),
    );
  }

  async #nothingLeft(started: readonly number[]): Promise<void> {
    const all = new Set([...started, ...this.edge.everStarted, ...this.control.everStarted]);
    await eventually(`all processes of the system (${[...all].join(', ')}) to be gone`, () =>
      [...all].some(isAlive) ? null : true,
    );
    for (const port of [this.sipPort, this.controlPort]) {
      if (!(await isTcpFree(port))) throw new Error(`TCP port ${port} is still in use`);
    }
    const busy = await this.busyRtpPorts();
    if (busy.length > 0) throw new Error(`UDP ports still in use: ${busy.join(', ')}`);
  }

  async #abandon(): Promise<void> {
    await this.edge.end('SIGKILL');
    await this.#drachtio?.kill();
    await this.control.end('SIGKILL');
    await rm(this.folder, { recursive: true, force: true });
  }

  async #up(program: TestProgram, isUp: () => Promise<boolean>): Promise<void> {
    try {
      await eventually(
        `${program.name} to be up`,
        async () => {
          if (!program.running) throw new Error(`${program.name} ended while starting`);
          return (program.isReady && (await isUp())) || null;
        },
        startLimitMs,
      );
    } catch (error) {
      throw new Error(`${String(error)}\nits output:\n${program.output}`);
    }
    program.noteFamily();
  }

  /** @returns the status of /health, null without a response */
  async #health(): Promise<number | null> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.controlPort}/health`);
      saw(`/health ${response.status} ${await response.text()}`);
      return response.status;
    } catch (error) {
      saw(`no answer of /health: ${String(error)}`);
      return null;
    }
  }
}

/** A program that died is the test's failure, also when the test did not miss it. */
function noFault({ fault }: TestProgram): void {
  if (fault !== null) throw new Error(fault);
}

/** A drachtio-server of an operator, and the settings with which the edge uses it. */
async function drachtioOf(program: string, folder: string, sipPort: number, wssPort: string | undefined) {
  const [appPort, hepPort] = [await freeTcpPort(), await freeTcpPort()];
  const secret = 'from-the-configuration';
  const server = new DrachtioProgram({
    program,
    folder,
    secret,
    sipPort,
    appPort,
    hepPort,
    wssPort: wssPort === undefined ? null : Number(wssPort),
    tls: join(folder, 'tls'),
  });
  const settings = {
    DRACHTIO_HOST: `127.0.0.1:${appPort}`,
    DRACHTIO_SECRET: secret,
    HEP_HOST: `127.0.0.1:${hepPort}`,
  };
  return { server, settings };
}
