/**
 * Who speaks and listens on a leg.
 *
 *                cross()                     standAside()
 *     owner ---------------> bridge's end <----------------> nobody here: the worker passes packets on
 *       ^                         |            cross()                     |
 *       +-------------------------+----------------------------------------+
 *                              giveBack()
 */
import type { AudioEndpoint } from '../call/ports/media.ts';
import type { AudioExchange } from './audio-exchange.ts';
import type { LegQuality } from './leg-quality.ts';
import type { NegotiatedAudio } from './sdp/session.ts';
import type { SrtpPath } from './srtp-path.ts';

export interface LegAudioOptions {
  readonly exchange: AudioExchange;
  readonly quality: LegQuality;
  /** Gets each packet that comes into this process. */
  readonly received: (path: SrtpPath, packet: Buffer) => void;
}

export class LegAudio {
  readonly #options: LegAudioOptions;
  /** The owner's, whether or not a bridge stands in its place. */
  #endpoint: AudioEndpoint | null = null;
  #lent = false;
  #relayed = false;
  #path: SrtpPath | null = null;
  #session: NegotiatedAudio | null = null;
  /** The path whose streams the exchange has. */
  #exchanged: SrtpPath | null = null;
  #closed = false;

  constructor(options: LegAudioOptions) {
    this.#options = options;
  }

  /** Whether packets pass this process by. */
  get relayed(): boolean {
    return this.#relayed;
  }

  /** Takes the owner's endpoint, for later while a bridge stands in its place. */
  attach(endpoint: AudioEndpoint | null): void {
    this.#endpoint = endpoint;
    if (!this.#lent) this.#options.exchange.attach(endpoint);
  }

  /** From now on a bridge says who speaks. */
  lend(): void {
    this.#lent = true;
  }

  /** Exchanges audio with the bridge's endpoint. */
  async cross(endpoint: AudioEndpoint): Promise<void> {
    if (this.#closed) return;
    this.#relayed = false;
    this.#options.exchange.attach(endpoint);
    await this.#tune();
  }

  /** Lets packets pass this process by. */
  standAside(): void {
    if (this.#closed || this.#relayed) return;
    this.#relayed = true;
    this.#options.exchange.attach(null);
    this.#options.exchange.rest();
    this.#path?.leaveNode();
  }

  /** Audio goes to and from the owner's endpoint again. */
  async giveBack(): Promise<void> {
    this.#lent = false;
    if (this.#closed) return;
    this.#relayed = false;
    this.#options.exchange.attach(this.#endpoint);
    await this.#tune();
  }

  /** Where the packets of a path that begins should come in: null, nowhere in this process. */
  earFor(path: SrtpPath): ((packet: Buffer) => void) | null {
    return this.#relayed ? null : (packet) => this.#options.received(path, packet);
  }

  /** The leg's packets go over `path` now, which is carried. */
  async move(path: SrtpPath, session: NegotiatedAudio): Promise<void> {
    this.#path = path;
    this.#session = session;
    if (this.#relayed) path.leaveNode();
    else if (path.atNode) this.#exchangeOver(path, session);
    else await this.#tune();
  }

  close(): void {
    this.#closed = true;
    this.#options.exchange.close();
  }

  /** Makes this process an end of the path again, unless it is one. */
  async #tune(): Promise<void> {
    const path = this.#path;
    if (!path || path.atNode) return;
    try {
      await path.joinNode((packet) => this.#options.received(path, packet));
    } catch (error) {
      // A re-INVITE has moved the leg to another path, which is tuned by itself.
      if (path.closed || path !== this.#path) return;
      throw error;
    }
    if (this.#closed || this.#relayed || path !== this.#path || !this.#session) return;
    this.#exchangeOver(path, this.#session);
  }

  #exchangeOver(path: SrtpPath, session: NegotiatedAudio): void {
    const { exchange, quality } = this.#options;
    quality.relayEnded();
    if (this.#exchanged === path) exchange.resume();
    else {
      const send = (packet: Buffer) => path.send(packet);
      exchange.use(session, path.receives ?? session, { ssrc: path.ssrc, send });
    }
    this.#exchanged = path;
  }
}
