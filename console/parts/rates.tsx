/** Shares and their intervals. */
import { tests } from '../text/tests.ts';

const percentForm = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });

export function percent(share: number | null): string {
  return share === null ? '–' : percentForm.format(share);
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

interface RateBarProps {
  readonly rate: number | null;
  readonly interval: Interval | null;
  /** Why there is no interval. */
  readonly note: string | null;
}

/** A rate as a point on a line from 0 to 100 %, with the interval in which the true one lies. */
export function RateBar({ rate, interval, note }: RateBarProps) {
  if (rate === null) return <span class="quiet">–</span>;
  if (interval === null)
    return (
      <>
        {percent(rate)} <small class="quiet rate-note">{note}</small>
      </>
    );
  const said = tests.set.interval(percent(interval.low), percent(interval.high));
  return (
    <span class="rate">
      <span class="rate-number">{percent(rate)}</span>
      <svg viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label={said}>
        <title>{said}</title>
        <rect class="rate-whole" x="0" y="5" width="100" height="2" />
        <rect
          class="rate-interval"
          x={interval.low * 100}
          y="3"
          width={Math.max(1, (interval.high - interval.low) * 100)}
          height="6"
        />
        <rect class="rate-point" x={Math.min(98, rate * 98)} y="0" width="2" height="12" />
      </svg>
      <small class="quiet">{said}</small>
    </span>
  );
}
