/**
 * Tells a caller's voice from our own sound that leaks back through the caller's telephone. Level alone cannot: a weak
 * hybrid returns more than a quiet caller says. So what was received is correlated with what was sent before.
 *
 *     received ---(window)---\
 *                             correlate over lags of 0 to 400 ms --> echo | a voice of the caller
 *     sent -----(history)----/             |
 *                                     learned gain --> the level that a caller must exceed
 */
import { Fourier } from './fourier.ts';
import { ReturnLevel } from './return-level.ts';

/** Rate at which sound is compared, Hz: what an echo and its source have in common is below 2 kHz. */
const rate = 4000;
const perMs = rate / 1000;
const frameSamples = 20 * perMs;
/** Received sound that is compared, and the longest way there and back, samples. */
const windowSamples = 256 * perMs;
const lagSamples = 400 * perMs;
const historySamples = windowSamples + lagSamples;
/** Raises what is high, so that the loud low part of voices, which all voices share, does not decide. */
const emphasis = 0.9;
/** Correlation from which sound is an echo, and from which its gain is learned. */
const echoes = 0.35;
const certain = 0.5;
/** Echoes that are remembered, and how many of them are needed to rely on them. */
const remembered = 15;
const needed = 3;
/** How far an echo may be from where the remembered ones were, samples. */
const nearby = 8 * perMs;
/** Judgements after which an echo is looked for everywhere again: its way may have become longer. */
const lookAgainAfter = 10;
/**
 * dB, relative to what was sent, above which a likeness is chance: two voices are alike at some lag, and no telephone
 * returns nearly all that it gets.
 */
const loudestEchoDb = -8;
/** dB above the expected echo from which a sound is the caller's, and the echo that is expected before one was heard. */
const marginDb = 6;
const unknownGainDb = -21;
/** Sound sent within this time can come back. */
const returnsMs = 400;
/** Level of silence: below it nothing was sent. */
const silent = 20;
/** Frames for which a judgement may be late: as long it is remembered what was sent and received. */
export const mostFramesLate = 50;

const fourier = new Fourier(4096);
/** Filled and read in one call of `isEcho`, so one of each serves all calls of a thread. */
const re = new Float64Array(fourier.size);
const im = new Float64Array(fourier.size);
/** Energy sent before each place of the history. */
const sums = new Float64Array(historySamples + 1);

interface Echo {
  /** Place in the sent sound at which it begins. */
  readonly from: number;
  readonly gainDb: number;
}

interface Match {
  readonly from: number;
  readonly correlation: number;
}

export class EchoGuard {
  readonly #sent = new Line(historySamples);
  readonly #received = new Line(windowSamples);
  readonly #return = new ReturnLevel(frameSamples);
  readonly #echoes: Echo[] = [];
  /** Since something audible was sent. */
  #silentMs = Number.POSITIVE_INFINITY;
  #judged = 0;

  /** Takes the 20 ms that are sent to the caller; null: silence. */
  sent(frame: Int16Array | null): void {
    const level = this.#sent.append(frame);
    this.#return.sent(this.#sent.energy);
    this.#silentMs = level > silent ? 0 : this.#silentMs + 20;
  }

  /** Takes the 20 ms that were received at the same time. */
  received(frame: Int16Array): void {
    this.#received.append(frame);
    this.#return.received(this.#received.energy);
  }

  /** Whether what was received just now is too loud to be our own: known at once, but only where little comes back. */
  get isOthers(): boolean {
    return this.#return.isExceeded;
  }

