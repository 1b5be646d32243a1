/** How long the speech of a text may be: a server that does not end would be heard, converted and kept for ever. */
import { counted } from '#shared/counted.ts';
import { SpeechError } from './speech.ts';

/**
 * Longest speech of a text, ms, and of each of its characters: several times that of the slowest voice, so that only one
 * that does not end is cut off, or one that sends silence.
 */
const longestPauseMs = 10_000;
const characterMs = 500;

/** ms */
export function longestSpeech(text: string): number {
  return longestPauseMs + text.length * characterMs;
}

export function tooLongSpeech(text: string): SpeechError {
  const seconds = longestSpeech(text) / 1000;
  return new SpeechError(`the speech of ${counted(text.length, 'character')} took more than ${seconds} s`);
}
