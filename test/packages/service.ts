/** A program of a machine that runs until it is told to stop, as a unit of systemd would. */
import { type ChildProcess, spawn } from 'node:child_process';
import { tail } from '../../scripts/setup/trouble.mjs';
import { cleanEnvironment, type Machine } from './machine.ts';

const keptOutput = 400_000;

export class Service {
  readonly #child: ChildProcess;
  #output = '';

  /** @param args the program, and its arguments */
  constructor(machine: Machine, [program = '', ...args]: readonly string[]) {
    const [start = '', ...rest] = machine.argvOf(program, args);
    const child = spawn(start, rest, { env: { ...cleanEnvironment }, stdio: 'pipe' });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output = `${this.#output}${text}`.slice(-keptOutput);
      });
    this.#child = child;
  }

  get output(): string {
    return this.#output;
  }

  /** What a person types at it. */
  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** @throws Error with its last lines when it has ended */
  mustRun(): void {
    const { exitCode, signalCode, spawnargs } = this.#child;
    if (exitCode !== null || signalCode !== null)
      throw new Error(
        `${spawnargs.join(' ')} ended with ${exitCode ?? signalCode}\n${tail(this.#output, 40)}`,
      );
  }

  /** Ends it, and what it has started. */
  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.kill('SIGTERM');
    await ended;
  }
}
