/**
 * Whether a phrase is said, or only occurs: "I am not sorry" and "There is no refund" say neither "sorry" nor "refund".
 * What stands between a negation and a phrase may end its scope or not ("I can't say that she was not sorry"), which
 * rules cannot tell: that is doubtful. English. Pure.
 */
import { holdsPhrase, plainText } from './lexicon.ts';

export type Affirmation = 'said' | 'doubtful' | 'none';

/** The strongest of all occurrences of the phrases. */
export function affirmation(text: string, phrases: readonly string[]): Affirmation {
  return strongest(plainText(text), phrases, said);
}

/** As `affirmation`, but a question or a condition ("once it is booked") tells nothing. */
export function telling(text: string, phrases: readonly string[]): Affirmation {
  return strongest(plainText(text), phrases, (before, phrase, after) => {
    const way = said(before, phrase, after);
    if (way !== 'said' || beginsClause.test(phrase)) return way;
    return condition.test(clauseOf(before)) ? 'doubtful' : way;
  });
}

type Reading = (before: string, phrase: string, after: string) => Affirmation;

function strongest(plain: string, phrases: readonly string[], read: Reading): Affirmation {
  const has = (kind: Affirmation) =>
    phrases.some((phrase) => holdsPhrase(plain, plainText(phrase), isOf(kind, plain, phrase, read)));
  if (has('said')) return 'said';
  return has('doubtful') ? 'doubtful' : 'none';
}

/** Whether the occurrence of a phrase that begins somewhere is of a kind. */
function isOf(kind: Affirmation, plain: string, phrase: string, read: Reading) {
  const wanted = plainText(phrase);
  return (at: number) =>
    read(plain.slice(Math.max(0, at - scope), at), wanted, plain.slice(at + wanted.length)) === kind;
}

/** Characters before a phrase in which a negation is looked for. */
const scope = 80;

/** The end of what comes before a denied phrase: a negation, and words that do not end its scope. */
const denial =
  /(?:\b(?:not|never|cannot|hardly|nor|without|nothing|nobody|no one|none|neither|(?:refuse|decline)[sd]? to)\b|n't)(?: (?:a|an|the|at all|really|very|even|so|too|that|to|going to|feel|feeling|be|being|say|saying|think|need|have|i am|i'm|i|we|do|can|any|terribly|particularly|in the least|one bit|remotely))* $/;
/** "There is no refund" */
const noSuch =
  /\b(?:(?:there|it|this|that)(?:'s| is| are| was| were| will be)|have|has|had|get|gets|got|give|gives|offer|offers|make|and|or|with|see) no (?:\w+ )?$/;
/** "I will not" */
const auxiliary = /(?:^|[ '])(?:will|ll|would|can|could|is|are|was|were|am|s|re|m|have|has|do|does|did)$/;

const negation = /\b(?:not(?! only)|never|cannot|hardly|without|nothing|nobody|none|neither|no)\b|n't\b/;
/** They end what a negation or a condition before them is about. */
const end =
  /[.!?;:,"]|\b(?:and|but|so|because|since|however|still|though|although|why|how|what|anyway|therefore|then)\b/;
/** "I could not be more sorry" */
const intensified = /\b(?:be|been|feel) (?:any )?more $/;
const condition = /\b(?:if|once|when|until|unless|whether|before|as soon as|in case)\b/;
/** A phrase that begins a clause of its own: "if you like I will". */
const beginsClause = /^(?:i|we|you|he|she|it|they|let)\b/;

function said(before: string, phrase: string, after: string): Affirmation {
  if (denial.test(before) || noSuch.test(before)) return intensified.test(before) ? 'said' : 'none';
  if (auxiliary.test(phrase) && /^(?: not| never|n't)\b/.test(after)) return 'none';
  if (beginsClause.test(phrase) || intensified.test(before)) return 'said';
  return negation.test(clauseOf(before)) ? 'doubtful' : 'said';
}

function clauseOf(before: string): string {
  return before.split(end).at(-1) ?? '';
}
