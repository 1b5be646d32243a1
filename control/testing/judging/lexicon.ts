/** Words by which the embedded rules recognize a mood or a kind of call. English; a language model knows more. */

export const lexicon = {
  insults: [
    'idiot',
    'idiots',
    'stupid',
    'moron',
    'morons',
    'dumb',
    'useless',
    'pathetic',
    'loser',
    'losers',
    'shut up',
    'worthless',
    'incompetent',
    'imbecile',
    'scum',
    'go to hell',
    'screw you',
    'damn you',
    'crap',
    'bullshit',
  ],
  threats: ['or else', 'i will find you', 'you will regret', "you'll regret", 'i know where you', 'hurt you'],
  anger: [
    'angry',
    'furious',
    'unacceptable',
    'ridiculous',
    'outrageous',
    'fed up',
    'sick of',
    'terrible',
    'horrible',
    'awful',
    'worst',
    'disgusting',
    'disgrace',
    'complaint',
    'complain',
    'frustrated',
    'frustrating',
    'upset',
    'annoyed',
    'waste of time',
    'waste of my time',
    'speak to a manager',
    'speak to your manager',
    'refund now',
    'had enough',
    'mad',
    'livid',
    'rip off',
    'scam',
  ],
  acknowledgement: [
    'sorry',
    'apologize',
    'apologise',
    'apologies',
    'apology',
    'understand',
    'i hear you',
    'frustrating',
    'frustration',
    'inconvenience',
    'appreciate your patience',
    'makes sense',
    'you are right',
    "you're right",
    'that must',
    'thank you for telling',
  ],
  confusion: [
    'wait',
    'what was the question',
    'i forgot',
    "i don't remember",
    "don't recall",
    'no wait',
    'actually no',
    'where was i',
    'anyway',
    'by the way',
    'that reminds me',
    'or was it',
    'hold on',
    'let me think',
    'confused',
    'not sure',
    'i mean',
    'speaking of',
  ],
  voicemail: [
    'leave a message',
    'leave your message',
    'after the tone',
    'after the beep',
    'at the tone',
    'voicemail',
    'voice mail',
    'mailbox',
    'not available to take your call',
    'unable to take your call',
    'record your message',
    'you have reached',
    "you've reached",
    '(beep)',
    '[beep]',
  ],
  screening: [
    'call screening',
    'screening service',
    'state your name',
    'say your name',
    'who is calling',
    "who's calling",
    'reason for your call',
    'reason for calling',
    'what is this regarding',
    "what's this regarding",
    'what is this about',
    "what's this about",
    'what is it regarding',
    'may i ask what',
    'does he know you',
    'does she know you',
    'is not taking calls',
    'expecting your call',
    'i will see if',
  ],
  offTopic: [
    'never mind',
    'forget it',
    'something else',
    'changed my mind',
    'different question',
    'hello?',
    'are you there',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type WordList = keyof typeof lexicon;

/** Lower case; one kind of apostrophe, quotation mark and dash; single spaces, also for no-break and thin ones. */
export function plainText(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[’‘‛`´ʼ]/g, "'")
    .replaceAll(/[“”„‟«»]/g, '"')
    .replaceAll(/[‐‑‒–—]/g, '-')
    .replaceAll(/\s+/g, ' ');
}

/** The first of the phrases that occurs in the text as whole words, or null. */
export function phraseIn(text: string, phrases: readonly string[]): string | null {
  const plain = plainText(text);
  return phrases.find((phrase) => holdsPhrase(plain, plainText(phrase))) ?? null;
}

/** How many of the phrases occur in the text. */
export function countPhrases(text: string, list: WordList): number {
  const plain = plainText(text);
  return lexicon[list].filter((phrase) => holdsPhrase(plain, phrase)).length;
}

/**
 * Whether a phrase occurs as whole words, both as `plainText` makes them.
 * @param counts whether the occurrence that begins there counts
 */
export function holdsPhrase(
  text: string,
  phrase: string,
  counts: (at: number) => boolean = () => true,
): boolean {
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    const isWhole = !isWord(text[at - 1], phrase[0]) && !isWord(text[at + phrase.length], phrase.at(-1));
    if (isWhole && counts(at)) return true;
  }
  return false;
}

/** Whether a neighboring character continues the word at the phrase's edge. */
function isWord(neighbour: string | undefined, edge: string | undefined): boolean {
  return neighbour !== undefined && edge !== undefined && isLetter(neighbour) && isLetter(edge);
}

function isLetter(character: string): boolean {
  const code = character.charCodeAt(0);
  // Most characters are a..z, and this runs for each position of a long text.
  return (code >= 97 && code <= 122) || /[\p{L}\p{N}]/u.test(character);
}
