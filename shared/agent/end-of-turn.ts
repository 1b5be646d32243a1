/**
 * How long a pause ends what a person says: short after an answer that is complete, long when more is to come. Pure:
 * the words so far and what is asked for in, milliseconds out.
 */
import { digitWords } from '../digit-words.ts';
import type { GraphNode } from './graph-node.ts';
import type { Option } from './interfaces.ts';
import { keysInSpeech, namedKeys } from './keys.ts';
import type { TurnPlan } from './turn-plan.ts';

/** Pauses, ms. */
export const pauses = {
  /** an answer that fits what is asked */
  answered: 300,
  /** a whole sentence */
  sentence: 400,
  /** all digits that are asked for */
  allDigits: 500,
  /** anything else */
  words: 600,
  /** the words are not known */
  unknown: 700,
  /** digits, and it is not known how many are to come */
  someDigits: 1000,
  /** "and", "to the", "um": more is to come */
  open: 1100,
  /** fewer digits than are asked for, or none known yet */
  fewerDigits: 1500,
} as const;

/** Digits in a row from which somebody is dictating a number. */
const dictated = 3;

const yesOrNo = new Set(
  'yes yeah yep yup sure okay ok correct right no nope nah not please thanks thank you absolutely'.split(' '),
);
/** Words after which more is to come. */
const leadsOn = new Set(
  (
    'and or but so because since if when while that which who whose than then the a an my your his her our their this ' +
    'these those to of in on at for with from by about into as is are was were will would can could should i we they ' +
    'its um uh er erm hmm like well let not also plus'
  ).split(' '),
);
const spokenDigits = new Set([...Object.keys(digitWords), 'oh']);

/** The pause that ends the turn, ms. @param words the words so far; null: not known */
export function pauseFor(words: string | null, { expects, choices, digits, pauseMs }: TurnPlan): number {
  if (pauseMs !== null) return pauseMs;
  if (words === null) return expects === 'digits' ? pauses.fewerDigits : pauses.unknown;
  const said = plain(words);
  const last = said.at(-1);
  if (last === undefined) return pauses.unknown;
  const dictating = digitsAtEnd(said);
  if (expects === 'digits' || dictating >= dictated) {
    if (digits === null) return pauses.someDigits;
    return dictating >= digits ? pauses.allDigits : pauses.fewerDigits;
  }
  if (leadsOn.has(last) || /[,;:\u2026-]\s*$|\.\.\.\s*$/.test(words)) return pauses.open;
  if (expects === 'yes_no' && said.every((word) => yesOrNo.has(word))) return pauses.answered;
  if (choices.some((choice) => fits(words, said, choice))) return pauses.answered;
  return /[.!?]\s*$/.test(words) ? pauses.sentence : pauses.words;
}

/** The plan of a node: its own settings (`data.endOfTurn`), or what its edges and variables ask for. */
export function turnPlan(node: GraphNode, options: readonly Option[]): TurnPlan {
  const { expects, pauseMs } = node.endOfTurn;
  const named = options
    .filter(({ global }) => !global)
    .map((option) => ({ option, keys: namedKeys(option) }));
  const menu = named.length > 0 && named.every(({ keys }) => keys.any || keys.sequences.length > 0);
  return {
    expects: expects ?? (menu && node.extractVars.length === 0 ? 'choice' : 'any'),
    choices: named.flatMap(({ option, keys }) => [option.label, ...keys.sequences]),
    digits: node.keySettings.maxDigits ?? null,
    pauseMs: pauseMs ?? null,
  };
}

/** Whether the words are a choice, or a part of its label that means it. */
function fits(words: string, said: readonly string[], choice: string): boolean {
  if (keysInSpeech(words) === choice) return true;
  const label = new Set(plain(choice).filter((word) => !leadsOn.has(word)));
  const meant = said.filter((word) => !leadsOn.has(word) && !yesOrNo.has(word));
  return meant.length > 0 && meant.every((word) => label.has(word));
}

function digitsAtEnd(said: readonly string[]): number {
  let count = 0;
  for (const word of said.toReversed()) {
    if (/^\d+$/.test(word)) count += word.length;
    else if (spokenDigits.has(word)) count++;
    else break;
  }
  return count;
}

function plain(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}']+/u)
    .filter((word) => word !== '');
}
