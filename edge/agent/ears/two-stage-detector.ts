/**
 * Two stages: WebRTC's detector is cheap and takes much for a voice; what it lets through is judged by Silero.
 *
 *     frame --> gate --closed--> silence
 *                 |                       ring: the last 384 ms, which Silero hears first
 *                 +--open, and for 480 ms after--> chunks of 32 ms at 16 kHz --> Silero
 *
 * Judgements are reported in the order of the sound. The detector waits for a late one, so that noise does not stop an
 * agent on a busy machine. After a second the first stage decides, so that a caller is always heard; it then accepts as
 * a voice only what is louder than anything Silero has called noise on this line.
 */
import { chunkLimits } from './activity.ts';
import { mostFramesLate } from './echo-guard.ts';
import { FirstSound } from './first-sound.ts';
import { LineNoise, rms } from './line-noise.ts';
import type { SileroState, SileroStream } from './silero.ts';
import { chunkSamples } from './silero-messages.ts';
import { Upsampler } from './upsampler.ts';
import type { Judged, VoiceDetector, VoiceDetectors } from './voice-detector.ts';
import type { VoiceGate, WebrtcDetectors } from './webrtc-detector.ts';

const frameMs = 20;
const chunkMs = 32;
/** How sure the gate must be, and for how long it stays open. */
const gateMode = 2;
const hangMs = 480;
/** Chunks before the gate opened that Silero hears first, and how many of these may hold the start of the voice. */
const ringChunks = 12;
const lateChunks = 3;
/** What a yes of the first stage is worth: it starts no voice at once, as Silero can when it is sure. */
const plainYes = 0.45;
/** Time with a closed gate after which Silero forgets the call's sound, ms. */
const forgetsMs = 1000;

/** Silero, as the detectors of calls need it. */
export interface SecondStage {
  readonly state: SileroState;
  open(): SileroStream;
  close(): Promise<void>;
}

export class TwoStageDetectors implements VoiceDetectors {
  readonly limits = chunkLimits;
  readonly #first: WebrtcDetectors;
  readonly #silero: SecondStage;

  constructor(first: WebrtcDetectors, silero: SecondStage) {
    this.#first = first;
    this.#silero = silero;
  }

  /** Once the second stage is loaded, which the first detector begins, and as long as it has not failed. */
  get tellsNoise(): boolean {
    return this.#silero.state === 'ready';
  }

  load(): Promise<void> {
    return this.#first.load();
  }

  create(sampleRate: 8000 | 16000, judged: Judged, firstSound?: () => void): VoiceDetector {
    const gate = this.#first.gate(sampleRate, gateMode);
    const alone = this.#first.create(sampleRate, (ms, yes, ...rest) => judged(ms, yes * plainYes, ...rest));
    return new TwoStageDetector(gate, alone, this.#silero, sampleRate, judged, firstSound);
  }

  /** Ends the thread of the second stage. Safe to call twice. */
  close(): Promise<void> {
    return this.#silero.close();
  }
}

/** A piece of sound, and what is known of it. */
interface Piece {
  readonly ms: number;
  /** The last of its frames. */
  readonly frame: number;
  readonly level: number;
  /** What the first stage says, and whether the sound stands out from the quietest of late. */
  readonly hears: boolean;
  readonly standsOut: boolean;
  /** undefined: not judged yet; null: it will not be */
  probability: number | null | undefined;
}

const unheard = { level: 0, hears: false, standsOut: false };

class TwoStageDetector implements VoiceDetector {
  readonly #gate: VoiceGate;
  /** Judges when Silero cannot be run. */
  readonly #alone: VoiceDetector;
  readonly #silero: SecondStage;
  readonly #stream: SileroStream;
  readonly #judged: Judged;
  readonly #firstSounds = new FirstSound();
  readonly #firstSound: (() => void) | undefined;
  readonly #upsampler: Upsampler | null;
  readonly #noise = new LineNoise();
  /** Samples at 16 kHz that are no whole chunk yet. */
  readonly #samples = new Float32Array(chunkSamples + 320);
  #filled = 0;
  /** The last chunks before the gate opened, and their last frames. */
  #ring: { readonly chunk: Float32Array; readonly frame: number }[] = [];
  #openMs = 0;
  #closedMs = 0;
  #frame = 0;
  /** Pieces that were not told yet, in the order of the sound. */
  #pieces: Piece[] = [];
  #closed = false;

