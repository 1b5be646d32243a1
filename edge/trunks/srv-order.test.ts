import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { srv } from '../../test/kit/edge/trunks.ts';
import { orderSrv, sipsServices } from './srv-order.ts';

/** Returns the numbers one after the other. */
function numbers(...values: number[]): () => number {
  return () => values.shift() ?? 0;
}

describe('orderSrv', () => {
  it('puts the lower priority first, whatever the weights are', () => {
    const order = orderSrv([srv('b', 1, 20, 99), srv('a', 1, 10, 1), srv('c', 1, 30, 5)], Math.random);
    expect(order.map(({ target }) => target)).toEqual(['a', 'b', 'c']);
  });

  it.each([
    // The sum is 80: the number drawn is floor(random * 81); "heavy" covers 1..60, "light" 61..80.
    [0.0, ['none', 'heavy', 'light']],
    [0.02, ['heavy', 'none', 'light']],
    [0.76, ['light', 'none', 'heavy']],
  ])('draws by weight within a priority (%d)', (first, expected) => {
    const records = [srv('heavy', 1, 10, 60), srv('light', 1, 10, 20), srv('none', 1, 10, 0)];
    expect(orderSrv(records, numbers(first, 0, 0)).map(({ target }) => target)).toEqual(expected);
  });

  it('puts the heavier of two first in three quarters of the draws', () => {
    const records = [srv('heavy', 1, 10, 60), srv('light', 1, 10, 20)];
    let heavy = 0;
    for (let step = 0; step < 1000; step++) {
      if (orderSrv(records, numbers(step / 1000))[0]?.target === 'heavy') heavy += 1;
    }
    // 61 of the 81 possible numbers: 0..60.
    expect(heavy).toBe(754);
  });

  it('keeps every record exactly once, ordered by priority', () => {
    const record = fc.record({
      target: fc.string(),
      port: fc.integer({ min: 1, max: 65_535 }),
      priority: fc.integer({ min: 0, max: 3 }),
      weight: fc.integer({ min: 0, max: 65_535 }),
    });
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.array(record, { maxLength: 12 }), random, (records, value) => {
        const order = orderSrv(records, () => value);
        expect(order).toHaveLength(records.length);
        expect(new Set(order)).toEqual(new Set(records));
        expect(order.map(({ priority }) => priority)).toEqual(
          records.map(({ priority }) => priority).toSorted((one, other) => one - other),
        );
      }),
    );
  });
});

describe('sipsServices', () => {
  it('keeps only SIP over TLS, by order and preference', () => {
    const naptr = (order: number, preference: number, service: string, replacement: string, flags = 's') => ({
      order,
      preference,
      flags,
      service,
      replacement,
    });
    const records = [
      naptr(10, 50, 'SIP+D2U', '_sip._udp.example.com'),
      naptr(20, 10, 'SIPS+D2T', '_sips._tcp.third.example.com'),
      naptr(10, 20, 'sips+d2t', '_sips._tcp.second.example.com', 'S'),
      naptr(10, 10, 'SIPS+D2T', '_sips._tcp.first.example.com'),
      naptr(5, 1, 'SIPS+D2T', 'other.example.com', 'u'),
      naptr(5, 1, 'SIPS+D2T', ''),
    ];
    expect(sipsServices(records)).toEqual([
      '_sips._tcp.first.example.com',
      '_sips._tcp.second.example.com',
      '_sips._tcp.third.example.com',
    ]);
  });
});
