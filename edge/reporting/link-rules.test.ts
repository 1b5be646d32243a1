import { expect, it } from 'vitest';
import { defaultLinkLimits } from './link.ts';
import { isRefusal, retryPause } from './link-rules.ts';

it.each([
  [0, false, 250],
  [1, false, 500],
  [2, false, 1_000],
  [3, false, 1_500],
  [1_000, false, 1_500],
  [0, true, 250],
  [3, true, 2_000],
  [6, true, 15_000],
  [1_000, true, 15_000],
])(
  'after %i failures (rejected: %s) it waits up to %i ms, and at least half of it',
  (failures, refused, ms) => {
    expect(retryPause(defaultLinkLimits, failures, refused, 0)).toBe(ms);
    expect(retryPause(defaultLinkLimits, failures, refused, 1)).toBe(ms / 2);
  },
);

it('retries quickly after repeated rejections once control is merely away', () => {
  expect(retryPause(defaultLinkLimits, 50, false, 0)).toBe(1_500);
});

it.each([
  ['Unexpected server response: 401', true],
  ['Unexpected server response: 403', true],
  ['Unexpected server response: 503', false],
  ['connect ECONNREFUSED 127.0.0.1:8080', false],
  [undefined, false],
])('%s is a rejection: %s', (why, refused) => {
  expect(isRefusal(why)).toBe(refused);
});
