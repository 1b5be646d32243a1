/**
 * The embedded SIP engine as a child process. It gets one JSON line of configuration on its standard input and
 * says what happens in JSON lines on its standard output. It is started again when it dies.
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

/** What the engine is told when it starts. Files are PEM, by path. */
interface EngineConfig {
  readonly tls: { readonly host: string; readonly port: number; readonly cert: string; readonly key: string };
  readonly wss: { readonly host: string; readonly port: number } | null;
  readonly publicHost: string | null;
  readonly app: { readonly host: string; readonly port: number; readonly secret: string };
  readonly clientTls: {
    readonly ca: string | null;
    /** of client certificates (engine/client-certificates.ts) */
    readonly folder: string | null;
  };
  readonly hep: { readonly host: string; readonly port: number; readonly key?: string | undefined } | null;
  readonly limits: Readonly<Record<string, number>>;
  /** Where the report of a fault goes; absent: to standard error. */
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
  /** The engine listens; after a restart its application port may be another. */
  readonly onReady: (app: { host: string; port: number }) => void;
  readonly onRestart: () => void;
  /** Requests that the engine has refused by itself: their number by source address. */
  readonly onRefusals?: (sources: Readonly<Record<string, number>>) => void;
  /** The ids of all dialogs of the engine, every ten seconds. */
  readonly onDialogs?: (ids: readonly string[]) => void;
  /** The engine cannot work with what it was told; the log has its reason. */
  readonly onUnusable: () => void;
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

const firstPauseMs = 200;
const longestPauseMs = 10_000;
/** A run of this length counts as healthy: the next pause is the shortest again. */
const healthyMs = 30_000;
/** The engine's exit code for a configuration, or a port, that somebody has to correct. */
const exitUnusable = 2;
/** How long the engine may take to end after its input was closed. */
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

  /** What the engine said last of itself. */
  get metrics(): Record<string, number> {
    return this.#metrics;
  }

  start(): void {
    const { program, config, clock, log } = this.#options;
    this.#startedAt = clock.elapsed();
    // Ctrl-C in a terminal goes to the whole group; the engine must outlive it until the last BYE is out.
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
   * Lets the engine know whose connections it must have room for: addresses and CIDR blocks by the organization whose
   * configuration names them. All others share a part of the room.
   */
  know(sources: Readonly<Record<string, readonly string[]>>): void {
    this.#sources = sources;
    this.#tellSources();
  }

  #tellSources(): void {
    this.#child?.stdin.write(`${JSON.stringify({ command: 'sources', sources: this.#sources })}\n`);
  }

  /** Lets the engine know which private networks peers may name by Contact or Record-Route: CIDR blocks. */
  allow(networks: readonly string[]): void {
    this.#allowed = networks;
    this.#tellAllowed();
  }

  #tellAllowed(): void {
    this.#child?.stdin.write(`${JSON.stringify({ command: 'allowed-targets', networks: this.#allowed })}\n`);
  }

  /** Lets the engine read its certificate files again. */
  reloadCertificates(): void {
    this.#child?.stdin.write('{"command":"reload-certificates"}\n');
  }

  /** Lets the engine close all connections that `address` has made, and take no new one of it for so long. */
  block(address: string, seconds: number): void {
    this.#child?.stdin.write(`${JSON.stringify({ command: 'block', address, seconds })}\n`);
  }

  /** Lets the engine end dialogs that no call owns, by BYE. */
  endDialogs(ids: readonly string[]): void {
    this.#child?.stdin.write(`${JSON.stringify({ command: 'end-dialogs', ids })}\n`);
  }

  /** Ends the engine for good: politely, then by force. */
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
