import { describe, expect, it } from 'vitest';
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

  it.each(['7:30 pm', '12:59 am', '14:05', '00:15', '23:45'])(
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
