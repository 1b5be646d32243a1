import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rounds } from '../../../test/kit/long-test.ts';
import { variantOf, variantsEach } from './variants.ts';

const scenario = {
  tester_persona_prompt:
    'You want to book.\n- rating: 4\n- order number: 88231\n- day: Tuesday\n- date: May 4, 2030',
  input_messages: [
    { role: 'user', content: 'My order is 88231' },
    { role: 'assistant', content: 'Order 88231?' },
  ],
  metadata: { facts: { code: 'K7' } },
  request_data: null,
  assertions: [
    { type: 'VARIABLE_EXTRACTED', config: { variable_name: 'order', expected_value: 88231 } },
    { type: 'STRING_CHECK', config: { value: 'See you on Tuesday' } },
    { type: 'NODE_REACHED', config: { node_id: '88231' } },
  ],
} as never;

describe('a held-out variant', () => {
  it('has other values everywhere but in ids, and the same values each time', () => {
    const all = Array.from({ length: variantsEach }, (_, index) => variantOf(scenario, index + 1));
    for (const [index, variant] of all.entries()) {
      const text = JSON.stringify(variant);
      expect(text.match(/\b88231\b/g)).toHaveLength(2);
      expect(text).not.toMatch(/rating: 4\b|Tuesday|\bK7\b/);
      expect(text).toContain('May 4, 2030');
      const [order, day, node] = variant.assertions.map(({ config }) => config);
      expect(variant.tester_persona_prompt).toContain(`order number: ${String(order?.expected_value)}`);
      expect(variant.tester_persona_prompt).toContain(`day: ${String(day?.value).split(' ').at(-1)}`);
      expect(node).toEqual({ node_id: '88231' });
      expect(variantOf(scenario, index + 1)).toEqual(variant);
    }
    expect(new Set(all.map((one) => one.tester_persona_prompt)).size).toBe(variantsEach);
  });
});

const keeping = (prompt: string, ...configs: object[]) => {
  const assertions = configs.map((config) => ({ type: 'STRING_CHECK', config }));
  return Array.from({ length: variantsEach }, (_, index) =>
    variantOf(
      { ...(scenario as object), input_messages: null, tester_persona_prompt: prompt, assertions } as never,
      index + 1,
    ),
  );
};

describe('a value of a held-out variant', () => {
  it('stays where an assertion expects it in a pattern, or a figure of it in a sentence', () => {
    const prompt = '- people: 6\n- order: 48213\n- ticket: 7755';
    for (const variant of keeping(prompt, { value: 'A table for 6 at' }, { pattern: 'order \\b48213\\b' })) {
      expect(variant.tester_persona_prompt).toContain('people: 6');
      expect(variant.tester_persona_prompt).toContain('order: 48213');
      expect(variant.tester_persona_prompt).not.toContain('ticket: 7755');
    }
  });

  it.each([
    ['7 pm', 'Booked for 7 in the evening'],
    ['+1 415 555 0142', '4155550142'],
    ['+1 415 555 0142', 'ends in 0142'],
    ['88231', 'Order 8-8231'],
  ])('stays where an assertion expects it in another form: %s', (value, expected) => {
    for (const variant of keeping(`- time or number: ${value}`, { value: expected })) {
      expect(variant.tester_persona_prompt).toContain(value);
      expect(variant.assertions[0]?.config).toEqual({ value: expected });
    }
  });

  it.each(['7:30 pm', '14:05', '00:15', '23:45', '10:30', '11:30 am'])(
    'is another time of the day than %s',
    (time) => {
      for (const variant of keeping(`- time: ${time}`, { value: `at ${time}` })) {
        const [, hour, minutes] = /time: (\d+):(\d\d)/.exec(variant.tester_persona_prompt ?? '') ?? [];
        expect(Number(hour)).toBeLessThan(time.includes('m') ? 13 : 24);
        expect(`${hour}:${minutes}`).not.toBe(/[\d:]+/.exec(time)?.[0]);
        expect(minutes).toBe(/:(\d\d)/.exec(time)?.[1]);
        expect(variant.assertions[0]?.config).toEqual({
          value: variant.tester_persona_prompt?.replace('- time: ', 'at '),
        });
      }
    },
  );

  it.each(['09:30', '08:05', '01:00 pm', '0171-05', '0042'])('keeps a leading zero, as of %s', (value) => {
    for (const variant of keeping(`- value: ${value}`, { value: `at ${value}` })) {
      const [, other = ''] = /value: (.+)/.exec(variant.tester_persona_prompt ?? '') ?? [];
      expect(other).not.toBe(value);
      expect(other).toHaveLength(value.length);
      for (const { index } of value.matchAll(/\b0(?=\d)/g))
        expect(`${value}: ${other.slice(index, index + 2)}`).toMatch(/: (?:0|1[0-2]$)/);
    }
  });

  it.each([
    ['days', 'Monday', 'Tuesday'],
    ['figures', '4', '6'],
    ['times', '7:30', '8:30'],
    ['numbers', '111', '244'],
  ])('stays different from the other ones: %s', (_, first, second) => {
    const prompt = `- not wanted: ${first}\n- wanted: ${second}`;
    for (const variant of keeping(prompt, { value: second })) {
      const text = variant.tester_persona_prompt ?? '';
      const [, refused, wanted] = /^- not wanted: (.+)\n- wanted: (.+)$/.exec(text) ?? [];
      expect(wanted).not.toBe(refused);
      expect([wanted, refused]).not.toEqual([second, first]);
      expect(variant.assertions[0]?.config).toEqual({ value: wanted });
    }
  });
});

