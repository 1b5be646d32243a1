/** What a search over transcripts asks for (contract 9.6): pure functions. */
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { Phrase } from '../db/index.ts';

/** Most words of a search. */
export const mostSearchWords = 10;

/**
 * `refund "account number" cancel*`: every word must occur, those in quotes one after the other, and one with an
 * asterisk may go on. What is neither letter nor digit separates words.
 */
export function readPhrases(query: string): Phrase[] {
  const found: Phrase[] = [];
  for (const [, quoted, bare = ''] of query.matchAll(/"([^"]*)"|([^\s"]+)/gu)) {
    const words = wordsOf(quoted ?? bare);
    if (words.length > 0) found.push({ words, isPrefix: quoted === undefined && bare.endsWith('*') });
  }
  return found;
}

export function countWords(phrases: readonly Phrase[]): number {
  return phrases.reduce((sum, { words }) => sum + words.length, 0);
}

/** The line that a search has found among those of one report: the first with all phrases, or else with one. */
export function lineWith(
  entries: readonly TranscriptEntry[],
  phrases: readonly Phrase[],
): TranscriptEntry | undefined {
  const has = (text: string) => {
    const said = ` ${wordsOf(text).join(' ')} `;
    return ({ words, isPrefix }: Phrase) => said.includes(` ${words.join(' ')}${isPrefix ? '' : ' '}`);
  };
  return (
    entries.find(({ text }) => phrases.every(has(text))) ??
    entries.find(({ text }) => phrases.some(has(text))) ??
    entries[0]
  );
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
