/** Debian's HAProxy with the configuration that operators get (deploy/haproxy), in front of control planes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestKeyPair } from '../kit/fakes/certificates.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';

const deployed = join(import.meta.dirname, '..', '..', 'deploy', 'haproxy', 'haproxy.cfg');
/** Debian's path: not in the PATH of users other than root. */
const program = '/usr/sbin/haproxy';
const keptOutput = 20_000;

export interface HaproxyOptions {
  readonly pair: TestKeyPair;
  /** Ports of the two control planes on 127.0.0.1. */
  readonly controls: readonly [number, number];
}

/** What the configuration of a test has in the place of an operator's; each must be there. */
type Replacement = readonly [pattern: RegExp, text: string];

export class Haproxy {
  readonly port: number;
  readonly #folder: string;
  readonly #child: ChildProcess;
  #output = '';

  private constructor(port: number, folder: string, child: ChildProcess) {
    this.port = port;
    this.#folder = folder;
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString('utf8')).slice(-keptOutput);
      });
  }

  /** Resolves when it has seen that both control planes are ready. */
  static async start({ controls, pair }: HaproxyOptions): Promise<Haproxy> {
    const folder = await mkdtemp(join(tmpdir(), 'trunkline-haproxy-'));
    const port = await freeTcpPort();
    await writeFile(join(folder, 'trunkline.pem'), `${pair.cert}${pair.key}`);
    const configuration = join(folder, 'haproxy.cfg');
    const replacements: readonly Replacement[] = [
      [/^ {4}(user|group|log) .*\n/gm, ''],
      [/\/etc\/haproxy\/trunkline\.pem/g, join(folder, 'trunkline.pem')],
      [/\/run\/haproxy\/admin\.sock/g, join(folder, 'admin.sock')],
      [/bind :443/g, `bind 127.0.0.1:${port}`],
      [/127\.0\.0\.1:8404/g, `127.0.0.1:${await freeTcpPort()}`],
      [/192\.0\.2\.21:8080/g, `127.0.0.1:${controls[0]}`],
      [/192\.0\.2\.22:8080/g, `127.0.0.1:${controls[1]}`],
    ];
    let text = await readFile(deployed, 'utf8');
    for (const [pattern, value] of replacements) {
      if (!text.match(pattern)) throw new Error(`${deployed} has no ${pattern}`);
      text = text.replaceAll(pattern, value);
    }
    await writeFile(configuration, text);
    const child = spawn(program, ['-f', configuration, '-db'], { stdio: ['ignore', 'pipe', 'pipe'] });
    const haproxy = new Haproxy(port, folder, child);
    try {
      await eventually('HAProxy to find both control planes ready', async () => {
        if (child.exitCode !== null) throw new Error(`HAProxy ended:\n${haproxy.#output}`);
        return (await haproxy.ready()).length === controls.length || null;
      });
    } catch (error) {
      await haproxy.stop();
      throw error;
    }
    return haproxy;
  }

  /** The control planes that get requests, by their names in the configuration. */
  async ready(): Promise<string[]> {
    const [head = [], ...rows] = (await this.ask('show stat')).split('\n').map((line) => line.split(','));
    const cell = (row: readonly string[], column: string) => row[head.indexOf(column)] ?? '';
    return rows
      .filter((row) => cell(row, '# pxname') === 'control' && cell(row, 'svname') !== 'BACKEND')
      .filter((row) => cell(row, 'status') === 'UP' && cell(row, 'check_status') === 'L7OK')
      .map((row) => cell(row, 'svname'));
  }

  /** The file that it was started with. */
  get configuration(): string {
    return join(this.#folder, 'haproxy.cfg');
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'exit');
      this.#child.kill('SIGKILL');
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** @returns what its socket for operators answers */
  async ask(command: string): Promise<string> {
    const socket = connect(join(this.#folder, 'admin.sock'));
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('utf8');
    });
    const closed = once(socket, 'close').catch(() => undefined);
    socket.on('error', () => undefined);
    socket.end(`${command}\n`);
    await closed;
    return answer;
  }
}
