/**
 * A drachtio-server as a program that the test starts, with the configuration of `deploy/`. The suites of sipp, peers
 * and system run on one when `SIP_ENGINE` names it: `SIP_ENGINE=drachtio:/usr/local/bin/drachtio`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { EngineAddress } from '../../../edge/signaling/srf/srf.ts';
import { eventually } from './eventually.ts';

const deployed = join(import.meta.dirname, '..', '..', '..', 'deploy', 'drachtio.conf.xml');
/** Output kept for failure messages, characters. */
const keptOutput = 20_000;

/**
 * The drachtio-server that `SIP_ENGINE` names.
 * @returns path of its program; null: the suites run on the embedded engine
 */
export function drachtioPath(setting = process.env.SIP_ENGINE ?? ''): string | null {
  if (setting === '' || setting === 'embedded') return null;
  const path = /^drachtio:(\/.+)$/.exec(setting)?.[1];
  if (path === undefined)
    throw new Error(`SIP_ENGINE is ${JSON.stringify(setting)}: set it to "embedded" or "drachtio:/path"`);
  return path;
}

export interface DrachtioOptions {
  /** Path of the program. */
  readonly program: string;
  /** Where its configuration is written. */
  readonly folder: string;
  readonly secret: string;
  readonly sipPort: number;
  /** For the edge. */
  readonly appPort: number;
  /** Where it sends copies of messages; null: nowhere. */
  readonly hepPort: number | null;
  /** For SIP over WebSocket; null: none. */
  readonly wssPort: number | null;
  /** Folder of server.key, server.crt and ca.crt. */
  readonly tls: string;
}

/** The deployed configuration with the values of a test. */
function drachtioConfiguration(options: Omit<DrachtioOptions, 'program' | 'folder'>): string {
  const { secret, sipPort, appPort, hepPort, wssPort, tls } = options;
  const text = readFileSync(deployed, 'utf8')
    .replaceAll('"SECRET"', `"${secret}"`)
    .replaceAll('"9022"', `"${appPort}"`)
    .replaceAll('PUBLIC_ADDRESS', '127.0.0.1')
    .replaceAll('PUBLIC_NAME', 'localhost')
    .replaceAll('sips:*:5061;transport=tls', `sips:127.0.0.1:${sipPort};transport=tls`)
    .replaceAll('/var/lib/trunkline/tls', tls);
  const copied =
    hepPort === null
      ? text.replace(/<capture-server.*<\/capture-server>/, '')
      : text.replace('"9060"', `"${hepPort}"`);
  if (wssPort === null) return copied;
  return copied.replace(
    '</contacts>',
    `<contact>sips:127.0.0.1:${wssPort};transport=wss</contact></contacts>`,
  );
}

export class DrachtioProgram {
  readonly #options: DrachtioOptions;
  #child: ChildProcess | null = null;
  #output = '';

  constructor(options: DrachtioOptions) {
    this.#options = options;
  }

  get app(): EngineAddress {
    return { host: '127.0.0.1', port: this.#options.appPort, secret: this.#options.secret };
  }

  get running(): boolean {
    return this.#child !== null;
  }

  /** The end of its output. */
  get output(): string {
    return this.#output;
  }

  /** @throws Error when it does not run */
  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`drachtio-server does not run\n${this.#output}`);
    return pid;
  }

  /** Resolves when it listens. */
  async start(): Promise<void> {
    const { program, folder, sipPort, appPort } = this.#options;
    const file = join(folder, 'drachtio.conf.xml');
    writeFileSync(file, drachtioConfiguration(this.#options), { mode: 0o600 });
    const child = spawn(program, ['--file', file], { stdio: ['ignore', 'pipe', 'pipe'] });
    const keep = (chunk: Buffer) => {
      this.#output = (this.#output + chunk.toString('utf8')).slice(-keptOutput);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('exit', () => {
      if (this.#child === child) this.#child = null;
    });
    this.#child = child;
    await eventually('drachtio-server to listen', async () => {
      if (!this.running) throw new Error(`drachtio-server ended while starting\n${this.#output}`);
      return (await listens(sipPort)) && (await listens(appPort)) ? true : null;
    });
  }

  /** Kills it by its process id, like a crash. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
