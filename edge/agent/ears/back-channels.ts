/** Words with which a listener only shows that it listens: they do not take the turn. */
const listening = new Set(
  (
    'mhm mmhm mmhmm mm mmm mmmm hm hmm hmmm uh huh uhhuh uhuh um umm er erm ah aha oh ooh yeah yep yup yes ya okay ok k ' +
    'right sure alright good great fine nice cool exactly absolutely definitely totally'
  ).split(' '),
);
/** Several words that together mean the same. */
const phrases =
  /\b(?:i see|got it|all right|of course|i understand|that's right|makes sense|go on|go ahead)\b/g;

/** Whether the words leave the turn to the agent. Empty: no words yet. */
export function isBackChannel(words: string): boolean {
  return plainWords(
    words
      .toLowerCase()
      .replace(/\u2019/g, "'")
      .replace(phrases, ' '),
  ).every((word) => listening.has(word));
}

/** Whether somebody is saying something, beyond showing that it listens. */
export function takesTurn(words: string): boolean {
  return plainWords(words).length > 0 && !isBackChannel(words);
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
