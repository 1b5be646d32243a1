/** The connection to the SIP engine: opened, and reopened with increasing pauses when it is lost. */
import type { Clock, Timer } from '#shared/clock.ts';
import { LogThinning } from '#shared/log-thinning.ts';
import { Stateful } from '#shared/state-machine.ts';
import type { Log } from '../../call/log.ts';
import { NoEngine } from './engine-errors.ts';
import { engineLink } from './engine-link-state.ts';
import {
  type ConnectedEngine,
  type EngineAddress,
  type NewRequest,
  openSrf,
  type RequestSent,
  type SrfConnection,
  type SrfHandler,
} from './srf.ts';

const firstPauseMs = 200;
const longestPauseMs = 5_000;

export interface EngineLinkOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly handle: SrfHandler;
  /** Whether requests outside dialogs are delivered to us. Default: they are. */
  readonly routes?: boolean;
  /** A frame was not sent, because the engine cannot take one so long. */
  readonly tooLong?: () => void;
  /** The engine is connected and delivers requests. */
  readonly onUp: (engine: ConnectedEngine) => void;
  /** The engine was connected and is lost, with all its dialogs. */
  readonly onDown: () => void;
}

export class EngineLink {
  readonly #options: EngineLinkOptions;
  readonly #link = new Stateful(engineLink, 'idle');
  #address: EngineAddress | null = null;
  #connection: SrfConnection | null = null;
  #retry: Timer | null = null;
  readonly #tooLongLines = new LogThinning();
  #pauseMs = firstPauseMs;

  constructor(options: EngineLinkOptions) {
    this.#options = options;
  }

  get up(): boolean {
    return this.#link.is('up');
  }

  /** Connects to an engine; a restarted engine may have another address. */
  connect(address: EngineAddress): void {
    this.#address = address;
    this.#pauseMs = firstPauseMs;
    this.#link.take('connect', {
      'cancel retry': () => this.#retry?.cancel(),
      open: () => this.#open(address),
    });
  }

  /** Sends a request outside a dialog. `sent` may be called before this returns. */
  request(request: NewRequest, sent: RequestSent): void {
    if (this.#connection && this.up) this.#connection.request(request, sent);
    else sent(new NoEngine());
  }

  /** Closes the connection permanently. */
  close(): void {
    this.#link.take('close', {
      'cancel retry': () => this.#retry?.cancel(),
      drop: () => this.#drop(),
    });
  }

  #open(address: EngineAddress): void {
    this.#connection = openSrf(
      address,
      (request, response) => this.#guarded(this.#options.handle, request, response),
      (engine) => this.#link.take('connected', { 'report up': () => this.#reportUp(address, engine) }),
      (cause) => this.#lost(cause),
      { routes: this.#options.routes ?? true, tooLong: (octets) => this.#tooLong(octets) },
    );
  }

  #reportUp({ host, port }: EngineAddress, engine: ConnectedEngine): void {
    this.#pauseMs = firstPauseMs;
    const { sipAddresses: sip, version } = engine;
    this.#options.log.info({ engine: `${host}:${port}`, version, sip }, 'SIP engine connected');
    this.#options.onUp(engine);
  }

  #lost(cause: Error | null): void {
    this.#link.take('lost', {
      drop: () => this.#drop(),
      'retry later': () => this.#retryLater(cause),
      'report down': this.#options.onDown,
    });
  }

  #tooLong(octets: number): void {
    const { clock, log, tooLong } = this.#options;
    tooLong?.();
    const line = this.#tooLongLines.next('', clock.elapsed());
    if (line)
      log.warn({ octets, left_out: line.leftOut }, 'a message was not sent: too long for drachtio-server');
  }

  #drop(): void {
    const connection = this.#connection;
    this.#connection = null;
    connection?.close();
  }

  #retryLater(cause: Error | null): void {
    const { clock, log } = this.#options;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(longestPauseMs, pauseMs * 1.7);
    log.warn(
      { cause: cause?.message ?? 'closed', retry_ms: Math.round(pauseMs) },
      'SIP engine is not connected',
    );
    this.#retry = clock.after(pauseMs, () =>
      this.#link.take('retry', { open: () => this.#address && this.#open(this.#address) }),
    );
  }

  /** An exception in a handler would end the process inside drachtio-srf's socket reader. */
  #guarded(handle: SrfHandler, ...[request, response]: Parameters<SrfHandler>): void {
    try {
      handle(request, response);
    } catch (error) {
      this.#options.log.error({ err: error, method: request.method }, 'a SIP request could not be handled');
      if (request.method !== 'ACK' && !response.finalResponseSent) response.send(500, {});
    }
  }
}
