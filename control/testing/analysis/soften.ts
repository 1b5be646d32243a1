/** Rewrites an agent's words to be courteous. By rules: removes harsh sentences, adds an acknowledgement. Pure. */
import { quotedTexts } from '#shared/quoted-texts.ts';
import { holdsPhrase, lexicon, phraseIn, plainText } from '../judging/lexicon.ts';

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
  const plain = plainText(text);
  const isIn = (phrase: string) => holdsPhrase(plain, phrase);
  return harsh.find(isIn) ?? more.find((phrase) => isIn(plainText(phrase))) ?? null;
}

export interface Wanted {
  /** Phrases that the test forbids. */
  readonly unwanted: readonly string[];
  /** Whether the caller was upset and was ignored. */
  readonly acknowledge: boolean;
}

/**
 * For words spoken verbatim. The text as it is when harsh words stand in one clause with what callers have to be told:
 * only a person can reword that.
 */
export function softenedSpeech(text: string, { unwanted, acknowledge }: Wanted): string {
  const sentences = text.split(/(?<=[.!?])\s+/).filter((sentence) => sentence.trim() !== '');
  const kept = sentences.map((sentence) => withoutHarsh(sentence, unwanted));
  if (kept.includes(null)) return text;
  const words = kept.filter((sentence) => sentence !== null && sentence !== '');
  const removed = kept.some((sentence, index) => sentence !== sentences[index]);
  const spoken = words.join(' ');
  const opening =
    (acknowledge || removed) && phraseIn(spoken, lexicon.acknowledgement) === null ? [acknowledgement] : [];
  const rest = words.length === 0 ? [offer] : words;
  return [...opening, ...rest].join(' ');
}

/** What callers must be told: values, recording, identity, consent, money. */
const needed =
  /\{\{|\d|\b(?:record(?:ed|ing|s)?|consent|agree|verify|verification|identity|identify|password|terms|law|legal|required|privacy|data|fees?|charges?|charged|costs?|penalty|refund)\b/i;

/** Empty: all of the sentence is harsh. Null: its harsh part has words that callers need. */
function withoutHarsh(sentence: string, unwanted: readonly string[]): string | null {
  if (harshPhrase(sentence, unwanted) === null) return sentence;
  const clauses = sentence.split(/(?<=[,;:])\s+/);
  const isHarsh = (clause: string) => harshPhrase(clause, unwanted) !== null;
  // A phrase may reach over a comma.
  if (!clauses.some(isHarsh)) return needed.test(sentence) ? null : '';
  if (clauses.some((clause) => isHarsh(clause) && needed.test(clause))) return null;
  const rest = clauses.filter((clause) => !isHarsh(clause)).join(' ');
  if (!needed.test(rest)) return '';
  const end = /[.!?]$/.exec(sentence)?.[0] ?? '';
  const open = rest.replace(/[,;:]$/, '').replace(/^(?:and|but|so|or)\s+/i, '');
  return `${open.charAt(0).toUpperCase()}${open.slice(1)}${/[.!?]$/.test(open) ? '' : end}`;
}

/**
 * For an instruction to a model. Its quotations are treated as speech, harsh sentences elsewhere are removed, and a
 * rule about tone is appended.
 */
export function softenedPrompt(prompt: string, wanted: Wanted): string {
  let quoted = '';
  let from = 0;
  for (const { at, end, text } of quotedTexts(prompt, 3, 1000)) {
    quoted += prompt.slice(from, at + 1) + softenedSpeech(text, wanted);
    from = end - 1;
  }
  quoted += prompt.slice(from);
  const kept = quoted.split(/(?<=[.!?]["”]?)\s+/).flatMap((sentence) => {
    if (/["“]/.test(sentence)) return [sentence];
    const rest = withoutHarsh(sentence, wanted.unwanted);
    return rest === '' ? [] : [rest ?? sentence];
  });
  return kept.includes(toneRule) ? kept.join(' ') : [...kept, toneRule].join(' ');
}
