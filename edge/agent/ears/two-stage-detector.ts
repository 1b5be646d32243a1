/**
 * Two stages: WebRTC's detector is cheap and takes much for a voice; what it lets through is judged by Silero. While
 * Silero cannot judge, the first stage does alone, and is surer of itself then.
 *
 *     frame --> gate --closed--> silence
 *                 |                       ring: the last 384 ms, which Silero hears first
 *                 +--open, and for 480 ms after--> chunks of 32 ms at 16 kHz --> Silero
 */
import { chunkLimits } from './activity.ts';
import type { Silero, SileroStream } from './silero.ts';
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
const plainYes = 0.7;
/** Time with a closed gate after which Silero forgets the call's sound, ms. */
const forgetsMs = 1000;

export class TwoStageDetectors implements VoiceDetectors {
  readonly limits = chunkLimits;
  readonly #first: WebrtcDetectors;
  readonly #silero: Silero;

  constructor(first: WebrtcDetectors, silero: Silero) {
    this.#first = first;
    this.#silero = silero;
  }

  load(): Promise<void> {
    return this.#first.load();
  }

  create(sampleRate: 8000 | 16000, judged: Judged): VoiceDetector {
    const gate = this.#first.gate(sampleRate, gateMode);
    const alone = this.#first.create(sampleRate, (ms, yes) => judged(ms, yes * plainYes));
    return new TwoStageDetector(gate, alone, this.#silero, sampleRate, judged);
  }

  /** Ends the thread of the second stage. Safe to call twice. */
  close(): Promise<void> {
    return this.#silero.close();
  }
}

class TwoStageDetector implements VoiceDetector {
  readonly #gate: VoiceGate;
  /** Judges while Silero cannot. */
  readonly #alone: VoiceDetector;
  readonly #silero: Silero;
  readonly #stream: SileroStream;
  readonly #judged: Judged;
  readonly #upsampler: Upsampler | null;
  /** Samples at 16 kHz that are no whole chunk yet. */
  readonly #samples = new Float32Array(chunkSamples + 320);
  #filled = 0;
  /** The last chunks before the gate opened. */
  #ring: Float32Array[] = [];
  #openMs = 0;
  #closedMs = 0;
  /** Chunks under way whose judgement is of no interest. */
  #unwanted = 0;

  constructor(gate: VoiceGate, alone: VoiceDetector, silero: Silero, sampleRate: number, judged: Judged) {
    this.#gate = gate;
    this.#alone = alone;
    this.#silero = silero;
    this.#judged = judged;
    this.#upsampler = sampleRate === 8000 ? new Upsampler() : null;
    this.#stream = silero.open((probability) => {
      if (this.#unwanted > 0) this.#unwanted--;
      else judged(chunkMs, probability);
    });
  }

  write(frame: Int16Array): void {
    if (this.#silero.state !== 'ready') {
      this.#alone.write(frame);
      return;
    }
    const hears = this.#gate.hears(frame);
    const wasOpen = this.#openMs > 0;
    this.#openMs = hears ? hangMs : Math.max(0, this.#openMs - frameMs);
    const chunk = this.#take(frame);
    if (this.#openMs === 0) this.#closed(chunk);
    else {
      if (!wasOpen) this.#open();
      if (chunk) this.#send(chunk, hears);
    }
  }

  close(): void {
    this.#gate.close();
    this.#alone.close();
    this.#stream.close();
  }

  #closed(chunk: Float32Array | null): void {
    this.#judged(frameMs, 0);
    if (chunk) this.#ring.push(chunk);
    if (this.#ring.length > ringChunks) this.#ring.shift();
    this.#closedMs += frameMs;
    if (this.#closedMs === forgetsMs) this.#stream.reset();
  }

  #open(): void {
    this.#closedMs = 0;
    const ring = this.#ring;
    this.#ring = [];
    const sent = ring.filter((chunk) => this.#stream.write(chunk)).length;
    this.#unwanted += Math.max(0, sent - lateChunks);
  }

  #send(chunk: Float32Array, hears: boolean): void {
    if (!this.#stream.write(chunk)) this.#judged(chunkMs, hears ? plainYes : 0);
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
