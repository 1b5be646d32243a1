/**
 * Authors' patterns, on an engine whose time is linear in the text. It is also linear in the pattern, whose repetitions
 * are expanded: `(a|ab){1,450}` is a program of thousands of steps for each character. So the product of both is
 * limited, and no pattern can stall the server.
 */
import { RE2JS } from 're2js';

const flagBits: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
  // RE2 always reads code points.
  u: 0,
};

/** @throws Error when the pattern is not RE2 syntax */
function compile(pattern: string, flags: string): RE2JS {
  const bits = [...flags].reduce((sum, flag) => sum | (flagBits[flag] ?? 0), 0);
  return RE2JS.compile(pattern, bits);
}

/** The problem of a pattern, or null. */
export function patternProblem(pattern: string, flags = ''): string | null {
  try {
    compile(pattern, flags);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Most instructions times characters of one search. A step takes 50 ns at worst, so a search half a second. */
const mostSteps = 10_000_000;

/** `costly`: the text is too long for the pattern, and was not searched. */
export type Search =
  /** `at`: index of the match. */
  | { readonly kind: 'found'; readonly part: string; readonly at: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'costly'; readonly reason: string };

/** Finds the first match in the text. The pattern was checked when it was written. */
export function search(pattern: string, flags: string, text: string): Search {
  const compiled = compile(pattern, flags);
  const size = compiled.programSize();
  if (size * text.length > mostSteps) {
    const reason = `The pattern comes to ${size} instructions, too many for a text of ${text.length} characters.`;
    return { kind: 'costly', reason };
  }
  const matcher = compiled.matcher(text);
  if (!matcher.find()) return { kind: 'none' };
  return { kind: 'found', part: matcher.group() ?? '', at: matcher.start() };
}
