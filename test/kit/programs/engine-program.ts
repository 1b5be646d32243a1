/** The embedded engine as a program that the test starts: to the edge, a drachtio-server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createAuthority, type TestKeyPair } from '../fakes/certificates.ts';
import { builtProgram } from './built-programs.ts';
import { freeTcpPort } from './ports.ts';

const program = join(import.meta.dirname, '..', '..', '..', 'edge', 'engine', 'main.ts');

export class EngineProgram {
  readonly sipPort: number;
  readonly appPort: number;
  readonly hepPort: number;
  readonly secret = 'from-the-configuration';
  /** PEM of the CA that issued its certificate, and that it trusts. */
  readonly ca: string;
  /** A certificate for 127.0.0.1 that it trusts. */
  readonly trunkPair: TestKeyPair;
  readonly #folder = mkdtempSync(join(tmpdir(), 'trunkline-engine-'));
  #child: ChildProcess | null = null;

  private constructor(ports: { sip: number; app: number; hep: number }) {
    this.sipPort = ports.sip;
    this.appPort = ports.app;
    this.hepPort = ports.hep;
    const authority = createAuthority();
    this.ca = authority.cert;
    this.trunkPair = authority.issue({});
    const own = authority.issue({});
    for (const [name, content] of Object.entries({ crt: own.cert, key: own.key, ca: authority.cert })) {
      writeFileSync(this.#file(name), content);
    }
  }

  static async create(): Promise<EngineProgram> {
    const [sip, app, hep] = [await freeTcpPort(), await freeTcpPort(), await freeTcpPort()];
    return new EngineProgram({ sip, app, hep });
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('the engine does not run');
    return pid;
  }

  /** Resolves when it listens. */
  start(): Promise<void> {
    const { file, compiled } = builtProgram(program);
    const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
    const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'], env });
    this.#child = child;
    const configuration = {
      tls: { host: '127.0.0.1', port: this.sipPort, cert: this.#file('crt'), key: this.#file('key') },
      wss: null,
      publicHost: '127.0.0.1',
      app: { host: '127.0.0.1', port: this.appPort, secret: this.secret },
      clientTls: { ca: this.#file('ca'), folder: null },
      hep: { host: '127.0.0.1', port: this.hepPort },
    };
    child.stdin.write(`${JSON.stringify(configuration)}\n`);
    return new Promise((resolve, reject) => {
      child.once('exit', () => reject(new Error('the engine ended while starting')));
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line.startsWith('{"event":"ready"')) resolve();
      });
    });
  }

  /** Kills it by its process id, like a crash. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    this.#child = null;
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.kill('SIGKILL');
    });
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true });
  }

  #file(name: string): string {
    return join(this.#folder, `engine.${name}`);
  }
}
