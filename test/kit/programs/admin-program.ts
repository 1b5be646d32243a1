/**
 * The command line in a process of its own that runs many commands: a start takes most of a second of CPU, a command a
 * few milliseconds.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { builtProgram } from './built-programs.ts';

export interface CommandInput {
  readonly args: readonly string[];
  readonly dataFolder: string;
}

export interface CommandResult {
  /** As the exit code of `npm run admin`. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export class AdminProgram {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #results: AsyncIterator<string>;

  constructor() {
    const { file, compiled } = builtProgram(join(import.meta.dirname, 'admin-entry.ts'));
    this.#child = spawn(process.execPath, [file], {
      env: { ...process.env, NODE_COMPILE_CACHE: compiled, NODE_NO_WARNINGS: '1' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#results = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Runs one command; await it before the next. */
  async run(dataFolder: string, args: readonly string[]): Promise<CommandResult> {
    const input: CommandInput = { args, dataFolder };
    this.#child.stdin.write(`${JSON.stringify(input)}\n`);
    const { done, value } = await this.#results.next();
    if (done) throw new Error('the command line has ended');
    return JSON.parse(value);
  }

  async end(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.stdin.end();
    await ended;
  }
}
