/** VARIABLE_EXTRACTED: the agent learned a value. */
import type { AssertionRule } from './outcome.ts';
import { inconclusive, yesOrNo } from './outcome.ts';
import { patternProblem, search } from './patterns.ts';
import { keyboardText, valueText } from './target-text.ts';

type Match = 'equals' | 'contains' | 'regex';

/** Text: why it cannot be decided. */
function matches(found: unknown, expected: string | number | boolean, match: Match): boolean | string {
  const text = keyboardText(valueText(found)).trim();
  const wanted = keyboardText(String(expected)).trim();
  switch (match) {
    case 'contains':
      return text.includes(wanted);
    case 'regex': {
      const searched = search(String(expected), '', valueText(found).trim());
      return searched.kind === 'costly' ? searched.reason : searched.kind === 'found';
    }
    case 'equals':
      return text === wanted || sameNumber(text, wanted);
  }
}

const whole = /^[+-]?\d{1,100}$/;

/** `42`, `42.0` and ` 42 ` are the same number; `0x2A` and an empty text are not numbers. */
function sameNumber(a: string, b: string): boolean {
  const form = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
  // Card and account numbers are longer than a double's precision.
  if (whole.test(a) && whole.test(b)) return BigInt(a.replace('+', '')) === BigInt(b.replace('+', ''));
  return form.test(a) && form.test(b) && Number(a) === Number(b);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value === 'string') return value.trim() === '';
  return Array.isArray(value) && value.length === 0;
}

export const variableExtracted: AssertionRule<'VARIABLE_EXTRACTED'> = {
  problems: ({ expected_value, match }) => {
    if (match === undefined || match === 'equals') return [];
    if (expected_value === undefined)
      return [{ path: '/expected_value', rule: `required with match ${match}` }];
    const wrong = match === 'regex' ? patternProblem(String(expected_value)) : null;
    return wrong === null ? [] : [{ path: '/expected_value', rule: wrong }];
  },
  evaluate: ({ variable_name, expected_value, match = 'equals' }, { variables }) => {
    const found = Object.hasOwn(variables, variable_name) ? variables[variable_name] : undefined;
    const expected =
      expected_value === undefined ? 'any value' : `${match} ${JSON.stringify(expected_value)}`;
    if (isEmpty(found)) {
      return yesOrNo(false, { reasoning: `The variable ${variable_name} was not extracted.`, expected });
    }
    const target = valueText(found);
    const passed = expected_value === undefined || matches(found, expected_value, match);
    if (typeof passed === 'string') return inconclusive({ reasoning: passed, target, expected });
    const reasoning = passed
      ? `The variable ${variable_name} is ${JSON.stringify(found)}.`
      : `The variable ${variable_name} is ${JSON.stringify(found)}, not ${expected}.`;
    return yesOrNo(passed, { reasoning, target, expected });
  },
};
