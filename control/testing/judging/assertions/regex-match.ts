/** REGEX_MATCH: a pattern occurs, or does not occur, in the transcript or a variable. */
import type { AssertionRule } from './outcome.ts';
import { inconclusive, yesOrNo } from './outcome.ts';
import { patternProblem, search } from './patterns.ts';
import { evidenceAt, targetText } from './target-text.ts';

export const regexMatch: AssertionRule<'REGEX_MATCH'> = {
  problems: ({ pattern, flags }) => {
    const wrong = patternProblem(pattern, flags);
    return wrong === null ? [] : [{ path: '/pattern', rule: wrong }];
  },
  evaluate: ({ pattern, flags = '', target, negate = false }, record) => {
    const expected = `${negate ? 'no match of ' : ''}/${pattern}/${flags}`;
    const text = targetText(record, target);
    if (!text) {
      const reasoning = `${target} was not extracted, so there is nothing that could match.`;
      return inconclusive({ reasoning, target: target ?? null, expected });
    }
    const found = search(pattern.normalize('NFC'), flags, text.whole);
    if (found.kind === 'costly')
      return inconclusive({ reasoning: found.reason, target: text.name, expected });
    const part = found.kind === 'found' ? found.part : null;
    const reasoning =
      part === null
        ? `Nothing in ${text.name} matches.`
        : `${text.name} matches at ${JSON.stringify(part.slice(0, 200))}.`;
    return yesOrNo((part !== null) !== negate, {
      reasoning,
      evidence: found.kind === 'found' ? evidenceAt(text, found.at, found.part.length) : [],
      target: text.name,
      expected,
    });
  },
};
