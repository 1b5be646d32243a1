/** One program under test: started, watched, killed, all by its process id. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ControlOptions } from '../../../control/program.ts';
import type { EdgeOptions } from '../../../edge/start/context.ts';
import { collectorFlag, nodeFlags, wasmCodeFlag } from '../../../scripts/supervisor/node-flags.ts';
import { builtProgram, giveFirstData, isTest } from './built-programs.ts';
import { witness } from './eventually.ts';
import { family } from './processes.ts';

const root = join(import.meta.dirname, '..', '..', '..');
/** Output kept for failure messages, characters. */
const keptOutput = 20_000;
/** Of it, what errors of the kit show. */
const shownOutput = 4_000;
/** What each says when it can be reached. */
const readyLine = { control: 'control plane is listening', edge: 'edge is ready' } as const;
/** Time-out for the end of a program: longer than it drains, shorter than that of a hook. */
const endLimitMs = 150_000;

export class TestProgram {
  readonly name: 'control' | 'edge';
  readonly #file: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #args: readonly string[];
  #child: ChildProcess | null = null;
  #output = '';
  #isReady = false;
  #closed: Promise<unknown> = Promise.resolve();
  #family = new Set<number>();
  /** It was told to end. */
  #isEnding = false;
  /** How it ended by itself; null: it did not. */
  #fault: string | null = null;

  private constructor(name: 'control' | 'edge', env: NodeJS.ProcessEnv, options: object) {
    this.name = name;
    // The product's own file, unless the test replaces limits.
    const isProduct = Object.keys(options).length === 0;
    this.#file = isProduct ? join(root, name, 'main.ts') : join(import.meta.dirname, `${name}-entry.ts`);
    this.#env = env;
    this.#args = isProduct ? [] : [JSON.stringify(options)];
  }

  static control(env: NodeJS.ProcessEnv, options: ControlOptions = {}): TestProgram {
    return new TestProgram('control', env, options);
  }

  static edge(env: NodeJS.ProcessEnv, options: EdgeOptions = {}): TestProgram {
    return new TestProgram('edge', env, options);
  }

  /** @throws Error when it does not run */
  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.name} does not run\n${this.#output}`);
    return pid;
  }

  get running(): boolean {
    return this.#child !== null;
  }

  /** Whether it has said since its start that it can be reached. To ask it sooner takes CPU that its start needs. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** The end of its output. */
  get output(): string {
    return this.#output;
  }

  /** How it ended though nobody told it to, with its output; null: it did not. */
  get fault(): string | null {
    return this.#fault === null ? null : `${this.name}${this.#fault}\n${this.#output}`;
  }

  /** Resolves when it has ended and all its output is in `output`. */
  get closed(): Promise<unknown> {
    return this.#closed;
  }

  /** Every process it ever was or started, as far as {@link noteFamily} saw. */
  get everStarted(): ReadonlySet<number> {
    return this.#family;
  }

  start(): void {
    const { file, env } = isTest ? this.#built() : { file: this.#file, env: this.#env };
    // With either flag Node compiles its own modules again in each thread, an eighth of a start. A built program has no
    // TypeScript to read, and its threads call keepWasmCode() themselves; how soon garbage is collected, no test sees.
    const flags = nodeFlags[this.name].filter(
      (flag) => !isTest || (flag !== wasmCodeFlag && flag !== collectorFlag),
    );
    const child = spawn(process.execPath, [...flags, file, ...this.#args], {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    const keep = (chunk: Buffer) => {
      const text = chunk.toString('utf8');
      this.#output = (this.#output + text).slice(-keptOutput);
      if (this.#child !== child || this.#isReady) return;
      said += text;
      this.#isReady = said.includes(readyLine[this.name]);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    this.#closed = once(child, 'close');
    this.#isEnding = false;
    const end = witness(
      () => `${this.name}${this.#fault ?? ''} said last:\n${this.#output.slice(-shownOutput)}`,
    );
    child.once('exit', (code, signal) => {
      if (this.#isEnding) end();
      else this.#fault = ` (which ended with ${signal ?? code})`;
      if (this.#child === child) this.#child = null;
    });
    this.#child = child;
    this.#isReady = false;
  }

  #built(): { file: string; env: NodeJS.ProcessEnv } {
    const { DATABASE_URL, TRUNKLINE_DATA } = this.#env;
    if (this.name === 'control' && DATABASE_URL === undefined && TRUNKLINE_DATA !== undefined)
      giveFirstData(TRUNKLINE_DATA);
    const { file, compiled } = builtProgram(this.#file);
    return { file, env: { ...this.#env, NODE_COMPILE_CACHE: compiled } };
  }

  /** Records the current processes, for the final check that none is left. */
  noteFamily(): number[] {
    const members = this.#child?.pid === undefined ? [] : family(this.#child.pid);
    for (const pid of members) this.#family.add(pid);
    return members;
  }

  /**
   * Sends a signal and waits for the end.
   * @returns exit code, null when a signal ended it
   * @throws Error with its output when it does not end; it and its children are then killed
   */
  end(signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT'): Promise<number | null> {
    this.noteFamily();
    this.#isEnding = true;
    const child = this.#child;
    if (!child) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => {
        for (const pid of this.noteFamily()) killed(pid);
        reject(
          new Error(`${this.name} did not end within ${endLimitMs} ms after ${signal}\n${this.#output}`),
        );
      }, endLimitMs);
      child.once('exit', (code) => {
        clearTimeout(limit);
        resolve(code);
      });
      child.kill(signal);
    });
  }
}

function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}
