/**
 * Which words of a text have been heard when its speech is stopped. Where the voice says nothing about its words, their
 * times are estimated: a word takes its share of the letters, in the parts of the speech that are not silent.
 */

/** Level of a frame that belongs to a word. */
const audible = 100;
interface Word {
  /** Index in the text of the first character after it. */
  readonly end: number;
  /** Letters before it, and in it. */
  readonly before: number;
  readonly letters: number;
}

/** The part of the text that was heard: whole words, of which more than half was played. */
export function heardPart(
  text: string,
  samples: Int16Array,
  playedSamples: number,
  sampleRate: number,
): string {
  if (playedSamples >= samples.length) return text;
  const words = wordsOf(text);
  const total = words.reduce((sum, { letters }) => sum + letters, 0);
  const letters = letterAt(samples, playedSamples, sampleRate) * total;
  const last = words.findLast((word) => word.before + word.letters / 2 <= letters);
  return last ? text.slice(0, last.end) : '';
}

/** Where the word began that was being said at a sample. */
export function wordStart(
  text: string,
  samples: Int16Array,
  playedSamples: number,
  sampleRate: number,
): number {
  const words = wordsOf(text);
  const total = words.reduce((sum, { letters }) => sum + letters, 0);
  const letters = letterAt(samples, playedSamples, sampleRate) * total;
  const word = words.findLast(({ before }) => before <= letters);
  return word && total > 0 ? sampleAt(samples, word.before / total, sampleRate) : 0;
}

function wordsOf(text: string): Word[] {
  let before = 0;
  return [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => {
    const letters = Math.max(1, word.replace(/[^\p{L}\p{N}]/gu, '').length);
    const one = { end: index + word.length, before, letters };
    before += letters;
    return one;
  });
}

/** The share of the audible frames that is before a sample. */
function letterAt(samples: Int16Array, at: number, sampleRate: number): number {
  const frames = audibleFrames(samples, sampleRate);
  const length = sampleRate / 50;
  const all = frames.filter(Boolean).length;
  return all === 0
    ? at / samples.length
    : frames.slice(0, Math.floor(at / length)).filter(Boolean).length / all;
}

/** The first sample after that share of the audible frames. */
function sampleAt(samples: Int16Array, share: number, sampleRate: number): number {
  const frames = audibleFrames(samples, sampleRate);
  const wanted = Math.round(share * frames.filter(Boolean).length);
  let seen = 0;
  const frame = frames.findIndex((is) => is && ++seen > wanted);
  return Math.max(0, frame) * (sampleRate / 50);
}

function audibleFrames(samples: Int16Array, sampleRate: number): boolean[] {
  const length = sampleRate / 50;
  return Array.from({ length: Math.ceil(samples.length / length) }, (_, i) =>
    samples.subarray(i * length, (i + 1) * length).some((sample) => Math.abs(sample) > audible),
  );
}
