/** Differences of pass rates, as they are read. Pure. */
import type { Interval } from '../../parts/rates.tsx';
import { matrices } from '../../text/matrices.ts';

const signed = new Intl.NumberFormat(undefined, {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
});

export interface Difference {
  readonly value: number;
  readonly interval: Interval | null;
}

export interface SaidDifference {
  readonly value: string;
  readonly interval: string;
  /** Whether the whole interval is on one side of 0. */
  readonly certain: 'better' | 'worse' | null;
}

export function signedPercent(share: number): string {
  return signed.format(share);
}

export function saidDifference({ interval, value }: Difference): SaidDifference {
  if (interval === null) return { value: signedPercent(value), interval: matrices.noInterval, certain: null };
  const { high, low } = interval;
  const certain = high < 0 ? 'worse' : low > 0 ? 'better' : null;
  const said = matrices.interval(signedPercent(low), signedPercent(high));
  return { value: signedPercent(value), interval: said, certain };
}