  /**
   * Whether sound that was received, and that is a voice, is our own.
   * @param since frames that were received after it
   */
  isEcho(since = 0): boolean {
    if (this.#silentMs > returnsMs + since * 20) return false;
    this.#sent.lookBack(since);
    this.#received.lookBack(since);
    const receivedEnergy = this.#sumUp();
    const known = this.#known();
    const near = known && this.#near(known.from, receivedEnergy);
    let match = near;
    if (!match || (match.correlation < echoes && ++this.#judged % lookAgainAfter === 0)) {
      const anywhere = everywhere(this.#sent.samples, this.#received.samples, receivedEnergy);
      if (anywhere.correlation >= certain && couldBe(anywhere, receivedEnergy))
        this.#learn(anywhere, receivedEnergy);
      match ??= anywhere;
    } else if (match.correlation >= certain && couldBe(match, receivedEnergy))
      this.#learn(match, receivedEnergy);
    if (match.correlation >= echoes && couldBe(match, receivedEnergy)) return true;
    // Echoes that were learned by chance are louder than what comes back most of the time.
    const gainDb = Math.min(known?.gainDb ?? unknownGainDb, this.#return.mostDb);
    return decibels(receivedEnergy) < decibels(loudest()) + gainDb + marginDb;
  }

  /** Where echoes were found, and how loud; null: too few were. */
  #known(): Echo | null {
    const from = median(this.#echoes.map((echo) => echo.from));
    // Chance is at another place each time.
    const there = this.#echoes.filter((echo) => Math.abs(echo.from - from) <= nearby);
    if (there.length < needed) return null;
    return { from, gainDb: median(there.map(({ gainDb }) => gainDb)) };
  }

  #learn({ from }: Match, receivedEnergy: number): void {
    this.#echoes.push({ from, gainDb: gainOf(from, receivedEnergy) });
    if (this.#echoes.length > remembered) this.#echoes.shift();
  }

  /** The best match around a place. */
  #near(place: number, receivedEnergy: number): Match {
    const sent = this.#sent.samples;
    const received = this.#received.samples;
    let best: Match = { from: place, correlation: 0 };
    for (let from = Math.max(0, place - nearby); from <= Math.min(lagSamples, place + nearby); from++) {
      let product = 0;
      for (let i = 0; i < windowSamples; i++) product += (sent[from + i] ?? 0) * (received[i] ?? 0);
      best = better(best, from, product, receivedEnergy);
    }
    return best;
  }

  /** @returns the energy of what was received */
  #sumUp(): number {
    let energy = 0;
    for (const sample of this.#received.samples) energy += sample * sample;
    const sent = this.#sent.samples;
    for (let i = 0; i < historySamples; i++) sums[i + 1] = (sums[i] ?? 0) + (sent[i] ?? 0) ** 2;
    return energy;
  }
}

/** Energy of what was sent in a window from a place on; after `#sumUp`. */
function sentEnergy(from: number): number {
  return (sums[from + windowSamples] ?? 0) - (sums[from] ?? 0);
}

/** dB of what was received relative to what was sent at a place. */
function gainOf(from: number, receivedEnergy: number): number {
  return decibels(receivedEnergy) - decibels(sentEnergy(from));
}

function couldBe({ from }: Match, receivedEnergy: number): boolean {
  return gainOf(from, receivedEnergy) <= loudestEchoDb;
}

/** The largest energy of what can come back now. */
function loudest(): number {
  let most = 0;
  for (let from = 0; from <= lagSamples; from++) most = Math.max(most, sentEnergy(from));
  return most;
}

function better(best: Match, from: number, product: number, receivedEnergy: number): Match {
  const correlation = Math.abs(product) / Math.sqrt(sentEnergy(from) * receivedEnergy + 1);
  return correlation > best.correlation ? { from, correlation } : best;
}

/** The best match at any place. */
function everywhere(sent: Float32Array, received: Float32Array, receivedEnergy: number): Match {
  re.fill(0);
  im.fill(0);
  re.set(sent);
  im.set(received);
  crossCorrelate();
  let best: Match = { from: 0, correlation: 0 };
  for (let from = 0; from <= lagSamples; from++) best = better(best, from, re[from] ?? 0, receivedEnergy);
  return best;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** Correlates the sound in `re` with that in `im`; the result is in `re`, by the place in the former. */
function crossCorrelate(): void {
  const { size } = fourier;
  fourier.transform(re, im);
  // The two real signals share a transform: their spectra are its even and odd parts.
  for (let k = 0; k <= size / 2; k++) {
    const l = (size - k) % size;
    const [a, b, c, d] = [re[k] ?? 0, im[k] ?? 0, re[l] ?? 0, im[l] ?? 0];
    const sentRe = (a + c) / 2;
    const sentIm = (b - d) / 2;
    const receivedRe = (b + d) / 2;
    const receivedIm = (c - a) / 2;
    re[k] = sentRe * receivedRe + sentIm * receivedIm;
    im[k] = sentIm * receivedRe - sentRe * receivedIm;
    re[l] = re[k] ?? 0;
    im[l] = -(im[k] ?? 0);
  }
  fourier.transform(im, re);
  for (let i = 0; i < size; i++) re[i] = (re[i] ?? 0) / size;
}

/** The last samples of one direction, at 4 kHz and with raised highs. */
class Line {
  /** Those that are looked at: the last ones, or earlier ones. */
  samples: Float32Array;
  /** Of the last frame, with raised highs. */
  energy = 0;
  readonly #all: Float32Array;
  readonly #length: number;
  /** Where the next samples go: they are moved to the front only when there is no room left. */
  #end: number;
  #before = 0;

  constructor(length: number) {
    this.#length = length;
    this.#all = new Float32Array(2 * (length + mostFramesLate * frameSamples));
    this.#end = this.#all.length / 2;
    this.samples = this.#all.subarray(this.#end - length, this.#end);
  }

  /** Looks at the samples before the last frames. */
  lookBack(frames: number): void {
    const end = this.#end - Math.min(frames, mostFramesLate) * frameSamples;
    this.samples = this.#all.subarray(end - this.#length, end);
  }

  /** @param frame 20 ms; null: silence. @returns its level */
  append(frame: Int16Array | null): number {
    const all = this.#all;
    if (this.#end + frameSamples > all.length) {
      all.copyWithin(0, this.#end - all.length / 2, this.#end);
      this.#end = all.length / 2;
    }
    const per = (frame?.length ?? frameSamples) / frameSamples;
    let plain = 0;
    this.energy = 0;
    for (let i = 0; i < frameSamples; i++) {
      let sum = 0;
      if (frame) for (let j = 0; j < per; j++) sum += frame[i * per + j] ?? 0;
      const sample = sum / per;
      plain += sample * sample;
      const raised = sample - emphasis * this.#before;
      this.energy += raised * raised;
      all[this.#end + i] = raised;
      this.#before = sample;
    }
    this.#end += frameSamples;
    return Math.sqrt(plain / frameSamples);
  }
}

function decibels(energy: number): number {
  return 10 * Math.log10(energy / windowSamples + 1e-3);
}
