/** Words with which a listener only shows that it listens: they do not take the turn. */
const listening = new Set(
  (
    'mhm mmhm mmhmm mm mmm mmmm hm hmm hmmm uh huh uhhuh uhuh um umm er erm ah aha oh ooh yeah yep yup yes ya okay ok k ' +
    'right sure alright good great fine nice cool exactly absolutely definitely totally'
  ).split(' '),
);
/** Several words that together mean the same. */
const phrases = [
  'i see',
  'got it',
  'all right',
  'of course',
  'i understand',
  "that's right",
  'makes sense',
  'go on',
  'go ahead',
];
const anyPhrase = new RegExp(`\\b(?:${phrases.join('|')})\\b`, 'g');
/** First words of phrases: while the caller speaks, the rest may be on its way. */
const beginnings = new Set(phrases.map((phrase) => phrase.split(' ')[0] ?? ''));

/** Whether the words leave the turn to the agent. Empty: no words yet. */
export function isBackChannel(words: string): boolean {
  return otherWords(words).length === 0;
}

/**
 * Whether somebody is saying something, beyond showing that it listens. "I" alone says nothing yet: it may become "I see".
 * @param words so far; more may follow
 */
export function takesTurn(words: string): boolean {
  const [first, ...more] = otherWords(words);
  if (first === undefined) return false;
  const isLast = more.length === 0 && plainWords(words).at(-1) === first;
  return !(isLast && beginnings.has(first));
}

/** The words beyond those that show that somebody listens. */
function otherWords(words: string): string[] {
  const text = words.toLowerCase().replace(/\u2019/g, "'");
  return plainWords(text.replace(anyPhrase, ' ')).filter((word) => !listening.has(word));
}

/** The words of a text, in lower case, without marks. */
function plainWords(text: string): string[] {
  return text
    .toLowerCase()
    .replace(/\u2019/g, "'")
    .replace(/(\w)-(?=\w)/g, '$1')
    .split(/[^\p{L}\p{N}']+/u)
    .filter((word) => word !== '');
}