  constructor(
    gate: VoiceGate,
    alone: VoiceDetector,
    silero: SecondStage,
    sampleRate: number,
    judged: Judged,
    firstSound: (() => void) | undefined,
  ) {
    this.#gate = gate;
    this.#alone = alone;
    this.#silero = silero;
    this.#judged = judged;
    this.#firstSound = firstSound;
    this.#upsampler = sampleRate === 8000 ? new Upsampler() : null;
    this.#stream = silero.open();
  }

  write(frame: Int16Array): void {
    if (this.#silero.state === 'failed') {
      this.#pieces = [];
      this.#alone.write(frame);
      return;
    }
    this.#frame++;
    const hears = this.#gate.hears(frame);
    const level = rms(frame);
    const { floor } = this.#noise;
    const standsOut = this.#noise.frame(level);
    if (this.#firstSounds.frame(level, hears, floor)) this.#firstSound?.();
    const wasOpen = this.#openMs > 0;
    this.#openMs = hears ? hangMs : Math.max(0, this.#openMs - frameMs);
    const chunk = this.#take(frame);
    if (this.#openMs === 0) this.#shut(chunk);
    else {
      if (!wasOpen) this.#open();
      const heard = { level, hears, standsOut };
      if (chunk) this.#ask(chunk, { ms: chunkMs, frame: this.#frame, ...heard, probability: undefined });
    }
    this.#tell();
  }

  close(): void {
    this.#closed = true;
    this.#pieces = [];
    this.#gate.close();
    this.#alone.close();
    this.#stream.close();
  }

  #shut(chunk: Float32Array | null): void {
    this.#pieces.push({ ms: frameMs, frame: this.#frame, ...unheard, probability: 0 });
    if (chunk) this.#ring.push({ chunk, frame: this.#frame });
    if (this.#ring.length > ringChunks) this.#ring.shift();
    this.#closedMs += frameMs;
    if (this.#closedMs === forgetsMs) this.#stream.reset();
  }

  #open(): void {
    this.#closedMs = 0;
    const ring = this.#ring;
    this.#ring = [];
    for (const [i, { chunk, frame }] of ring.entries()) {
      if (ring.length - i > lateChunks) this.#stream.write(chunk, () => undefined);
      else this.#ask(chunk, { ms: chunkMs, frame, ...unheard, probability: undefined });
    }
  }

  #ask(chunk: Float32Array, piece: Piece): void {
    this.#pieces.push(piece);
    this.#stream.write(chunk, (probability) => {
      piece.probability = probability;
      this.#tell();
    });
  }

  /** Tells what is known, up to the first piece whose judgement is waited for. */
  #tell(): void {
    for (let piece = this.#pieces[0]; piece && !this.#closed; piece = this.#pieces[0]) {
      const since = this.#frame - piece.frame;
      const { ms, level, hears, standsOut, probability } = piece;
      if (probability === undefined && since < mostFramesLate) return;
      this.#pieces.shift();
      const late = Math.min(since, mostFramesLate);
      if (typeof probability === 'number') {
        this.#noise.judged(ms, level, hears, probability);
        if (this.#firstSounds.judged(probability)) this.#firstSound?.();
        this.#judged(ms, probability, late, this.#noise.much);
      } else {
        const voice = hears && standsOut && this.#noise.isExceeded(level);
        this.#judged(ms, voice ? plainYes : 0, late, false);
      }
    }
  }

  /** Adds a frame. @returns the chunk that is whole now */
  #take(frame: Int16Array): Float32Array | null {
    if (this.#upsampler) this.#upsampler.write(frame, this.#samples, this.#filled);
    else for (let i = 0; i < frame.length; i++) this.#samples[this.#filled + i] = (frame[i] ?? 0) / 32_768;
    this.#filled += 320;
    if (this.#filled < chunkSamples) return null;
    const chunk = this.#samples.slice(0, chunkSamples);
    this.#samples.copyWithin(0, chunkSamples, this.#filled);
    this.#filled -= chunkSamples;
    return chunk;
  }
}
