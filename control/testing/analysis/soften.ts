/** Rewrites an agent's words to be courteous. By rules: removes harsh sentences, adds an acknowledgement. Pure. */
import { lexicon, phraseIn } from '../judging/lexicon.ts';

/** Phrases that no caller should hear from a service, besides insults. */
const harsh: readonly string[] = [
  ...lexicon.insults,
  'calm down',
  'not my problem',
  'your fault',
  'nothing i can do',
  'stop shouting',
  'stop yelling',
  'stop complaining',
  'stop wasting my time',
  'deal with it',
  'too bad',
  "i don't care",
  'i do not care',
  'you people',
  'make it quick',
  'hurry up',
  'what now',
  'as i already said',
];

const acknowledgement = 'I am sorry about that, and I understand how you feel.';
const offer = 'How can I help you with it?';
const toneRule =
  'Stay calm and courteous: acknowledge how the caller feels first, never blame or belittle, and offer what can be done.';

/** The harsh phrase of a text, or null. @param more further unwanted phrases */
export function harshPhrase(text: string, more: readonly string[] = []): string | null {
  return phraseIn(text, [...harsh, ...more]);
}

export interface Wanted {
  /** Phrases that the test forbids. */
  readonly unwanted: readonly string[];
  /** Whether the caller was upset and was ignored. */
  readonly acknowledge: boolean;
}

/** For words spoken verbatim. */
export function softenedSpeech(text: string, { unwanted, acknowledge }: Wanted): string {
  const sentences = text.split(/(?<=[.!?])\s+/).filter((sentence) => sentence.trim() !== '');
  const kept = sentences.filter((sentence) => harshPhrase(sentence, unwanted) === null);
  const removed = kept.length < sentences.length;
  const spoken = kept.join(' ');
  const opening =
    (acknowledge || removed) && phraseIn(spoken, lexicon.acknowledgement) === null ? [acknowledgement] : [];
  const rest = kept.length === 0 ? [offer] : kept;
  return [...opening, ...rest].join(' ');
}

/**
 * For an instruction to a model. Its quotations are treated as speech, harsh sentences elsewhere are removed, and a
 * rule about tone is appended.
 */
export function softenedPrompt(prompt: string, wanted: Wanted): string {
  const quoted = prompt.replaceAll(/"([^"]{3,1000})"|“([^”]{3,1000})”/g, (_whole, plain, curly) => {
    const words = softenedSpeech(String(plain ?? curly), wanted);
    return plain === undefined ? `“${words}”` : `"${words}"`;
  });
  const kept = quoted
    .split(/(?<=[.!?]["”]?)\s+/)
    .filter((sentence) => /["“]/.test(sentence) || harshPhrase(sentence, wanted.unwanted) === null);
  return kept.includes(toneRule) ? kept.join(' ') : [...kept, toneRule].join(' ');
}
