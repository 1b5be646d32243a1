/**
 * Key presses as input of a pathway: which keys an edge names, when an entry is complete, and which edge it
 * follows. Deterministic, whatever model understands spoken words. `docs/pathways-on-calls.md` documents this for
 * authors.
 *
 * An edge (or a global node, by its globalLabel) names keys in its label, else in its description:
 *
 *     label = keys                        1   *   #   12   *9   1, 2 or 3
 *           | keys separator words        1: Billing   2 - Support   3) Sales   # for the menu
 *           | ... verb key ...            press 1   For billing, press one   key 1   dial star
 *           | "any key"
 *     verb  = press, presses, pressed, push, key, keys, dial, enter, button, option, choose, digit
 *     key   = 0..9 * # | zero one ... nine | star asterisk | pound hash
 *
 * In a description only the forms with a verb count, because numbers in a sentence have other meanings. Labels with a
 * special meaning are in `special-edges.ts`.
 */
import { digitWords } from '../digit-words.ts';
import type { GraphNode } from './graph-node.ts';
import type { Option } from './interfaces.ts';
import { roleOf } from './special-edges.ts';

const spoken: Readonly<Record<string, string>> = {
  ...digitWords,
  star: '*',
  asterisk: '*',
  pound: '#',
  hash: '#',
};

const word = Object.keys(spoken).join('|');
const key = `(?:[0-9*#]{1,32}(?!\\w|%|\\.\\d)|(?:${word})\\b)`;
const list = `${key}(?:\\s*(?:,\\s*or|,|/|or)\\s*${key})*`;
const bareKeys = new RegExp(`^\\s*(${list})\\s*$`, 'i');
const leadingKeys = new RegExp(`^\\s*(${list})\\s*(?:[-:.)=]|–|—|->|→|for\\b)`, 'i');
const afterVerb = new RegExp(
  `\\b(?:press(?:es|ed)?|push(?:es|ed)?|keys?|dial(?:s|ed)?|enter(?:s|ed)?|button|option|choose|chose|digit)(?:\\s+(?:the|key|keys|digit|number|button|option)){0,4}\\s+["'(]?(${list})`,
  'gi',
);

const wholeSpeech = new RegExp(
  `^(?:(?:i\\s+)?(?:press(?:ed)?|push(?:ed)?|option|number|key)\\s+)?(${key})$`,
  'i',
);

/** The key sequences that an option names, in order; `any` when it accepts any key. */
export interface NamedKeys {
  readonly sequences: readonly string[];
  readonly any: boolean;
}

/** Of the last edges read: each turn asks for those of its node several times. */
const known = new Map<string, NamedKeys>();
const mostKnown = 1000;
/** Longer ones are read each time: what is kept is bounded. */
const longestKnown = 1000;

/** Reads the keys named by an edge, using the grammar above. */
export function namedKeys({ label, description }: Pick<Option, 'label' | 'description'>): NamedKeys {
  const both = `${label}\0${description}`;
  const before = known.get(both);
  if (before) return before;
  const fromLabel = keysIn(label, true);
  const named = fromLabel.any || fromLabel.sequences.length > 0 ? fromLabel : keysIn(description, false);
  if (both.length > longestKnown) return named;
  if (known.size >= mostKnown) known.clear();
  known.set(both, named);
  return named;
}

function keysIn(text: string, isLabel: boolean): NamedKeys {
  if (/\bany key\b/i.test(text)) return { sequences: [], any: true };
  const whole = isLabel ? (bareKeys.exec(text) ?? leadingKeys.exec(text)) : null;
  const lists =
    whole?.[1] !== undefined ? [whole[1]] : [...text.matchAll(afterVerb)].map((match) => match[1] ?? '');
  const sequences = lists.flatMap((found) => found.split(/\s*(?:,\s*or\b|,|\/|\bor\b)\s*/i)).map(asKeys);
  return { sequences: [...new Set(sequences)].filter((sequence) => sequence !== ''), any: false };
}

/** The keys meant by a word or sequence: "one" is 1, "star" is *. */
export function asKeys(text: string): string {
  const trimmed = text.trim().toLowerCase();
  return spoken[trimmed] ?? trimmed;
}

/** The keys that someone said or typed instead of pressing them ("1", "press one", "number 2"), else null. */
export function keysInSpeech(text: string): string | null {
  const plain = text.trim().replace(/(?<![.!?])[.!?]+$/, '');
  const match = wholeSpeech.exec(plain);
  return match?.[1] === undefined ? null : asKeys(match[1]);
}

