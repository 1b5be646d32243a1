/**
 * The endpoint that speaks and listens on a leg.
 *
 *                cross()                     standAside()
 *     owner ---------------> bridge's end <----------------> nobody here: the worker passes packets on
 *       ^                         |            cross()                     |
 *       +-------------------------+----------------------------------------+
 *                              giveBack()
 */
import type { AudioEndpoint, PacketWay } from '../call/ports/media.ts';
import type { AudioExchange } from './audio-exchange.ts';
import type { LegQuality } from './leg-quality.ts';
import type { LegRecorder } from './recording/leg-recorder.ts';
import type { NegotiatedAudio } from './sdp/session.ts';
import type { SrtpPath } from './srtp-path.ts';
import type { SupervisorDesk } from './supervision/desk.ts';

export interface LegAudioOptions {
  readonly exchange: AudioExchange;
  readonly quality: LegQuality;
  /** Gets each packet that enters this process. */
  readonly received: (path: SrtpPath, packet: Buffer) => void;
  /** What packets from here go through; absent: nothing. */
  readonly way?: PacketWay | undefined;
}

export class LegAudio {
  readonly #options: LegAudioOptions;
  /** The owner's endpoint, also while a bridge replaces it. */
  #endpoint: AudioEndpoint | null = null;
  /** The bridge's endpoint, while there is one. */
  #bridgeEnd: AudioEndpoint | null = null;
  #recorder: LegRecorder | null = null;
  /** The last one is the nearest to the peer. */
  #desks: readonly SupervisorDesk[] = [];
  #lent = false;
  #relayed = false;
  #path: SrtpPath | null = null;
  #session: NegotiatedAudio | null = null;
  /** The path whose streams the exchange uses. */
  #exchanged: SrtpPath | null = null;
  #closed = false;

  constructor(options: LegAudioOptions) {
    this.#options = options;
  }

  /** Whether packets bypass this process. */
  get relayed(): boolean {
    return this.#relayed;
  }

  /** Sets the owner's endpoint; used later while a bridge replaces it. */
  attach(endpoint: AudioEndpoint | null): void {
    this.#endpoint = endpoint;
    if (!this.#lent) this.#connect(endpoint);
  }

  /** Records what is exchanged from now on. */
  record(recorder: LegRecorder): void {
    this.#recorder = recorder;
    this.#reconnect();
  }

  /** Whether a supervisor hears what is exchanged. */
  get supervised(): boolean {
    return this.#desks.length > 0;
  }

  /** @param on false: no more */
  supervise(desk: SupervisorDesk, on: boolean): void {
    this.#desks = on ? [...this.#desks, desk] : this.#desks.filter((other) => other !== desk);
    this.#reconnect();
  }

  #reconnect(): void {
    if (!this.#relayed && !this.#closed) this.#connect(this.#lent ? this.#bridgeEnd : this.#endpoint);
  }

  /** A recording has what the peer hears, and so the supervisor's voice. */
  #connect(endpoint: AudioEndpoint | null): void {
    const heard = this.#desks.reduce<AudioEndpoint | null>((far, desk) => desk.tap(far), endpoint);
    this.#options.exchange.attach(heard && (this.#recorder?.tap(heard) ?? heard));
  }

  /** From now on a bridge controls the audio. */
  lend(): void {
    this.#lent = true;
  }

  /** Exchanges audio with the bridge's endpoint. */
  async cross(endpoint: AudioEndpoint): Promise<void> {
    if (this.#closed) return;
    this.#relayed = false;
    this.#bridgeEnd = endpoint;
    this.#connect(endpoint);
    await this.#tune();
  }

  /** Lets packets bypass this process. */
  standAside(): void {
    if (this.#closed || this.#relayed) return;
    this.#relayed = true;
    this.#bridgeEnd = null;
    this.#options.exchange.attach(null);
    this.#options.exchange.rest();
    this.#path?.leaveNode();
  }

  /** Connects audio to the owner's endpoint again. */
  async giveBack(): Promise<void> {
    this.#lent = false;
    this.#bridgeEnd = null;
    if (this.#closed) return;
    this.#relayed = false;
    this.#connect(this.#endpoint);
    await this.#tune();
  }

  /** Where a new path should deliver packets; null: they do not enter this process. */
  earFor(path: SrtpPath): ((packet: Buffer) => void) | null {
    return this.#relayed ? null : (packet) => this.#options.received(path, packet);
  }

  /** Moves the leg's packets to `path`, which is already carried. */
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
      // A re-INVITE has moved the leg to another path, which is set up separately.
      if (path.closed || path !== this.#path) return;
      throw error;
    }
    if (this.#closed || this.#relayed || path !== this.#path || !this.#session) return;
    this.#exchangeOver(path, this.#session);
  }

  #exchangeOver(path: SrtpPath, session: NegotiatedAudio): void {
    const { exchange, quality, way } = this.#options;
    quality.relayEnded();
    if (this.#exchanged === path) exchange.resume();
    else {
      const pass = (packet: Buffer) => path.send(packet);
      const send = way ? (packet: Buffer) => way.send(packet, pass) : pass;
      exchange.use(session, path.receives ?? session, { ssrc: path.ssrc, send });
    }
    this.#exchanged = path;
  }
}
