/**
 * Texts between double quotes in a longer one. A pattern for them looks from each opening quote as far as a quotation
 * may be long; this reads the text once.
 */

export interface QuotedText {
  /** Of its opening quote. */
  readonly at: number;
  /** After its closing quote. */
  readonly end: number;
  readonly text: string;
}

const closing: Readonly<Record<string, string>> = { '"': '"', '“': '”' };

/**
 * In their order: `"…"` and `“…”`, each of `least` to `most` characters.
 * @param within a character that none has
 */
export function quotedTexts(text: string, least: number, most: number, within?: string): QuotedText[] {
  const next = nextIn(text);
  const found: QuotedText[] = [];
  for (let at = 0; at < text.length; at++) {
    const close = closing[text.charAt(at)];
    if (close === undefined) continue;
    const to = next(close, at + 1);
    const length = to - at - 1;
    if (length < least || length > most || (within !== undefined && next(within, at + 1) < to)) continue;
    found.push({ at, end: to + 1, text: text.slice(at + 1, to) });
    at = to;
  }
  return found;
}

/** Where a character is next, for places that only grow; `Infinity`: nowhere. */
function nextIn(text: string): (character: string, from: number) => number {
  const known = new Map<string, number>();
  return (character, from) => {
    const before = known.get(character) ?? -1;
    if (before >= from) return before;
    const at = text.indexOf(character, from);
    const place = at < 0 ? Number.POSITIVE_INFINITY : at;
    known.set(character, place);
    return place;
  };
}
