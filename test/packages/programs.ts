/**
 * The programs of an installed root, as their units run them. There is no systemd in a chroot: the ExecStart lines run as
 * the units' user, with their environment, and are started again when they end, as `Restart=always` does.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readEnvironmentFile } from '../../scripts/command/environment-file.ts';
import type { PackageName } from '../../scripts/command/table.ts';
import { environmentOf, startCommandOf } from '../../scripts/package/units.ts';
import { tail } from '../../scripts/setup/trouble.mjs';

interface Running {
  child: ChildProcess;
  output: string;
  /** Not started again when it ends. */
  isStopped: boolean;
  again: NodeJS.Timeout | null;
}

interface Start {
  readonly argv: readonly string[];
  readonly againMs: number;
}

export class Programs {
  readonly #root: string;
  readonly #network: string;
  readonly #running = new Map<PackageName, Running>();

  constructor(root: string, network: string) {
    this.#root = root;
    this.#network = network;
  }

  async start(program: PackageName): Promise<void> {
    if (this.#running.has(program)) throw new Error(`${program} is started already`);
    const start = await this.#startOf(program);
    const state: Running = { child: this.#spawn(start), output: '', isStopped: false, again: null };
    this.#running.set(program, state);
    this.#follow(state, start);
  }

  /** Whether it was started, and has not ended. */
  isRunning(program: PackageName): boolean {
    const child = this.#running.get(program)?.child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** With SIGTERM. @returns the exit code, and the last lines */
  async stop(program: PackageName): Promise<{ readonly code: number | null; readonly lines: string }> {
    const state = this.#running.get(program);
    if (state === undefined) throw new Error(`${program} was not started`);
    this.#running.delete(program);
    state.isStopped = true;
    if (state.again !== null) clearTimeout(state.again);
    const { child } = state;
    const ended = new Promise<number | null>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) resolve(child.exitCode);
      else child.once('close', resolve);
    });
    child.kill('SIGTERM');
    return { code: await ended, lines: tail(state.output) };
  }

  /** Runs a program that is expected to end by itself. @returns the exit code, and all that it said */
  async runToEnd(program: PackageName): Promise<{ readonly code: number | null; readonly output: string }> {
    const child = this.#spawn(await this.#startOf(program));
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    return { code: await new Promise((resolve) => child.once('close', resolve)), output };
  }

  kill(): void {
    for (const state of this.#running.values()) {
      state.isStopped = true;
      if (state.again !== null) clearTimeout(state.again);
      state.child.kill('SIGKILL');
    }
  }

  /** All that the running ones have said last. */
  output(): string {
    return [...this.#running.values()].map(({ output }) => output).join('\n');
  }

  logs(): string {
    return [...this.#running].map(([program, { output }]) => `${program}:\n${tail(output, 20)}`).join('\n');
  }

  #follow(state: Running, start: Start): void {
    for (const stream of [state.child.stdout, state.child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        state.output = `${state.output}${text}`.slice(-20_000);
      });
    state.child.once('exit', () => {
      if (state.isStopped) return;
      state.again = setTimeout(() => {
        state.child = this.#spawn(start);
        this.#follow(state, start);
      }, start.againMs);
    });
  }

  #spawn({ argv }: Start): ChildProcess {
    return spawn('ip', ['netns', 'exec', this.#network, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] });
  }

  async #startOf(program: PackageName): Promise<Start> {
    const file = join(this.#root, `usr/lib/systemd/system/trunkline-${program}.service`);
    const unit = await readFile(file, 'utf8');
    const line = (name: string) => new RegExp(`^${name}=-?(.*)$`, 'm').exec(unit)?.[1] ?? '';
    if (line('Restart') !== 'always') throw new Error(`${file} has no Restart=always`);
    const settings = readEnvironmentFile(await readFile(join(this.#root, line('EnvironmentFile')), 'utf8'));
    const env = Object.entries({ ...environmentOf(unit), ...settings });
    const ids = [`--reuid=${line('User')}`, `--regid=${line('User')}`, '--init-groups', '--no-new-privs'];
    const words = env.map(([name, value]) => `${name}=${value}`);
    return {
      argv: [
        ...['chroot', this.#root, 'setpriv', ...ids],
        ...['env', '-i', '-C', line('WorkingDirectory'), ...words],
        ...startCommandOf(unit),
      ],
      againMs: Number(line('RestartSec')) * 1000,
    };
  }
}
