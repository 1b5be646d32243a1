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
