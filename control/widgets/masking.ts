/** Cleans a message before it is stored: removes control characters, masks blocked words. Pure. */

export interface Cleaned {
  readonly content: string;
  /** The original text, when something was changed. */
  readonly original: string | null;
}

/** @param blocked words and phrases, in any case */
export function clean(text: string, blocked: readonly string[]): Cleaned {
  const content = mask(withoutControls(text), blocked);
  return { content, original: content === text ? null : text };
}

/** Unicode category Cc, except line feed and tab. */
function withoutControls(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, '');
}

/** Replaces every character of a standalone blocked word with `*`. */
function mask(text: string, blocked: readonly string[]): string {
  const given = [...text];
  const lower = given.map((character) => character.toLowerCase());
  const shown = [...given];
  for (const word of blocked) {
    const wanted = [...word.trim()].map((character) => character.toLowerCase());
    for (const start of occurrences(lower, wanted)) {
      const end = start + wanted.length;
      if (isWordPart(given[start - 1]) && isWordPart(given[start])) continue;
      if (isWordPart(given[end - 1]) && isWordPart(given[end])) continue;
      shown.fill('*', start, end);
    }
  }
  return shown.join('');
}

function isWordPart(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{M}\p{N}_]/u.test(character);
}

/**
 * Where `wanted` begins in `text`, by Knuth, Morris and Pratt: the work grows with the sum of both lengths, not with
 * their product, whatever words an organization blocks.
 */
function* occurrences(text: readonly string[], wanted: readonly string[]): Generator<number> {
  if (wanted.length === 0 || wanted.length > text.length) return;
  const borders = bordersOf(wanted);
  let matched = 0;
  for (const [index, character] of text.entries()) {
    while (matched > 0 && wanted[matched] !== character) matched = borders[matched - 1] ?? 0;
    if (wanted[matched] === character) matched++;
    if (matched === wanted.length) {
      yield index - matched + 1;
      matched = borders[matched - 1] ?? 0;
    }
  }
}

/** For each prefix of `wanted`, the length of its longest proper prefix that is also its suffix. */
function bordersOf(wanted: readonly string[]): number[] {
  const borders = [0];
  let length = 0;
  for (const character of wanted.slice(1)) {
    while (length > 0 && wanted[length] !== character) length = borders[length - 1] ?? 0;
    if (wanted[length] === character) length++;
    borders.push(length);
  }
  return borders;
}

/**
 * Masks a text that comes in pieces: emits what later pieces can no longer change. A blocked word is recognized only
 * with the character after it, so that much is held back.
 */
export class PieceMask {
  readonly #blocked: readonly string[];
  readonly #held: number;
  #text = '';
  #given = 0;

  constructor(blocked: readonly string[]) {
    this.#blocked = blocked;
    const longest = Math.max(0, ...blocked.map((word) => [...word.trim()].length));
    this.#held = longest === 0 ? 0 : longest + 1;
  }

  /** Returns the characters that can be shown now; may be empty. */
  add(piece: string): string {
    this.#text += piece;
    const shown = [...clean(this.#text, this.#blocked).content];
    const end = Math.max(this.#given, shown.length - this.#held);
    const next = shown.slice(this.#given, end).join('');
    this.#given = end;
    return next;
  }
}
