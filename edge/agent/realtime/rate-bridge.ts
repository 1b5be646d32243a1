/** Passes 20 ms frames between an agent's audio and a session's, whose sample rates may differ. */
import { StreamResampler } from '#shared/models/resample.ts';

type Rate = 8000 | 16000;

/** Frames of one rate in, frames of another out; a resampler holds back some samples, which come with the next frame. */
class Reframer {
  readonly #resampler: StreamResampler;
  readonly #out: Int16Array;
  #filled = 0;

  constructor(from: Rate, to: Rate) {
    this.#resampler = new StreamResampler(from, to);
    this.#out = new Int16Array(2 * (to / 50));
  }

  push(frame: Int16Array): void {
    const samples = this.#resampler.push(frame);
    const kept = samples.subarray(0, this.#out.length - this.#filled);
    this.#out.set(kept, this.#filled);
    this.#filled += kept.length;
  }

  /** @returns false when there is no whole frame */
  take(frame: Int16Array): boolean {
    if (this.#filled < frame.length) return false;
    frame.set(this.#out.subarray(0, frame.length));
    this.#out.copyWithin(0, frame.length, this.#filled);
    this.#filled -= frame.length;
    return true;
  }
}

export class RateBridge {
  /** null: the rates are the same */
  readonly #outward: Reframer | null;
  readonly #inward: Reframer | null;
  readonly #own: Int16Array;

  /** @param outer of the agent @param inner of the session */
  constructor(outer: Rate, inner: Rate) {
    this.#outward = outer === inner ? null : new Reframer(inner, outer);
    this.#inward = outer === inner ? null : new Reframer(outer, inner);
    this.#own = new Int16Array(inner / 50);
  }

  /** @param read fills a frame of the session */
  read(frame: Int16Array, read: (own: Int16Array) => boolean): boolean {
    if (!this.#outward) return read(frame);
    if (!read(this.#own)) return false;
    this.#outward.push(this.#own);
    // Of the first frame a part is held back.
    if (!this.#outward.take(frame)) frame.fill(0);
    return true;
  }

  /** @param write takes a frame of the session */
  write(frame: Int16Array, write: (own: Int16Array) => void): void {
    if (this.#inward === null) write(frame);
    else {
      this.#inward.push(frame);
      while (this.#inward.take(this.#own)) write(this.#own);
    }
  }
}
