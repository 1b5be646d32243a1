/** The 20 ms exchange between one leg's streams and its endpoint, paced by playout. */
import type { Clock } from '#shared/clock.ts';
import type { AudioEndpoint, DtmfEvent } from '../call/ports/media.ts';
import type { AudioCodec } from './codec/codec.ts';
import { createCodec } from './codec/codecs.ts';
import { KeyMerge, type KeyWay } from './dtmf/key-merge.ts';
import { IncomingAudio } from './incoming-audio.ts';
import type { LegQuality } from './leg-quality.ts';
import { OutgoingAudio } from './outgoing-audio.ts';
import type { SessionPayloads } from './payloads.ts';
import type { PacedLeg, Playout } from './playout.ts';
import { LevelMeter } from './quality/level-meter.ts';
import type { Meters } from './quality/sampling.ts';
import type { NegotiatedAudio } from './sdp/session.ts';

export interface AudioExchangeOptions {
  readonly playout: Playout;
  readonly clock: Clock;
  readonly quality: LegQuality;
  /** A turn threw: the endpoint or a codec is broken. */
  readonly failed: (error: Error) => void;
}

const frameMs = 20;
const noFrame = new Int16Array(0);

export class AudioExchange implements PacedLeg {
  readonly #options: AudioExchangeOptions;
  readonly #clock: Clock;
  #endpoint: AudioEndpoint | null = null;
  #session: NegotiatedAudio | null = null;
  #codec: AudioCodec | null = null;
  #outgoing: OutgoingAudio | null = null;
  #incoming: IncomingAudio | null = null;
  /** Reused buffer: read, then encoded; decoded, then written. */
  #frame = noFrame;
  /** Of a stereo codec, what is encoded instead. */
  #twoSided: Int16Array | null = null;
  #leavePlayout: (() => void) | null = null;
  readonly #keys = new KeyMerge();
  #restsSince: number | null = null;
  #sentBefore = 0;
  #lateBefore = 0;
  readonly #heardLevel = new LevelMeter();
  readonly #sentLevel = new LevelMeter();
  /** Of the turns since the last sample; below 0: there were none. */
  #clockLateMs = -1;
  /** False on hold: time passes, and nothing is sent. */
  sending = true;

  constructor(options: AudioExchangeOptions) {
    this.#options = options;
    this.#clock = options.clock;
  }

  get packetsSent(): number {
    return this.#sentBefore + (this.#outgoing?.packetsSent ?? 0);
  }

  get packetsLate(): number {
    return this.#lateBefore + (this.#incoming?.late ?? 0);
  }

  get playoutDelayMs(): number {
    return this.#incoming?.delayMs ?? 0;
  }

  /** Starts over. */
  takeMeters(): Meters {
    const clockLateMs = this.#clockLateMs < 0 ? null : this.#clockLateMs;
    this.#clockLateMs = -1;
    return { levelReceived: this.#heardLevel.take(), levelSent: this.#sentLevel.take(), clockLateMs };
  }

  /**
   * Uses the streams of a new path.
   * @param receives payload types that the peer sends
   */
  use(
    session: NegotiatedAudio,
    receives: SessionPayloads,
    to: { readonly ssrc: number; readonly send: (packet: Buffer) => void },
  ): void {
    this.#retireStreams();
    this.#restsSince = null;
    const { payloadType, dtmf, clockRate } = session;
    this.#session = session;
    this.#outgoing = new OutgoingAudio({ payloadType, dtmf, clockRate, level: this.#sentLevel, ...to });
    const reception = this.#options.quality.reception(clockRate);
    this.#incoming = new IncomingAudio(receives, reception, (event) => this.pressed('event', event));
    this.#makeCodec();
    this.#pace();
  }

  attach(endpoint: AudioEndpoint | null): void {
    this.#endpoint = endpoint;
    this.#makeCodec();
    this.#pace();
  }

  /** Exchanges nothing until `resume` or the next `use`; queued key presses are dropped. */
  rest(): void {
    this.#restsSince = this.#clock.now();
    this.#outgoing?.end();
    this.#pace();
  }

  /** Resumes after a rest. The stream's time has advanced meanwhile. */
  resume(): void {
    if (this.#restsSince === null) return;
    this.#outgoing?.pause(Math.round((this.#clock.now() - this.#restsSince) / frameMs));
    this.#restsSince = null;
    this.#pace();
  }

  /** An endpoint that throws at a key press ends its own leg: the packets of all legs are read in one go. */
  received(packet: Buffer): void {
    const now = this.#clock.now();
    try {
      if (this.#incoming?.push(packet, now)) this.#options.quality.heard(now);
    } catch (error) {
      this.#options.failed(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** A key press of the peer, which may come both ways. */
  pressed(way: KeyWay, event: DtmfEvent): void {
    if (this.#keys.isNew(way, event, this.#clock.now())) this.#endpoint?.dtmf?.(event);
  }

  /** Resolves after the last key press was sent. @throws RangeError for an invalid key */
  async press(digits: string, clockRate: number): Promise<void> {
    const done = this.#outgoing?.press(digits, clockRate);
    this.#pace();
    await done;
    if (!this.#endpoint) this.#pace();
  }

  tick(lateMs: number): void {
    this.#clockLateMs = Math.max(this.#clockLateMs, lateMs);
    const endpoint = this.#endpoint;
    if (this.sending && this.#codec)
      this.#outgoing?.tick(endpoint, this.#codec, this.#twoSided ?? this.#frame);
    else {
      // On hold the agent keeps speaking, as it does not know about the hold; its audio is discarded.
      endpoint?.read(this.#frame);
      this.#outgoing?.pause(1);
    }
    const now = this.#clock.now();
    this.#incoming?.poll(now);
    if (!endpoint?.write) return;
    this.#incoming?.read(this.#frame, now);
    this.#heardLevel.add(this.#frame);
    endpoint.write(this.#frame);
  }

  skip(count: number): void {
    this.#outgoing?.pause(count);
  }

  failed(error: Error): void {
    this.#leavePlayout = null;
    this.#options.failed(error);
  }

  close(): void {
    this.#endpoint = null;
    this.#session = null;
    this.#leavePlayout?.();
    this.#leavePlayout = null;
    this.#retireStreams();
    this.#codec?.close();
    this.#codec = null;
  }

  #retireStreams(): void {
    this.#sentBefore += this.#outgoing?.packetsSent ?? 0;
    this.#lateBefore += this.#incoming?.late ?? 0;
    this.#outgoing?.end();
    this.#outgoing = null;
    this.#incoming = null;
  }

  /** One codec for both directions, at the endpoint's rate. */
  #makeCodec(): void {
    const { codec: name, fmtp } = this.#session ?? {};
    const rate = this.#endpoint?.sampleRate ?? 8000;
    this.#codec?.close();
    this.#codec = name
      ? createCodec(name, rate, fmtp ?? null, this.#endpoint?.readStereo !== undefined)
      : null;
    if (this.#frame.length !== rate / 50) this.#frame = new Int16Array(rate / 50);
    this.#twoSided = this.#codec?.stereo ? new Int16Array(rate / 25) : null;
    this.#outgoing?.codecChanged();
    this.#incoming?.listen(this.#endpoint?.write ? this.#codec : null);
  }

  /** Takes turns while there is something to exchange. */
  #pace(): void {
    const active = this.#session !== null && this.#restsSince === null;
    const wanted = active && (this.#endpoint !== null || this.#outgoing?.pressing === true);
    if (wanted) this.#leavePlayout ??= this.#options.playout.add(this);
    else {
      this.#leavePlayout?.();
      this.#leavePlayout = null;
    }
  }
}
