/** Adapts a codec to the other PCM rate. */
import { type AgentRate, type AudioCodec, decodeBuffer } from './codec.ts';
import { Downsampler, Upsampler } from './resample.ts';

/** Wraps an 8 kHz codec for an agent at 16 kHz, or a 16 kHz codec for an agent at 8 kHz. */
export class Resampled implements AudioCodec {
  readonly name: AudioCodec['name'];
  readonly clockRate: number;
  readonly sampleRate: AgentRate;
  readonly samplesPerFrame: number;
  readonly #inner: AudioCodec;
  readonly #toInner: Upsampler | Downsampler;
  readonly #fromInner: Upsampler | Downsampler;
  readonly #sending: Int16Array;
  readonly #received: Int16Array;

  constructor(inner: AudioCodec) {
    this.#inner = inner;
    this.name = inner.name;
    this.clockRate = inner.clockRate;
    this.sampleRate = inner.sampleRate === 8000 ? 16000 : 8000;
    this.samplesPerFrame = this.sampleRate / 50;
    this.#sending = new Int16Array(inner.samplesPerFrame);
    this.#received = decodeBuffer(inner.sampleRate);
    const longest = this.#received.length;
    const up = inner.sampleRate === 8000;
    this.#toInner = up ? new Downsampler(this.samplesPerFrame) : new Upsampler(this.samplesPerFrame);
    this.#fromInner = up ? new Upsampler(longest) : new Downsampler(longest);
  }

  encode(pcm: Int16Array, out: Uint8Array): number {
    this.#toInner.process(pcm, this.samplesPerFrame, this.#sending);
    return this.#inner.encode(this.#sending, out);
  }

  decode(payload: Uint8Array, out: Int16Array): number {
    const count = this.#inner.decode(payload, this.#received);
    return this.#fromInner.process(this.#received, count, out);
  }

  conceal(out: Int16Array, next?: Uint8Array | null): number {
    const count = this.#inner.conceal(this.#received, next);
    return this.#fromInner.process(this.#received, count, out);
  }

  duration(payload: Uint8Array): number {
    return this.#inner.duration(payload);
  }

  close(): void {
    this.#inner.close();
  }
}
