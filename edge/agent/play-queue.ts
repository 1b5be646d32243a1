/** Pieces of audio and marks in a queue: more than ten minutes of pieces of 20 ms. */
const mostPieces = 65_536;
/**
 * Sound gathered before it plays on after it has run dry, as frames: 200 ms, and twice as much each further time, up to
 * 1 s. One gap is understood better than a gap after each scrap.
 */
const firstGathered = 10;
const mostGathered = 50;
/** Frames played without a gap after which the source is no longer taken for a slow one. */
const steadyFrames = 200;
/**
 * Frames that gathered sound waits for more where nobody tells the end of the sound: what has come may be its last. A
 * source that makes a fifth of what it should is still heard in stretches of 200 ms.
 */
const longestWait = 50;
/** The same where somebody waits for a mark after it, and may send no more before. */
const longestMarkWait = 10;

/** Audio queued for playback, with marks in between. */
type Item = Int16Array | (() => void);

/**
 * Feeds the 20 ms clock: `read` copies and never allocates. A mark fires in the read after the one that took
 * the last sample before it, which is when that sample has been played.
 */
export class PlayQueue {
  readonly #maxSamples: number;
  readonly #items: Item[] = [];
  /** Marks after samples that the last read took. */
  readonly #due: (() => void)[] = [];
  #head = 0;
  /** Samples already taken from the first item. */
  #taken = 0;
  #queued = 0;
  #played = 0;
  /** Frames to gather when it runs dry; null: more sound of the same kind is not expected, so it does not matter. */
  #nextGathered: number | null = null;
  /** Samples without which it does not play on. */
  #awaited = 0;
  #endIsTold = true;
  /** Frames that it has waited since sound came after a gap. */
  #waited = 0;
  /** Samples taken when it ran dry last. */
  #dryAt = 0;
  #silentFrames = Number.POSITIVE_INFINITY;

  /** @param maxSamples maximum queue length; more is dropped */
  constructor(maxSamples: number) {
    this.#maxSamples = maxSamples;
  }

  /** Samples not yet taken. */
  get queuedSamples(): number {
    return this.#queued;
  }

  /**
   * Whether audio is worth decoding: a full queue takes none until a hundredth of it is free, or the decoding of much
   * audio would be for the few samples that have just been played.
   */
  get hasRoom(): boolean {
    return (this.#maxSamples - this.#queued) * 100 >= this.#maxSamples;
  }

  /** Samples taken so far, in all. */
  get playedSamples(): number {
    return this.#played;
  }

  /** Whether audio is playing or queued. */
  get playing(): boolean {
    return this.#queued > 0 || this.#due.length > 0;
  }

  /** Frames read since sound was last pushed or played; infinite: none has been since the start, or since `clear`. */
  get silentFrames(): number {
    return this.#silentFrames;
  }

  /**
   * Sound that is pushed from now on, until `complete`, belongs together: after a gap some of it is gathered.
   * @param endIsTold whether `complete` is certain to follow; if not, what was gathered plays after a second
   */
  begin(endIsTold = true): void {
    this.#nextGathered = firstGathered;
    this.#awaited = 0;
    this.#endIsTold = endIsTold;
    this.#dryAt = this.#played;
  }

  /** All of it was pushed: what was gathered plays. */
  complete(): void {
    this.#nextGathered = null;
    this.#awaited = 0;
  }

  /** Appends audio, which must not be changed afterwards. Returns how many samples did not fit. */
  push(samples: Int16Array): number {
    // Many pieces of a few samples would take far more memory than the samples.
    const full = this.#items.length - this.#head >= mostPieces;
    const room = full ? 0 : this.#maxSamples - this.#queued;
    const kept = samples.length <= room ? samples : samples.subarray(0, room);
    if (kept.length > 0) {
      this.#items.push(kept);
      this.#queued += kept.length;
      this.#silentFrames = 0;
    }
    return samples.length - kept.length;
  }

  /** Calls `reached` once: when all audio before it has been played or cleared. */
  mark(reached: () => void): void {
    this.#items.push(reached);
  }

  /** Plays once more what was played last. @param samples the last samples that were taken */
  again(samples: Int16Array): void {
    const now = this.#items[this.#head];
    if (this.#taken > 0 && now instanceof Int16Array) this.#items[this.#head] = now.subarray(this.#taken);
    this.#taken = 0;
    this.#items.splice(this.#head, 0, samples);
    this.#queued += samples.length;
    this.#played -= samples.length;
  }

  /** Empties the queue at once; the marks in it fire now, in order. */
  clear(): void {
    const marks = [
      ...this.#due,
      ...this.#items.slice(this.#head).filter((item) => typeof item === 'function'),
    ];
    this.#due.length = 0;
    this.#items.length = 0;
    this.#head = 0;
    this.#taken = 0;
    this.#queued = 0;
    this.#silentFrames = Number.POSITIVE_INFINITY;
    this.complete();
    for (const mark of marks) mark();
  }

  /** Fills `frame` with the next samples, then zeroes. False when there is nothing to play. */
  read(frame: Int16Array): boolean {
    if (this.#due.length > 0) this.#fireDue();
    if (this.#isGathering()) return false;
    const items = this.#items;
    let filled = 0;
    while (this.#head < items.length) {
      const item = items[this.#head];
      if (item === undefined) break;
      if (typeof item === 'function') {
        this.#due.push(item);
        this.#head++;
        continue;
      }
      if (filled === frame.length) break;
      const count = Math.min(frame.length - filled, item.length - this.#taken);
      for (let i = 0; i < count; i++) frame[filled + i] = item[this.#taken + i] ?? 0;
      filled += count;
      this.#taken += count;
      if (this.#taken === item.length) {
        this.#head++;
        this.#taken = 0;
      }
    }
    this.#queued -= filled;
    this.#played += filled;
    if (this.#head === items.length || this.#head > 512) this.#compact();
    if (filled < frame.length) this.#ranDry(frame.length);
    this.#silentFrames = filled > 0 ? 0 : this.#silentFrames + 1;
    if (filled > 0) {
      frame.fill(0, filled);
      return true;
    }
    if (this.#due.length > 0) this.#fireDue();
    return false;
  }

  /** Whether there is too little sound to play on; a mark before any does not wait. */
  #isGathering(): boolean {
    if (this.#queued === 0) return false;
    if (this.#queued < this.#awaited && (this.#endIsTold || !this.#hasWaited())) {
      this.#waited++;
      this.#silentFrames++;
      return true;
    }
    this.#awaited = 0;
    return false;
  }

  #hasWaited(): boolean {
    const isAwaited = typeof this.#items.at(-1) === 'function';
    return this.#waited >= longestWait || (isAwaited && this.#silentFrames >= longestMarkWait);
  }

  #ranDry(frameSamples: number): void {
    if (this.#nextGathered === null || this.#awaited > 0) return;
    if (this.#played - this.#dryAt >= steadyFrames * frameSamples) this.#nextGathered = firstGathered;
    this.#dryAt = this.#played;
    this.#waited = 0;
    this.#awaited = Math.min(this.#nextGathered * frameSamples, this.#maxSamples);
    this.#nextGathered = Math.min(mostGathered, 2 * this.#nextGathered);
  }

  /** A mark may queue more or clear the queue, so each is removed before it is called. */
  #fireDue(): void {
    for (let count = this.#due.length; count > 0; count--) this.#due.shift()?.();
  }

  #compact(): void {
    this.#items.copyWithin(0, this.#head);
    this.#items.length -= this.#head;
    this.#head = 0;
  }
}