// ---------------------------------------------------------------- collecting

/** When the keys pressed in a node form a complete entry. */
export interface KeyPlan {
  /** The sequences named by edges; an entry equal to one is complete unless a longer one starts with it. */
  readonly sequences: readonly string[];
  readonly maxDigits: number;
  /** This key ends the entry and is not part of it. */
  readonly terminator: string | null;
  /** time after the last key until the entry is complete, ms */
  readonly interDigitMs: number;
}

const keyDefaults = { interDigitMs: 3000, maxEntryDigits: 32 } as const;

/**
 * Without its own settings (`data.dtmf`) a node accepts
 * - one key, at once, when all keys named by edges are single and no variable is to be filled;
 * - else up to 32 keys (or the longest sequence named by an edge, when no variable is to be filled), ended by `#`
 *   unless an edge names `#`, or by 3 s without another key.
 */
export function keyPlan(node: GraphNode, options: readonly Option[]): KeyPlan {
  const named = options.map(namedKeys);
  const sequences = [...new Set(named.flatMap((keys) => keys.sequences))];
  const fills = fillsFromKeys(node, options);
  const longest = Math.max(1, ...sequences.map((sequence) => sequence.length));
  const {
    maxDigits = fills ? keyDefaults.maxEntryDigits : longest,
    terminator,
    timeoutMs,
  } = node.keySettings;
  const derived = maxDigits > 1 && !sequences.includes('#') ? '#' : null;
  return {
    sequences: fills ? [] : sequences,
    maxDigits,
    terminator: terminator === undefined ? derived : terminator,
    interDigitMs: timeoutMs ?? keyDefaults.interDigitMs,
  };
}

/** Whether this node expects keys: one of its own edges names some, or it has key settings. */
export function expectsKeys(node: GraphNode, options: readonly Option[]): boolean {
  const { maxDigits, terminator, timeoutMs } = node.keySettings;
  if (maxDigits !== undefined || terminator !== undefined || timeoutMs !== undefined) return true;
  return options.some((option) => {
    const named = namedKeys(option);
    return !option.global && (named.any || named.sequences.length > 0);
  });
}

/**
 * Whether keys pressed in this node fill its first variable: it has one, and not all of its edges name single keys
 * (otherwise it is a menu, and the variable gets the chosen key).
 */
export function fillsFromKeys(node: GraphNode, options: readonly Option[]): boolean {
  if (node.extractVars.length === 0) return false;
  const own = options.filter((option) => !option.global && roleOf(option) === 'regular').map(namedKeys);
  return own.length === 0 || own.some((keys) => keys.sequences.length === 0 && !keys.any);
}

/** Collects the keys of one entry. Has no timer: the owner calls `timeout` after `interDigitMs`. */
export class KeyCollector {
  readonly plan: KeyPlan;
  #keys = '';

  constructor(plan: KeyPlan) {
    this.plan = plan;
  }

  /** Whether an entry has begun. */
  get pending(): boolean {
    return this.#keys !== '';
  }

  /** Adds one key. Returns the complete entry, or null when more may follow. */
  press(digit: string): string | null {
    const { plan } = this;
    if (digit === plan.terminator && this.#keys !== '') return this.#take();
    this.#keys += digit;
    if (digit === plan.terminator || this.#keys.length >= plan.maxDigits) return this.#take();
    const exact = plan.sequences.includes(this.#keys);
    const begins = plan.sequences.some((other) => other !== this.#keys && other.startsWith(this.#keys));
    return exact && !begins ? this.#take() : null;
  }

  /** The inter-digit time has expired: the entry so far is complete. Null when nothing was pressed. */
  timeout(): string | null {
    return this.#keys === '' ? null : this.#take();
  }

  #take(): string {
    const keys = this.#keys;
    this.#keys = '';
    return keys;
  }
}

// ---------------------------------------------------------------- choosing

/** The option for an entry, or null when none matches. Earlier options win over later ones. */
export function chooseByKeys(keys: string, options: readonly Option[]): Option | null {
  const named = options.map(namedKeys);
  const exact = named.findIndex((candidate) => candidate.sequences.includes(keys));
  const choice = exact >= 0 ? exact : named.findIndex((candidate) => candidate.any);
  return options[choice] ?? null;
}
