/** Patterns of authors, on an engine whose time is linear in the text: no pattern can stall the server. */
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

/** What is wrong with a pattern, or null. */
export function patternProblem(pattern: string, flags = ''): string | null {
  try {
    compile(pattern, flags);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The first part of the text that matches, or null. The pattern was checked when it was written. */
export function firstMatch(pattern: string, flags: string, text: string): string | null {
  const matcher = compile(pattern, flags).matcher(text);
  return matcher.find() ? (matcher.group() ?? '') : null;
}
