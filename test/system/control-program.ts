/** The control plane alone, as a program of its own that a test may kill. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freeTcpPort } from './ports.ts';

const root = join(import.meta.dirname, '..', '..');

interface Keys {
  readonly org_id: string;
  readonly api_key: string;
  readonly operator_key: string;
  readonly edge_token: string;
}

export class ControlProgram {
  readonly folder = mkdtempSync(join(tmpdir(), 'control-program-'));
  readonly #env: Readonly<Record<string, string>>;
  #port = 0;
  #child: ChildProcess | null = null;

  /** @param env settings besides those that a test always has */
  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#env = env;
  }

  /** Of the process while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** What the first start wrote. */
  get keys(): Keys {
    return JSON.parse(readFileSync(join(this.folder, 'bootstrap.json'), 'utf8'));
  }

  /**
   * Resolves when it listens; again on the same port and data after it was killed.
   * @param env settings of this start alone
   */
  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    if (this.#port === 0) this.#port = await freeTcpPort();
    const child = spawn(process.execPath, [join(root, 'control', 'main.ts')], {
      env: {
        ...process.env,
        TRUNKLINE_DATA: this.folder,
        CONTROL_PORT: String(this.#port),
        ALLOW_PRIVATE_TARGETS: '127.0.0.1/32',
        NODE_NO_WARNINGS: '1',
        ...this.#env,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child = child;
    child.stdout.setEncoding('utf8');
    await new Promise<void>((resolve, reject) => {
      // Not `exit`: what it said before its end may still be on its way.
      child.once('close', (code) => reject(new Error(`control ended with ${code}`)));
      child.stdout.on('data', (text: string) => {
        if (text.includes('control plane is listening')) resolve();
      });
    });
  }

  /** Resolves when it has ended, by whatever. */
  async ended(): Promise<void> {
    const child = this.#child;
    if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  }

  /** Kills what still runs and deletes its data. */
  async remove(): Promise<void> {
    await this.end('SIGKILL');
    rmSync(this.folder, { recursive: true });
  }

  /** The body of an answer. @throws Error for every status but 2xx */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { api_key } = this.keys;
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { authorization: api_key, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }
}
