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
import { Prompter } from './supervision/prompter.ts';

export interface LegAudioOptions {
  readonly exchange: AudioExchange;
  readonly quality: LegQuality;
  /** Gets each packet that enters this process. */
  readonly received: (path: SrtpPath, packet: Buffer) => void;
  /** Called when a tap has come or gone, and when a recording begins. */
  readonly tapped: () => void;
  /** What packets from here go through; absent: nothing. */
  readonly way?: PacketWay | undefined;
}

/** Stands between the exchange and what is connected to it. */
export interface Tap {
  tap(endpoint: AudioEndpoint | null): AudioEndpoint;
}

export class LegAudio {
  readonly #options: LegAudioOptions;
  /** The owner's endpoint, also while a bridge replaces it. */
  #endpoint: AudioEndpoint | null = null;
  /** The bridge's endpoint, while there is one. */
  #bridgeEnd: AudioEndpoint | null = null;
  #recorder: LegRecorder | null = null;
  /** The last one is the nearest to the peer. */
  #taps: readonly Tap[] = [];
  readonly #prompters: { near: Prompter | null; far: Prompter | null } = { near: null, far: null };
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
    this.#options.tapped();
  }

  /** Whether a supervisor hears what is exchanged, or says something. */
  get tapped(): boolean {
    return this.#taps.length > 0;
  }

  /** @param on false: no more */
  tap(tap: Tap, on: boolean): void {
    if (this.#closed) return;
    this.#taps = on ? [...this.#taps, tap] : this.#taps.filter((other) => other !== tap);
    this.#reconnect();
    this.#options.tapped();
  }

  /** Says `words`, at 8 kHz, to the leg's peer (near) or to what it is connected to (far). */
  tell(side: 'near' | 'far', words: Int16Array): void {
    const prompter =
      this.#prompters[side] ?? new Prompter(side, () => queueMicrotask(() => this.#told(side)));
    prompter.say(words);
    if (this.#prompters[side] || !prompter.speaks) return;
    this.#prompters[side] = prompter;
    this.tap(prompter, true);
  }

  /** It may have been told more since. */
  #told(side: 'near' | 'far'): void {
    const prompter = this.#prompters[side];
    if (!prompter || prompter.speaks) return;
    this.#prompters[side] = null;
    this.tap(prompter, false);
  }

  #reconnect(): void {
    if (!this.#relayed && !this.#closed) this.#connect(this.#lent ? this.#bridgeEnd : this.#endpoint);
  }

  /** A recording has what the peer hears, and so the supervisor's voice. */
  #connect(endpoint: AudioEndpoint | null): void {
    const heard = this.#taps.reduce<AudioEndpoint | null>((far, tap) => tap.tap(far), endpoint);
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
    return this.#relayed ? null : this.#ear(path);
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

  /** A new function each time: a path knows by it whom it has joined. */
  #ear(path: SrtpPath): (packet: Buffer) => void {
    const { received } = this.#options;
    return (packet) => received(path, packet);
  }

  /** Makes this process an end of the path again, unless it is one. */
  async #tune(): Promise<void> {
    const path = this.#path;
    if (!path || path.atNode) return;
    try {
      await path.joinNode(this.#ear(path));
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
