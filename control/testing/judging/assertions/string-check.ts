/** STRING_CHECK: a text occurs, or does not occur, in the transcript or a variable. */
import type { AssertionRule } from './outcome.ts';
import { inconclusive, yesOrNo } from './outcome.ts';
import { keyboardText, targetText, verifiedEvidence } from './target-text.ts';

type Operator = 'equals' | 'contains' | 'starts_with' | 'ends_with';

function holds(text: string, value: string, operator: Operator): boolean {
  switch (operator) {
    case 'equals':
      return text.trim() === value.trim();
    case 'contains':
      return text.includes(value);
    case 'starts_with':
      return text.trimStart().startsWith(value);
    case 'ends_with':
      return text.trimEnd().endsWith(value);
  }
}

export const stringCheck: AssertionRule<'STRING_CHECK'> = {
  evaluate: ({ value, operator = 'contains', case_sensitive = false, target, negate = false }, record) => {
    const expected = `${negate ? 'not ' : ''}${operator} ${JSON.stringify(value)}`;
    const text = targetText(record, target);
    if (!text) {
      const reasoning = `${target} was not extracted, so there is nothing to compare.`;
      return inconclusive({ reasoning, target: target ?? null, expected });
    }
    const folded = (part: string) => keyboardText(case_sensitive ? part : part.toLowerCase());
    const candidates = operator === 'contains' ? [{ text: text.whole }] : text.lines;
    const found = candidates.some((line) =>
      holds(spaced(folded(line.text)), spaced(folded(value)), operator),
    );
    const turn = record.chat_history.findIndex(
      ({ role, content }) =>
        (text.name === 'transcript' || role === (text.name === 'agent' ? 'assistant' : 'user')) &&
        holds(spaced(folded(content)), spaced(folded(value)), operator),
    );
    const said = record.chat_history[turn]?.content;
    const spoken = found && said !== undefined && !text.name.startsWith('variables.');
    const at = spoken ? folded(said).indexOf(folded(value)) : -1;
    // Case folding can change the length of a text, so the quote is checked again.
    const quote = spoken && at >= 0 ? [{ turn, quote: said.slice(at, at + value.length) }] : [];
    return yesOrNo(found !== negate, {
      reasoning: `${text.name} ${found ? '' : 'does not '}${verb(operator, found)} ${JSON.stringify(value)}.`,
      evidence: verifiedEvidence(record, quote),
      target: text.name,
      expected,
    });
  },
};

/** Spaces in a row are one. */
function spaced(text: string): string {
  return text.replaceAll(/ {2,}/g, ' ');
}

function verb(operator: Operator, found: boolean): string {
  const [first = '', ...others] = operator.split('_');
  const base = first.replace(/s$/, '');
  return [found ? `${base}s` : base, ...others].join(' ');
}
