/** Agreement of two who judge the same with pass or fail: contract 6.14. Nothing here is rounded. */
import { type Interval, wilson } from './statistics.ts';

/** Two-sided 95 %. */
const z = 1.96;

/** How often: first the person, then the judge. */
export interface Confusion {
  readonly passPass: number;
  readonly passFail: number;
  readonly failPass: number;
  readonly failFail: number;
}

export interface Agreement {
  readonly value: number | null;
  readonly interval: Interval | null;
}

/** The share of equal verdicts, with its Wilson interval. */
export function agreement({ failFail, failPass, passFail, passPass }: Confusion): Agreement {
  const n = passPass + passFail + failPass + failFail;
  const same = passPass + failFail;
  return { value: n === 0 ? null : same / n, interval: wilson(same, n) };
}

/**
 * Cohen's kappa: agreement beyond what chance would give at these shares of pass and fail. The interval has the standard
 * error of Fleiss, Cohen and Everitt (Psychological Bulletin 72, 1969), which is for large samples. Null when both always
 * gave one and the same verdict, because chance alone then explains all of it.
 */
export function kappa({ failFail, failPass, passFail, passPass }: Confusion): Agreement {
  const n = passPass + passFail + failPass + failFail;
  if (n === 0) return { value: null, interval: null };
  const [a, b, c, d] = [passPass / n, passFail / n, failPass / n, failFail / n];
  const person = { pass: a + b, fail: c + d };
  const judge = { pass: a + c, fail: b + d };
  const chance = person.pass * judge.pass + person.fail * judge.fail;
  if (1 - chance < 1e-12) return { value: null, interval: null };
  const value = (a + d - chance) / (1 - chance);
  const rest = 1 - value;
  const equal =
    a * (1 - (person.pass + judge.pass) * rest) ** 2 + d * (1 - (person.fail + judge.fail) * rest) ** 2;
  const unequal = rest ** 2 * (b * (judge.pass + person.fail) ** 2 + c * (judge.fail + person.pass) ** 2);
  const variance = (equal + unequal - (value - chance * rest) ** 2) / (n * (1 - chance) ** 2);
  const reach = z * Math.sqrt(Math.max(0, variance));
  // Without a single disagreement, or with nothing else, the formula knows no error at all: that is not believed.
  const interval =
    variance < 1e-12 ? null : { low: Math.max(-1, value - reach), high: Math.min(1, value + reach) };
  return { value, interval };
}
