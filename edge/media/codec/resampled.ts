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
  readonly #sending: Int16Array;
  /** What decoding needs, with the first packet: room for the longest one is most of the leg's memory. */
  #ear: { readonly received: Int16Array; readonly fromInner: Upsampler | Downsampler } | null = null;

  constructor(inner: AudioCodec) {
    this.#inner = inner;
    this.name = inner.name;
    this.clockRate = inner.clockRate;
    this.sampleRate = inner.sampleRate === 8000 ? 16000 : 8000;
    this.samplesPerFrame = this.sampleRate / 50;
    this.#sending = new Int16Array(inner.samplesPerFrame);
    const up = inner.sampleRate === 8000;
    this.#toInner = up ? new Downsampler(this.samplesPerFrame) : new Upsampler(this.samplesPerFrame);
  }

  encode(pcm: Int16Array, out: Uint8Array): number {
    this.#toInner.process(pcm, this.samplesPerFrame, this.#sending);
    return this.#inner.encode(this.#sending, out);
  }

  decode(payload: Uint8Array, out: Int16Array): number {
    const { received, fromInner } = this.#listening();
    return fromInner.process(received, this.#inner.decode(payload, received), out);
  }

  conceal(out: Int16Array, next?: Uint8Array | null): number {
    const { received, fromInner } = this.#listening();
    return fromInner.process(received, this.#inner.conceal(received, next), out);
  }

  duration(payload: Uint8Array): number {
    return this.#inner.duration(payload);
  }

  close(): void {
    this.#inner.close();
  }

  #listening() {
    if (this.#ear) return this.#ear;
    const received = decodeBuffer(this.#inner.sampleRate);
    const up = this.#inner.sampleRate === 8000;
    this.#ear = {
      received,
      fromInner: up ? new Upsampler(received.length) : new Downsampler(received.length),
    };
    return this.#ear;
  }
}
