/** A Trunkline as an operator runs it: `npm start` in a folder of its own, which restarts what ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { type Bootstrap, caCertificate, readBootstrap } from '../../scripts/supervisor/bootstrap.ts';
import { freeTcpPort, freeUdpRange } from '../kit/programs/ports.ts';
import { commandLine, family, isAlive } from '../kit/programs/processes.ts';
import { ProgramLog } from './program-log.ts';

const root = join(import.meta.dirname, '..', '..');
const rtpPorts = 600;
const startLimitMs = 300_000;

/** Settings that differ from the defaults: what a short run needs to reach within its time. */
const settings = {
  // A caller that vanishes is noticed, and a drain ends, many times within an hour.
  MEDIA_TIMEOUT_S: '20',
  DRAIN_TIMEOUT_S: '15',
  TRUNK_PROBE_INTERVAL_S: '15',
  ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  RATE_LIMIT_PER_MINUTE: '100000',
};

export const roles = ['control', 'edge', 'engine', 'media worker'] as const;
export type Role = (typeof roles)[number];

export class Deployment {
  readonly folder: string;
  readonly controlPort: number;
  readonly sipPort: number;
  readonly rtp: { readonly first: number; readonly count: number };
  readonly log = new ProgramLog();
  readonly #child: ChildProcess;
  #bootstrap: Bootstrap | null = null;
  #ca = '';

  private constructor(
    folder: string,
    ports: { sip: number; control: number; rtp: number },
    child: ChildProcess,
  ) {
    this.folder = folder;
    this.controlPort = ports.control;
    this.sipPort = ports.sip;
    this.rtp = { first: ports.rtp, count: rtpPorts };
    this.#child = child;
    for (const output of [child.stdout, child.stderr])
      if (output) createInterface({ input: output }).on('line', (line) => this.log.add(line));
  }

  /** @param folder of its data, created @throws Error with its output when it does not start */
  static async start(folder: string, extra: Record<string, string>): Promise<Deployment> {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const ports = {
      sip: await freeTcpPort(),
      control: await freeTcpPort(),
      rtp: await freeUdpRange(rtpPorts),
    };
    const child = spawn(process.execPath, [join(root, 'scripts', 'start.ts')], {
      cwd: root,
      env: {
        ...process.env,
        ...settings,
        TRUNKLINE_DATA: folder,
        CONTROL_PORT: String(ports.control),
        SIP_TLS_PORT: String(ports.sip),
        RTP_PUBLIC_IP: '127.0.0.1',
        RTP_PORT_MIN: String(ports.rtp),
        RTP_PORT_MAX: String(ports.rtp + rtpPorts - 1),
        ...extra,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ctrl-C reaches only the soak, which stops the programs when it has its report.
      detached: true,
    });
    const deployment = new Deployment(folder, ports, child);
    await deployment.#up();
    return deployment;
  }

  get url(): string {
    return `http://127.0.0.1:${this.controlPort}`;
  }

  get bootstrap(): Bootstrap {
    if (!this.#bootstrap) throw new Error('the deployment has not started');
    return this.#bootstrap;
  }

  /** PEM of the CA that issued the edge's certificate. */
  get ca(): string {
    return this.#ca;
  }

  /** Process ids, by role. */
  processes(): Readonly<Record<Role, readonly number[]>> {
    const pids = this.#child.pid === undefined ? [] : family(this.#child.pid);
    const ending = (suffix: string) => pids.filter((pid) => commandLine(pid).endsWith(suffix));
    return {
      control: ending('/control/main.ts'),
      edge: ending('/edge/main.ts'),
      engine: ending('/edge/engine/main.ts'),
      'media worker': pids.filter((pid) => nameOf(pid).startsWith('mediasoup-work')),
    };
  }

  /** Signals one process of that role. @returns its id, null when none runs */
  signal(role: Role, signal: NodeJS.Signals): number | null {
    const [pid] = this.processes()[role];
    if (pid === undefined) return null;
    process.kill(pid, signal);
    return pid;
  }

  /** The status of /health; null without a response. */
  async health(): Promise<number | null> {
    try {
      const response = await fetch(`${this.url}/health`, { signal: AbortSignal.timeout(10_000) });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return null;
    }
  }

  /** Whether /health was 200 within that time. */
  async healthy(limitMs: number): Promise<boolean> {
    const limit = performance.now() + limitMs;
    while (performance.now() < limit) {
      if ((await this.health()) === 200) return true;
      await pause(200);
    }
    return false;
  }

  /** Reports of crashes, by file name. */
  faults(): string[] {
    const folder = join(this.folder, 'faults');
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  /** Stops it as an operator would. @returns processes that are left */
  async stop(): Promise<number[]> {
    const started = this.#child.pid === undefined ? [] : family(this.#child.pid);
    const ended = once(this.#child, 'exit');
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGTERM');
      await ended;
    }
    return started.filter(isAlive);
  }

  /** Ends everything at once; for a soak that fails itself. */
  kill(): void {
    for (const pid of this.#child.pid === undefined ? [] : family(this.#child.pid).toReversed()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has already ended.
      }
    }
  }

  async #up(): Promise<void> {
    if (!(await this.healthy(startLimitMs))) {
      this.kill();
      throw new Error(`Trunkline did not start:\n${this.log.lastLines.join('\n')}`);
    }
    this.#bootstrap = await readBootstrap(join(this.folder, 'bootstrap.json'));
    this.#ca = await caCertificate(this.#bootstrap);
  }
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8');
  } catch {
    return '';
  }
}
