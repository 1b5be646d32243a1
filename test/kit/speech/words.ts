/**
 * Speech for laboratory servers: each word is a sound of its own level, so that a server knows which words arrived, and
 * a lost, doubled or cut word is seen.
 */

/** The words that servers know, by level. */
const known = ['yes', 'please', 'book', 'a', 'table', 'for', 'two', 'tonight', 'thanks', 'bye'];
const step = 1500;
export const wordMs = 100;
const gapMs = 40;

const frameMs = 20;

/** 20 ms frames. */
function frames(level: number, ms: number, sampleRate: number): Int16Array[] {
  const frame = new Int16Array((sampleRate * frameMs) / 1000).map((_, i) => (i % 8 < 4 ? level : -level));
  return Array.from({ length: ms / frameMs }, () => frame);
}

export const quiet = (ms: number, sampleRate = 8000): Int16Array[] => frames(0, ms, sampleRate);

/** The frames of a sentence of known words. */
export function spoken(sentence: string, sampleRate = 8000): Int16Array[] {
  return sentence.split(' ').flatMap((word) => {
    const index = known.indexOf(word);
    if (index < 0) throw new Error(`"${word}" is no word of the laboratory`);
    return [...frames(step * (index + 1), wordMs, sampleRate), ...quiet(gapMs, sampleRate)];
  });
}

/** Recognizes words in audio that arrives in pieces. */
export class WordReader {
  readonly #sampleRate: number;
  #level = 0;
  #length = 0;
  /** Samples since the last word. */
  silence = 0;
  position = 0;

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
  }

  get positionS(): number {
    return this.position / this.#sampleRate;
  }

  get silenceMs(): number {
    return (this.silence * 1000) / this.#sampleRate;
  }

  /** @returns the word that this sample completes, if any; a word that was cut ends in "-" */
  read(sample: number): string | null {
    this.position++;
    const level = Math.round(Math.abs(sample) / step);
    if (level === this.#level) {
      this.#length++;
      if (level === 0) this.silence++;
      return null;
    }
    const word = this.#word();
    this.#level = level;
    this.#length = 1;
    this.silence = level === 0 ? 1 : 0;
    return word;
  }

  #word(): string | null {
    if (this.#level === 0) return null;
    const word = known[this.#level - 1] ?? '?';
    const whole = (this.#sampleRate * wordMs) / 1000;
    return this.#length === whole ? word : `${word}-`;
  }
}
