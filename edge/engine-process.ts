/**
 * The embedded SIP engine as a child process. It reads one JSON line of configuration from its standard input and
 * reports events as JSON lines on its standard output. It is restarted when it dies.
 *
 *     stopped --start--> starting --ready event--> ready --exit--> waiting --pause over--> starting
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Clock, Timer } from '#shared/clock.ts';
import { type EngineConfiguration, exitUnusable } from '#shared/engine-protocol/configuration.ts';
import {
  type EngineCommand,
  type EngineEvent,
  lineOf,
  readEvent,
  type SourcesByOwner,
  UnusableLine,
} from '#shared/engine-protocol/lines.ts';
import { unoptimizedFlags } from '#shared/optimizers.ts';
import type { EdgeLog } from './log.ts';

export interface EngineProcessOptions {
  /** Path of the engine's program. */
  readonly program: string;
  readonly config: EngineConfiguration;
  readonly clock: Clock;
  readonly log: EdgeLog;
  /** The engine listens; its application port may change after a restart. */
  readonly onReady: (app: { host: string; port: number }) => void;
  readonly onRestart: () => void;
  /** Requests that the engine itself rejected: their number by source address. */
  readonly onRefusals?: (sources: Readonly<Record<string, number>>) => void;
  /** The ids of all dialogs in the engine, every ten seconds. */
  readonly onDialogs?: (ids: readonly string[]) => void;
  /** The engine cannot run with this configuration; the log has its reason. */
  readonly onUnusable: () => void;
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

const firstPauseMs = 200;
const longestPauseMs = 10_000;
/** A run of this length counts as healthy: the restart pause is reset. */
const healthyMs = 30_000;
/** Life of the keys of TLS session tickets: whoever learns them can read the resumed sessions (RFC 9325 section 3.4). */
const ticketKeysMs = 24 * 3_600_000;
/** Time limit for the engine to exit after its input was closed, ms. */
const stopMs = 3_000;

/**
 * Keeps the engine small under load at the same CPU time: 4 MiB of young objects instead of 16 (three times, for V8
 * copies them), and two heaps of malloc for its seven threads instead of one each. Small while it waits, too: it begins
 * without compilers, and turns them on when it is busy.
 */
const lean = {
  flags: ['--max-semi-space-size=4', ...unoptimizedFlags],
  environment: { MALLOC_ARENA_MAX: '2' },
} as const;

export class EngineProcess {
  readonly #options: EngineProcessOptions;
  #child: Child | null = null;
  #restart: Timer | null = null;
  #pauseMs = firstPauseMs;
  #startedAt = 0;
  #stopping = false;
  #wasReady = false;
  #metrics: Record<string, number> = {};
  #sources: SourcesByOwner = {};
  #allowed: readonly string[] = [];
  /** The same for each engine that is started, so that peers resume their sessions after a crash. */
  #ticketKeys = newTicketKeys();
  #newKeys: Timer | null = null;

  constructor(options: EngineProcessOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** The engine's last reported metrics. */
  get metrics(): Record<string, number> {
    return this.#metrics;
  }

  start(): void {
    const { program, config, clock, log } = this.#options;
    this.#startedAt = clock.elapsed();
    // Ctrl-C in a terminal signals the whole process group; the engine must survive it until the last BYE is sent.
    const child = spawn(process.execPath, [...lean.flags, program], {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
      env: { ...lean.environment, ...process.env },
    });
    this.#child = child;
    child.stdin.on('error', (error) => log.debug({ err: error }, 'SIP engine does not read'));
    child.once('error', (error) => log.error({ err: error }, 'SIP engine cannot be started'));
    child.once('close', (code, signal) => this.#ended(child, code, signal));
    createInterface({ input: child.stdout }).on('line', (line) => this.#heard(line));
    child.stdin.write(`${JSON.stringify({ ...config, ticketKeys: this.#ticketKeys })}\n`);
    this.#newKeys ??= clock.after(ticketKeysMs, this.#changeTicketKeys);
    this.know(this.#sources);
    this.allow(this.#allowed);
  }

  /**
   * Sets the sources for which the engine reserves connections: addresses and CIDR blocks by the organization whose
   * configuration names them. All other sources share a part of the room.
   */
  know(sources: SourcesByOwner): void {
    this.#sources = sources;
    this.#command({ command: 'sources', sources });
  }

  /** Sets the private networks that peers may use in Contact or Record-Route: CIDR blocks. */
  allow(networks: readonly string[]): void {
    this.#allowed = networks;
    this.#command({ command: 'allowed-targets', networks });
  }

  /** Makes the engine reload its certificate files. */
  reloadCertificates(): void {
    this.#command({ command: 'reload-certificates' });
  }

  /** Makes the engine close all connections from `address` and reject new ones for `seconds`. */
  block(address: string, seconds: number): void {
    this.#command({ command: 'block', address, seconds });
  }

  /** Makes the engine end dialogs without a call, with BYE. */
  endDialogs(ids: readonly string[]): void {
    this.#command({ command: 'end-dialogs', ids });
  }

  readonly #changeTicketKeys = (): void => {
    this.#ticketKeys = newTicketKeys();
    this.#command({ command: 'ticket-keys', keys: this.#ticketKeys });
    this.#newKeys = this.#options.clock.after(ticketKeysMs, this.#changeTicketKeys);
  };

  #command(command: EngineCommand): void {
    this.#child?.stdin.write(lineOf(command));
  }

  /** Stops the engine permanently: first by closing its input, then by force. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#restart?.cancel();
    this.#newKeys?.cancel();
    const child = this.#child;
    if (!child) return;
    await new Promise<void>((resolve) => {
      const force = this.#options.clock.after(stopMs, () => child.kill('SIGKILL'));
      child.once('close', () => {
        force.cancel();
        resolve();
      });
      child.stdin.end();
    });
  }

  #heard(line: string): void {
    const { log, onReady } = this.#options;
    let event: EngineEvent;
    try {
      event = readEvent(line);
    } catch (error) {
      if (!(error instanceof UnusableLine)) throw error;
      log.warn({ line, problem: error.message }, 'the SIP engine wrote a line that is not an event');
      return;
    }
    switch (event.event) {
      case 'ready':
        log.info({ tls: event.tls }, 'SIP engine listens');
        this.#wasReady = true;
        onReady(event.app);
        break;
      case 'refusals':
        this.#options.onRefusals?.(event.sources);
        break;
      case 'dialogs':
        this.#options.onDialogs?.(event.ids);
        break;
      case 'metrics':
        this.#metrics = event.metrics;
        break;
      case 'log': {
        const { event: _event, level, message, ...fields } = event;
        log[level]({ ...fields, part: 'engine' }, message);
        break;
      }
    }
  }

  #ended(child: Child, code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#child !== child) return;
    this.#child = null;
    this.#metrics = {};
    if (this.#stopping) return;
    const { clock, log, onRestart, onUnusable } = this.#options;
    if (code === exitUnusable && !this.#wasReady) {
      onUnusable();
      return;
    }
    if (clock.elapsed() - this.#startedAt >= healthyMs) this.#pauseMs = firstPauseMs;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(longestPauseMs, pauseMs * 2);
    log.error({ exit_code: code, signal, restart_ms: pauseMs }, 'SIP engine exited, restarting');
    onRestart();
    this.#restart = clock.after(pauseMs, () => this.start());
  }
}

function newTicketKeys(): string {
  return randomBytes(48).toString('base64');
}
