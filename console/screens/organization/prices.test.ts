import { describe, expect, it } from 'vitest';
import { priceLines, pricesOf } from './prices.ts';

describe('prices of models', () => {
  it('are lines with a name, which may have spaces, and two prices', () => {
    const lines = ['gpt-4.1-mini 0.4 1.6', 'our model  v2  0 12'];
    const prices = pricesOf('EUR', lines);
    expect(prices).toEqual({
      currency: 'EUR',
      models: [
        { model: 'gpt-4.1-mini', input: 0.4, output: 1.6 },
        { model: 'our model  v2', input: 0, output: 12 },
      ],
    });
    expect(pricesOf('EUR', priceLines(prices).split('\n'))).toEqual(prices);
  });

  it('are none without a line, and name the line that is wrong', () => {
    expect([pricesOf('EUR', []), priceLines(null)]).toEqual([null, '']);
    for (const line of ['a 1', '1 2', 'a -1 2', 'a 1 2,5'])
      expect(() => pricesOf('EUR', ['b 1 2', line])).toThrow('line 2');
  });
});
