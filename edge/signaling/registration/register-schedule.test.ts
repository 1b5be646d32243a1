import { describe, expect, it } from 'vitest';
import { isRenewalDue, pauseAfter } from './register-schedule.ts';

const settings = { retryMs: 5_000, retryMaxMs: 600_000, refusedPauseMs: 300_000 };
const passing = { lasting: false, retryAfterS: null };
const refused = { lasting: true, retryAfterS: null };
const least = () => 0;
const most = () => 1;

describe('the pause after a failed registration', () => {
  it.each([
    // what           failures refusals  ms since  least    most
    ['unavailable', passing, 1, 0, null, 5_000, 10_000],
    ['unavailable', passing, 2, 0, null, 10_000, 20_000],
    ['unavailable', passing, 9, 0, null, 300_000, 600_000],
    ['refused', refused, 1, 1, null, 300_000, 330_000],
    ['unavailable, new', passing, 1, 0, 0, 4_000, 5_000],
    ['unavailable, new', passing, 3, 0, 30_000, 12_000, 15_000],
    ['unavailable, new', passing, 6, 0, 90_000, 24_000, 30_000],
    ['unavailable, new', passing, 9, 0, 200_000, 24_000, 30_000],
    ['unavailable, no longer new', passing, 12, 0, 290_000, 300_000, 600_000],
    ['refused, new', refused, 1, 1, 0, 4_000, 5_000],
    ['refused, new', refused, 7, 7, 105_000, 24_000, 30_000],
    ['refused too often', refused, 8, 8, 135_000, 300_000, 330_000],
    ['refused too often, now unavailable', passing, 9, 8, 200_000, 24_000, 30_000],
    ['refused, no longer new', refused, 2, 2, 300_000, 300_000, 330_000],
  ] as const)('%s (%j), failure %i, refusal %i, %s ms after the set-up', (...row) => {
    const [, failure, failures, refusals, sinceSetUpMs, low, high] = row;
    const tries = { failures, refusals, sinceSetUpMs };
    expect(pauseAfter(failure, tries, settings, least)).toBe(low);
    expect(pauseAfter(failure, tries, settings, most)).toBe(high);
  });

  it('is never longer for a new record than for others', () => {
    const brief = { retryMs: 1_000, retryMaxMs: 2_000, refusedPauseMs: 1_000 };
    for (const failure of [passing, refused]) {
      for (let failures = 1; failures < 20; failures++) {
        const tries = { failures, refusals: 0 };
        const fresh = pauseAfter(failure, { ...tries, sinceSetUpMs: 0 }, brief, most);
        expect(fresh).toBeLessThanOrEqual(pauseAfter(failure, { ...tries, sinceSetUpMs: null }, brief, most));
      }
    }
  });

  it('is at least what the registrar requests', () => {
    const tries = { failures: 1, refusals: 0, sinceSetUpMs: 0 };
    expect(pauseAfter({ lasting: false, retryAfterS: 90 }, tries, settings, least)).toBe(90_000);
    expect(pauseAfter({ lasting: true, retryAfterS: 900 }, tries, settings, least)).toBe(900_000);
  });
});

it.each([
  ['the port of a flow is known', 5061, true, 600_000, false],
  ['the embedded engine gets no rport', null, true, 0, true],
  ['a drachtio-server asks for no rport', null, false, 119_999, false],
  ['a drachtio-server asks for no rport, after two minutes', null, false, 120_000, true],
])('a binding is renewed to check its connection: %s', (_, rport, embedded, sinceBoundMs, expected) => {
  expect(isRenewalDue(rport, embedded, sinceBoundMs)).toBe(expected);
});
