/** Names and words that callers are likely to say: a transcription that knows them writes them right. */

/** Of an organization, a number or a call; and of all of them together, on one call. */
export const mostKeyTerms = 100;

/** The terms of a call: its own first, then its organization's, each once, and no more than servers take. */
export function keyTermsOf(own: readonly string[], organization: readonly string[]): string[] {
  const terms = new Map<string, string>();
  for (const term of [...own, ...organization])
    if (!terms.has(term.toLowerCase())) terms.set(term.toLowerCase(), term);
  return [...terms.values()].slice(0, mostKeyTerms);
}
