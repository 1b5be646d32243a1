/** Follows the agent's voice frame by frame: which text sounds, where in it, and when it stops and goes on. */

/** The same frame, softer or faded in, correlates at least this much. */
const alike = 0.75;
/** Time without a packet after which nothing sounds, ms: the edge sends silence too, so the call is gone. */
const missingMs = 1000;

export interface Stretch {
  readonly text: string;
  /** First and last frame of the text that sounded. */
  readonly from: number;
  to: number;
  readonly startedAt: number;
  /** When its last frame ended; while it sounds, that of the last so far. */
  endedAt: number;
  over: boolean;
  /** Whether silence was sent after it; false: it sounds, or nothing arrived any more. */
  silenced: boolean;
  /** Frames that were softer. */
  softer: number;
}

interface Place {
  readonly text: string;
  readonly frame: number;
  readonly soft?: boolean;
}

/** The frames of an agent's texts, for the trackers of all calls with it. */
export class KnownFrames {
  readonly #texts: ReadonlyMap<string, readonly Int16Array[]>;
  /** Frames by their samples. */
  readonly #places = new Map<string, Place>();

  constructor(texts: ReadonlyMap<string, readonly Int16Array[]>) {
    this.#texts = texts;
    for (const [text, frames] of texts)
      for (const [frame, samples] of frames.entries()) this.#places.set(keyOf(samples), { text, frame });
  }

  place(samples: Int16Array): Place | undefined {
    return this.#places.get(keyOf(samples));
  }

  frame(text: string, frame: number): Int16Array | undefined {
    return this.#texts.get(text)?.[frame];
  }

  /** Frames of a text. */
  lengthOf(text: string): number {
    return this.#texts.get(text)?.length ?? 0;
  }
}

export class VoiceTracker {
  readonly #known: KnownFrames;
  /** Stretches of sound without a gap, in order. */
  readonly stretches: Stretch[] = [];
  /** Frames that belong to no text. */
  unknown = 0;
  #lastAt = 0;

  constructor(known: KnownFrames) {
    this.#known = known;
  }

  /** Frames of the text that are to come; 0: nothing sounds. */
  get left(): number {
    const { sounding } = this;
    return sounding ? this.#known.lengthOf(sounding.text) - sounding.to - 1 : 0;
  }

  /** The stretch that sounds now. */
  get sounding(): Stretch | null {
    const last = this.stretches.at(-1);
    return last && !last.over ? last : null;
  }

  get last(): Stretch | null {
    return this.stretches.at(-1) ?? null;
  }

  hear(samples: Int16Array, at: number): void {
    this.#lastAt = at;
    const { sounding } = this;
    if (samples.every((sample) => Math.abs(sample) <= 8)) {
      if (sounding) {
        sounding.over = true;
        sounding.silenced = true;
      }
      return;
    }
    const place = this.#known.place(samples) ?? this.#expected(samples);
    if (!place) this.unknown++;
    else if (sounding && sounding.text === place.text && sounding.to + 1 === place.frame) {
      sounding.to = place.frame;
      sounding.endedAt = at + 20;
      if (place.soft) sounding.softer++;
    } else {
      if (sounding) sounding.over = true;
      const { text, frame } = place;
      this.stretches.push({
        text,
        from: frame,
        to: frame,
        startedAt: at,
        endedAt: at + 20,
        over: false,
        silenced: false,
        softer: 0,
      });
    }
  }

  /** Time passes. */
  pass(now: number): void {
    const { sounding } = this;
    if (sounding && now - this.#lastAt > missingMs) sounding.over = true;
  }

  /** The next frame of the text, changed. */
  #expected(samples: Int16Array): Place | null {
    const { last } = this;
    if (!last) return null;
    const frame = last.to + 1;
    const expected = this.#known.frame(last.text, frame);
    return expected && correlation(samples, expected) > alike ? { text: last.text, frame, soft: true } : null;
  }
}

function keyOf(samples: Int16Array): string {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength).toString('latin1');
}

function correlation(one: Int16Array, other: Int16Array): number {
  let product = 0;
  let a = 1;
  let b = 1;
  for (let i = 0; i < one.length; i++) {
    const [x, y] = [one[i] ?? 0, other[i] ?? 0];
    product += x * y;
    a += x * x;
    b += y * y;
  }
  return product / Math.sqrt(a * b);
}
