/**
 * How much transcript a call has. Its lines are stored on the edge's disk and by control, whoever makes them: a server
 * of a customer can make as many as it likes.
 */
import type { Clock } from '#shared/clock.ts';
import { counted } from '#shared/counted.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';

/** Lines of a call, and characters of all of them: twelve hours of talk are a fifth of it. */
const mostLines = 10_000;
const mostCharacters = 4_194_304;
/** Characters of a line; the rest is left out. */
const longestLine = 20_000;
/** Lines and characters at once, and in each second after that. */
const burstLines = 200;
const linesPerSecond = 50;
const burstCharacters = 524_288;
const charactersPerSecond = 262_144;

/** What a transcript with less than was said has as a line. */
export const leftOutSentence =
  `Lines of this transcript are left out: a call has at most ${counted(mostLines, 'line')} with ` +
  `${counted(mostCharacters, 'character')}, and ${counted(burstLines, 'line')} with ` +
  `${counted(burstCharacters, 'character')} at once.`;

export class LineBudget {
  readonly #clock: Pick<Clock, 'elapsed'>;
  #lines = mostLines;
  #characters = mostCharacters;
  #linesNow = burstLines;
  #charactersNow = burstCharacters;
  #at: number;

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
    this.#at = clock.elapsed();
  }

  /** @returns the line as it is kept; null: it is left out */
  take(entry: TranscriptEntry): TranscriptEntry | null {
    this.#refill();
    const text = entry.text.slice(0, longestLine);
    // What was cut off is there once more.
    const length = text.length + (entry.fact?.kind === 'cut_off' ? entry.fact.said.length : 0);
    if (Math.min(this.#lines, this.#linesNow) < 1) return null;
    if (Math.min(this.#characters, this.#charactersNow) < length) return null;
    this.#lines -= 1;
    this.#linesNow -= 1;
    this.#characters -= length;
    this.#charactersNow -= length;
    return text.length === entry.text.length ? entry : { ...entry, text };
  }

  #refill(): void {
    const now = this.#clock.elapsed();
    const seconds = (now - this.#at) / 1000;
    this.#at = now;
    this.#linesNow = Math.min(burstLines, this.#linesNow + seconds * linesPerSecond);
    this.#charactersNow = Math.min(burstCharacters, this.#charactersNow + seconds * charactersPerSecond);
  }
}
