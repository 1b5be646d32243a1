/**
 * The embedded SIP engine as a child process. It reads one JSON line of configuration from its standard input and
 * reports events as JSON lines on its standard output. It is restarted when it dies.
 *
 *     stopped --start--> starting --ready event--> ready --exit--> waiting --pause over--> starting
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { Clock, Timer } from '#shared/clock.ts';
import type { EdgeLog } from './log.ts';

/** Start-up configuration of the engine. Files are PEM, by path. */
interface EngineConfig {
  readonly tls: { readonly host: string; readonly port: number; readonly cert: string; readonly key: string };
  readonly wss: { readonly host: string; readonly port: number } | null;
  readonly publicHost: string | null;
  readonly app: { readonly host: string; readonly port: number; readonly secret: string };
  readonly clientTls: {
    readonly ca: string | null;
    /** folder of client certificates (engine/client-certificates.ts) */
    readonly folder: string | null;
  };
  readonly hep: { readonly host: string; readonly port: number; readonly key?: string | undefined } | null;
  readonly limits: Readonly<Record<string, number>>;
  /** Folder for fault reports; absent: standard error. */
  readonly dataFolder?: string;
}

const Address = Type.Object({ host: Type.String(), port: Type.Integer() });
const Level = Type.Union([
  Type.Literal('debug'),
  Type.Literal('info'),
  Type.Literal('warn'),
  Type.Literal('error'),
]);
const EngineEvent = Type.Union([
  Type.Object({ event: Type.Literal('ready'), tls: Address, app: Address }),
  Type.Object({ event: Type.Literal('log'), level: Level, message: Type.String() }),
  Type.Object({ event: Type.Literal('refusals'), sources: Type.Record(Type.String(), Type.Integer()) }),
  Type.Object({ event: Type.Literal('dialogs'), ids: Type.Array(Type.String()) }),
  Type.Object({ event: Type.Literal('metrics'), metrics: Type.Record(Type.String(), Type.Number()) }),
]);
type EngineEvent = Static<typeof EngineEvent>;

export interface EngineProcessOptions {
  /** Path of the engine's program. */
  readonly program: string;
  readonly config: EngineConfig;
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
/** The engine's exit code for a configuration or port that needs manual action. */
const exitUnusable = 2;
/** Time limit for the engine to exit after its input was closed, ms. */
const stopMs = 3_000;

export class EngineProcess {
  readonly #options: EngineProcessOptions;
  #child: Child | null = null;
  #restart: Timer | null = null;
  #pauseMs = firstPauseMs;
  #startedAt = 0;
  #stopping = false;
  #wasReady = false;
  #metrics: Record<string, number> = {};
  #sources: Readonly<Record<string, readonly string[]>> = {};
  #allowed: readonly string[] = [];

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
    const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
    this.#child = child;
    child.stdin.on('error', (error) => log.debug({ err: error }, 'SIP engine does not read'));
    child.once('error', (error) => log.error({ err: error }, 'SIP engine cannot be started'));
    child.once('close', (code, signal) => this.#ended(child, code, signal));
    createInterface({ input: child.stdout }).on('line', (line) => this.#heard(line));
    child.stdin.write(`${JSON.stringify(config)}\n`);
    this.#tellSources();
    this.#tellAllowed();
  }

  /**
   * Sets the sources for which the engine reserves connections: addresses and CIDR blocks by the organization whose
   * configuration names them. All other sources share a part of the room.
   */
  know(sources: Readonly<Record<string, readonly string[]>>): void {
    this.#sources = sources;
    this.#tellSources();
  }

  #tellSources(): void {
    this.#child?.stdin.write(`${JSON.stringify({ command: 'sources', sources: this.#sources })}\n`);
  }

  /** Sets the private networks that peers may use in Contact or Record-Route: CIDR blocks. */
  allow(networks: readonly string[]): void {
    this.#allowed = networks;
    this.#tellAllowed();
  }

  #tellAllowed(): void {
    this.#child?.stdin.write(`${JSON.stringify({ command: 'allowed-targets', networks: this.#allowed })}\n`);
  }

  /** Makes the engine reload its certificate files. */
  reloadCertificates(): void {
    this.#child?.stdin.write('{"command":"reload-certificates"}\n');
  }

  /** Makes the engine close all connections from `address` and reject new ones for `seconds`. */
  block(address: string, seconds: number): void {
    this.#child?.stdin.write(`${JSON.stringify({ command: 'block', address, seconds })}\n`);
  }

  /** Makes the engine end dialogs without a call, with BYE. */
  endDialogs(ids: readonly string[]): void {
    this.#child?.stdin.write(`${JSON.stringify({ command: 'end-dialogs', ids })}\n`);
  }

  /** Stops the engine permanently: first by closing its input, then by force. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#restart?.cancel();
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
    const event = parse(line);
    if (!event) {
      log.info({ engine: line }, 'SIP engine says');
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
    log.error({ exit_code: code, signal, restart_ms: pauseMs }, 'SIP engine ended and is started again');
    onRestart();
    this.#restart = clock.after(pauseMs, () => this.start());
  }
}

function parse(line: string): EngineEvent | null {
  try {
    const value: unknown = JSON.parse(line);
    return Value.Check(EngineEvent, value) ? value : null;
  } catch {
    return null;
  }
}
