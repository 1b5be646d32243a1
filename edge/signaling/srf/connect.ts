/** The connection to the SIP engine: opened, and reopened with increasing pauses when it is lost. */
import type { Clock, Timer } from '#shared/clock.ts';
import type { Log } from '../../call/log.ts';
import { NoEngine } from './engine-errors.ts';
import {
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
  /** The engine is connected and delivers requests. */
  readonly onUp: (sipAddresses: string[]) => void;
  /** The engine was connected and is lost, with all its dialogs. */
  readonly onDown: () => void;
}

export class EngineLink {
  readonly #options: EngineLinkOptions;
  #address: EngineAddress | null = null;
  #connection: SrfConnection | null = null;
  #retry: Timer | null = null;
  #pauseMs = firstPauseMs;
  #up = false;
  #closed = false;

  constructor(options: EngineLinkOptions) {
    this.#options = options;
  }

  get up(): boolean {
    return this.#up;
  }

  /** Connects to an engine; a restarted engine may have another address. */
  connect(address: EngineAddress): void {
    if (this.#closed) return;
    this.#address = address;
    this.#pauseMs = firstPauseMs;
    if (this.#connection) return;
    this.#retry?.cancel();
    this.#open();
  }

  /** Sends a request outside a dialog. `sent` may be called before this returns. */
  request(request: NewRequest, sent: RequestSent): void {
    if (this.#connection && this.#up) this.#connection.request(request, sent);
    else sent(new NoEngine());
  }

  /** Closes the connection permanently. */
  close(): void {
    this.#closed = true;
    this.#retry?.cancel();
    this.#connection?.close();
    this.#connection = null;
    this.#up = false;
  }

  #open(): void {
    const { log, handle, onUp, routes = true } = this.#options;
    const address = this.#address;
    if (!address) return;
    this.#retry = null;
    this.#connection = openSrf(
      address,
      (request, response) => this.#guarded(handle, request, response),
      (sipAddresses) => {
        this.#up = true;
        this.#pauseMs = firstPauseMs;
        log.info({ engine: `${address.host}:${address.port}`, sip: sipAddresses }, 'SIP engine connected');
        onUp(sipAddresses);
      },
      (cause) => this.#lost(cause),
      routes,
    );
  }

  #lost(cause: Error | null): void {
    const wasUp = this.#up;
    this.#up = false;
    this.#connection?.close();
    this.#connection = null;
    if (this.#closed) return;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(longestPauseMs, pauseMs * 1.7);
    this.#options.log.warn(
      { cause: cause?.message ?? 'closed', retry_ms: Math.round(pauseMs) },
      'SIP engine is not connected',
    );
    this.#retry = this.#options.clock.after(pauseMs, () => this.#open());
    if (wasUp) this.#options.onDown();
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
