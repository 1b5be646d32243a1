/** TOOL_CALLED: the agent used a tool, often enough, not too often, and with the expected input. */
import { counted } from '#shared/counted.ts';
import { differences } from './json-members.ts';
import type { AssertionRule } from './outcome.ts';
import { decided } from './outcome.ts';

export const toolCalled: AssertionRule<'TOOL_CALLED'> = {
  problems: ({ min_calls = 1, max_calls }) =>
    max_calls !== undefined && max_calls > 0 && max_calls < min_calls
      ? [{ path: '/max_calls', rule: 'must not be less than min_calls' }]
      : [],
  evaluate: ({ name, min_calls, max_calls, input_match, ok }, record) => {
    // "At most 0" alone means that the tool must not be used.
    const least = min_calls ?? (max_calls === 0 ? 0 : 1);
    const calls = record.tool_calls.filter(
      (call) => call.name === name && (ok === undefined || call.ok === ok),
    );
    const wrong = calls.map(({ input }) =>
      input_match === undefined ? [] : differences(input, input_match),
    );
    const found = wrong.filter((parts) => parts.length === 0).length;
    const off = wrong.find((parts) => parts.length > 0)?.slice(0, 5);
    const what = [
      `at least ${counted(least, 'call')} of ${name}`,
      max_calls === undefined ? null : `at most ${max_calls}`,
      input_match === undefined ? null : `with ${JSON.stringify(input_match)}`,
      ok === undefined ? null : ok ? 'that succeed' : 'that fail',
    ];
    const expected = what.filter((part) => part !== null).join(', ');
    const made = record.tool_calls.map(({ input, name: called }) =>
      input === undefined ? called : `${called}(${JSON.stringify(input)?.slice(0, 200)})`,
    );
    const reasoning = `${found} of ${made.length} tool calls match; wanted ${expected}.${off ? ` In one ${off.join('; ')}.` : ''}`;
    const passed = found >= least && (max_calls === undefined || found <= max_calls);
    const score = passed ? 1 : found < least ? found / least : 0;
    return decided(passed, score, { reasoning, target: made.slice(0, 20).join(', ') || null, expected });
  },
};
