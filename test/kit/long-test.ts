/**
 * A test for `npm run test-long`: it repeats with other faults, more rounds or more time what a shorter test shows, or
 * measures. `npm test` skips it.
 */
import { test } from 'vitest';
import { isLong } from './is-long.ts';

export const longTest = test.runIf(isLong);

/** Rounds of a property or a storm: all in the long run, a quarter in `npm test`. */
export const rounds = (all: number): number => (isLong ? all : Math.ceil(all / 4));