/** A scenario about a time of the day, which all that says it says in some form. */
const time = fc.record({
  hour: fc.integer({ min: 0, max: 23 }),
  padded: fc.boolean(),
  minutes: fc.option(fc.constantFrom('00', '05', '30', '45'), { nil: null }),
  suffix: fc.constantFrom('', ' am', ' pm', 'pm', " o'clock"),
});
type Time = typeof time extends fc.Arbitrary<infer T> ? T : never;
const written = ({ hour, minutes, padded }: Time) =>
  `${padded ? String(hour).padStart(2, '0') : hour}${minutes === null ? '' : `:${minutes}`}`;
const forms: Readonly<Record<string, (of: Time) => string>> = {
  whole: (of) => written(of) + of.suffix,
  bare: written,
  at: (of) => `at ${written(of)}`,
  keyed: (of) => written(of).replace(':', ''),
};
const form = fc.constantFrom(...Object.values(forms));
const figures = (text: string) => text.match(/\d/g)?.join('') ?? '';

describe('a time of a held-out variant', () => {
  it('has as many figures, and is the same for the caller and for what is expected, in whatever forms', () => {
    const places = fc.record({
      time,
      inPrompt: form,
      inLine: form,
      expected: form,
      number: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(places, ({ expected, inLine, inPrompt, number, time: of }) => {
        const before = {
          ...(scenario as object),
          tester_persona_prompt: `You want to book.\n- time: ${inPrompt(of)}\n- name: Sam Reed`,
          metadata: null,
          input_messages: [{ role: 'user', content: `For Sam Reed, ${inLine(of)}.` }],
          assertions: [{ type: 'STRING_CHECK', config: { value: `Booked for ${expected(of)}` } }],
        };
        const after = variantOf(before as never, number);
        const saidTimes = [
          after.tester_persona_prompt ?? '',
          after.input_messages?.[0]?.content ?? '',
          String(after.assertions[0]?.config.value),
        ].map(figures);
        expect(new Set(saidTimes).size).toBe(1);
        const [said = ''] = saidTimes;
        expect(said).toHaveLength(figures(written(of)).length);
        // No hour that there is not, and the minutes as they were.
        const minutes = of.minutes ?? '';
        expect(said.endsWith(minutes)).toBe(true);
        const hour = Number(said.slice(0, said.length - minutes.length));
        expect(hour).toBeLessThan(of.hour > 0 && of.hour < 13 ? 13 : 24);
      }),
      { numRuns: rounds(500) },
    );
  });
});
