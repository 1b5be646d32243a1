/** Keeps one program running: restarts it with growing pauses when it exits, stops it with SIGTERM. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Clock, Timer } from '#shared/clock.ts';
import { failuresAfter, lostLine, restartPause } from './restart-rules.ts';

export interface ProgramOptions {
  readonly name: string;
  /** arguments for this process's Node: flags, the program's file, its own arguments */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /**
   * Called when the program exits unexpectedly, before it is restarted. `isCrash`: by a signal or a fault, so a restart
   * may help; otherwise the program itself reported that it cannot run.
   */
  readonly onLost: (how: string, line: string, isCrash: boolean) => void;
}

/** Exit code after an unexpected fault (shared/fault-guard.ts). */
const exitFault = 70;

export class Program {
  readonly #options: ProgramOptions;
  #child: ChildProcess | null = null;
  #restart: Timer | null = null;
  #failures = 0;
  #stopping = false;

  constructor(options: ProgramOptions) {
    this.#options = options;
  }

  /** Process id while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): void {
    const { args, env, clock } = this.#options;
    const startedAt = clock.now();
    // A separate process group: Ctrl-C in the terminal reaches only the supervisor, which stops the programs in order.
    // setpriv asks the kernel to end the program if the supervisor is killed.
    const [file, ...rest] = [...diesWithParent(), process.execPath, ...args];
    const child = spawn(file ?? process.execPath, rest, {
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    });
    this.#child = child;
    child.once('error', (error) => this.#ended(error.message, startedAt, false));
    child.once('exit', (code, signal) =>
      this.#ended(
        signal ? `was killed by ${signal}` : `ended with exit code ${code}`,
        startedAt,
        signal !== null || code === exitFault,
      ),
    );
  }

  /** Sends SIGTERM and waits for the exit; no restart. A second call sends it again. */
  stop(): Promise<void> {
    this.#stopping = true;
    this.#restart?.cancel();
    const child = this.#child;
    if (!child) return Promise.resolve();
    return new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.kill('SIGTERM');
    });
  }

  /** Kills the program. */
  kill(): void {
    this.#stopping = true;
    this.#child?.kill('SIGKILL');
  }

  #ended(how: string, startedAt: number, isCrash: boolean): void {
    if (!this.#child) return;
    this.#child = null;
    if (this.#stopping) return;
    const { clock, name, onLost } = this.#options;
    this.#failures = failuresAfter(this.#failures, clock.now() - startedAt);
    const pause = restartPause(this.#failures);
    this.#restart = clock.after(pause, () => this.start());
    onLost(how, lostLine(name, how, pause, this.#failures), isCrash);
  }
}

function diesWithParent(): string[] {
  const setpriv = '/usr/bin/setpriv';
  return existsSync(setpriv) ? [setpriv, '--pdeathsig', 'TERM', '--'] : [];
}
