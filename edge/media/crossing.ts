/**
 * Two endpoints connected to each other: what is written to one is read from the other.
 *
 *     leg one -> decode -> write |queue| read -> encode -> leg other
 *     leg one <- encode <- read |queue| write <- decode <- leg other
 *
 * One clock paces both legs, so each queue gets and gives one frame per 20 ms and cannot drift. The jitter
 * buffers in front absorb differences between the peers' clocks.
 */
import type { CodecName } from '#shared/codecs.ts';
import type { AudioEndpoint, DtmfEvent } from '../call/ports/media.ts';

/** One more than the turns that playout catches up after a stall: one leg's may all run before the other's. */
const roomFrames = 6;
/** Consecutive reads that left a frame behind, after which that frame is only delay: half a second. */
const patience = 25;

const wideband: ReadonlySet<CodecName> = new Set(['Opus', 'G.722']);

/** PCM frames on their way from one leg to the other. Allocates nothing per frame. */
export class FrameQueue {
  readonly #frames: readonly Int16Array[];
  readonly #silent: boolean[] = [];
  #first = 0;
  #length = 0;
  #leftOver = 0;

  /** @param samples per frame */
  constructor(samples: number) {
    this.#frames = Array.from({ length: roomFrames }, () => new Int16Array(samples));
  }

  get length(): number {
    return this.#length;
  }

  /** Stores a copy; drops the oldest frame when there is no room. */
  push(frame: Int16Array): void {
    if (this.#length === roomFrames) this.#drop();
    const place = (this.#first + this.#length) % roomFrames;
    this.#frames[place]?.set(frame);
    this.#silent[place] = frame.every((sample) => sample === 0);
    this.#length++;
  }

  /** Fills `frame` with the oldest one. @returns false when there is none, or when it is silence */
  shift(frame: Int16Array): boolean {
    if (this.#length === 0) {
      this.#leftOver = 0;
      return false;
    }
    this.#leftOver = this.#length > 1 ? this.#leftOver + 1 : 0;
    if (this.#leftOver > patience) {
      this.#leftOver = 0;
      this.#drop();
    }
    const next = this.#frames[this.#first];
    const silent = this.#silent[this.#first] ?? true;
    if (next) frame.set(next);
    this.#drop();
    return !silent;
  }

  clear(): void {
    this.#length = 0;
    this.#leftOver = 0;
  }

  #drop(): void {
    this.#first = (this.#first + 1) % roomFrames;
    this.#length--;
  }
}

/** The PCM rate that preserves the most quality between two codecs. */
export function crossingRate(one: CodecName, other: CodecName): AudioEndpoint['sampleRate'] {
  return wideband.has(one) && wideband.has(other) ? 16_000 : 8000;
}

/**
 * @param pressed receives one leg's key presses for the other
 * @returns the endpoints for the one leg and for the other
 */
export function crossing(
  sampleRate: AudioEndpoint['sampleRate'],
  pressed: { ofOne(event: DtmfEvent): void; ofOther(event: DtmfEvent): void },
): readonly [AudioEndpoint, AudioEndpoint] {
  const toOther = new FrameQueue(sampleRate / 50);
  const toOne = new FrameQueue(sampleRate / 50);
  const end = (from: FrameQueue, to: FrameQueue, dtmf: (event: DtmfEvent) => void): AudioEndpoint => ({
    sampleRate,
    read: (frame) => from.shift(frame),
    write: (frame) => to.push(frame),
    dtmf,
  });
  return [end(toOne, toOther, pressed.ofOne), end(toOther, toOne, pressed.ofOther)];
}
