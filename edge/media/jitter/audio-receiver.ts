/**
 * From packets to 20 ms of PCM: jitter buffer, decoder and concealment for one received stream. Packets may
 * contain 10 to 120 ms; audio beyond one frame is kept for the next.
 */
import { type AudioCodec, decodeBuffer } from '../codec/codec.ts';
import type { RtpView } from '../rtp/packet.ts';
import { JitterBuffer, type JitterCounts } from './jitter-buffer.ts';

export interface AudioReceiverOptions {
  /** Used for decoding only; closed by its owner. */
  readonly codec: AudioCodec;
  /** Depth in frames of 20 ms; default 2 to 10. */
  readonly minFrames?: number;
  readonly maxFrames?: number;
}

export class AudioReceiver {
  readonly #codec: AudioCodec;
  readonly #buffer: JitterBuffer;
  readonly #samplesPerTick: number;
  readonly #decoded: Int16Array;
  /** Decoded samples not yet read: `#decoded` from `#start` to `#end`. */
  #start = 0;
  #end = 0;

  constructor(options: AudioReceiverOptions) {
    const { codec, ...depth } = options;
    this.#codec = codec;
    this.#samplesPerTick = codec.sampleRate / codec.clockRate;
    this.#decoded = decodeBuffer(codec.sampleRate);
    const duration = (payload: Uint8Array) => codec.duration(payload);
    this.#buffer = new JitterBuffer({ clockRate: codec.clockRate, duration, ...depth });
  }

  /** Stores a packet with the codec's payload type; `packet` is copied. @param nowMs any monotonic clock */
  push(view: RtpView, packet: Uint8Array, nowMs: number): void {
    const payload = packet.subarray(view.payloadStart, view.payloadEnd);
    this.#buffer.push(view.ssrc, view.sequence, view.timestamp, payload, nowMs);
  }

  /**
   * Fills `frame`, 20 ms at the codec's rate. Call it every 20 ms.
   * @returns false when the frame is silence because nothing was received for it
   */
  read(frame: Int16Array, nowMs: number): boolean {
    let filled = 0;
    let heard = false;
    while (filled < frame.length) {
      if (this.#start === this.#end && !this.#refill(nowMs)) {
        frame.fill(0, filled);
        return heard;
      }
      const count = Math.min(frame.length - filled, this.#end - this.#start);
      frame.set(this.#decoded.subarray(this.#start, this.#start + count), filled);
      this.#start += count;
      filled += count;
      heard = true;
    }
    return heard;
  }

  /** Delay that the buffer adds, milliseconds. */
  get delayMs(): number {
    return this.#buffer.targetMs;
  }

  get counts(): JitterCounts {
    return this.#buffer.counts;
  }

  /** @returns false when there is nothing to decode or conceal */
  #refill(nowMs: number): boolean {
    this.#start = 0;
    this.#end = 0;
    const pulled = this.#buffer.pull(nowMs);
    if (pulled.kind === 'silence') return false;
    if (pulled.kind === 'frame') this.#end = this.#codec.decode(pulled.payload, this.#decoded);
    if (this.#end > 0) return true;
    // A payload that cannot be decoded counts as a loss too.
    const made = this.#codec.conceal(this.#decoded, pulled.kind === 'lost' ? pulled.next : null);
    const wanted = pulled.kind === 'lost' ? Math.round(pulled.ticks * this.#samplesPerTick) : made;
    this.#end = Math.max(1, Math.min(made, wanted));
    return true;
  }
}
