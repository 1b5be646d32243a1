/** The result of a soak as data, and as a summary for the terminal. */
import type { Tally } from './ledger.ts';
import type { SoakOptions } from './options.ts';
import { amount } from './plot.ts';
import type { CountedLine } from './program-log.ts';
import type { Restart } from './restarts.ts';
import type { Series } from './series.ts';
import type { Verdict } from './verdict.ts';

export interface SlopeLine {
  readonly group: string;
  readonly name: string;
  readonly unit: 'octets' | 'count';
  readonly verdict: Verdict;
  readonly bound: string | null;
  /** Null without enough samples. */
  readonly per1000: number | null;
  readonly steadiness: number | null;
  /** Samples after the warm-up of their process. */
  readonly settled: number;
  readonly segments: number;
  readonly first: number;
  readonly last: number;
  readonly most: number;
}

export interface RestartLine extends Restart {
  /** Until /health was 200 and the program ran again; null: it did not in time. */
  readonly backAfterMs: number | null;
}

export interface Report {
  readonly passed: boolean;
  readonly options: Pick<SoakOptions, 'hours' | 'seed' | 'rate'> & {
    readonly database: 'SQLite' | 'PostgreSQL';
  };
  readonly machine: string;
  readonly begunAt: string;
  /** Of the load. */
  readonly seconds: number;
  readonly calls: number;
  readonly operations: number;
  readonly mostAtATime: number;
  readonly skipped: number;
  readonly kinds: Readonly<Record<string, Tally>>;
  readonly records: {
    readonly verified: number;
    readonly allowedMissing: number;
    readonly stored: number;
  };
  readonly broken: { readonly count: number; readonly shown: readonly string[] };
  readonly restarts: readonly RestartLine[];
  readonly stalls: { readonly count: number; readonly longestMs: number };
  readonly network: string;
  readonly weather: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly slopes: readonly SlopeLine[];
  readonly samples: { readonly taken: number; readonly incomplete: number };
  readonly log: readonly CountedLine[];
}

export function slopeLine(series: Series): SlopeLine {
  const { group, name, unit } = series.facts;
  const { verdict, slope, bound } = series.judged();
  const values = series.samples.map(({ value }) => value);
  return {
    group,
    name,
    unit,
    verdict,
    bound,
    per1000: slope?.per1000 ?? null,
    steadiness: slope?.steadiness ?? null,
    settled: series.samples.filter(({ settled }) => settled).length,
    segments: new Set(series.samples.map(({ segment }) => segment)).size,
    first: values[0] ?? 0,
    last: values.at(-1) ?? 0,
    most: values.reduce((most, value) => Math.max(most, value), 0),
  };
}

export function summary(report: Report): string {
  const { options, calls, operations, seconds, records, broken, slopes, restarts } = report;
  const count = (verdict: Verdict) => slopes.filter((one) => one.verdict === verdict).length;
  const leaking = slopes.filter(({ verdict }) => verdict === 'leaking');
  const excused = Object.values(report.kinds).reduce((sum, one) => sum + one.excused, 0);
  return [
    `${report.passed ? 'PASSED' : 'FAILED'}: ${(seconds / 60).toFixed(0)} minutes, seed ${options.seed}, ${options.database}`,
    `${calls} calls and ${operations} operations over the API; ${excused} failed by what the soak broke, ${broken.count} broken promises`,
    `${records.verified} records verified, ${records.allowedMissing} missing that may be`,
    `${restarts.length} restarts: ${restarts.map(({ role, signal }) => `${role} ${signal}`).join(', ')}`,
    `slopes: ${count('flat')} flat, ${count('growing')} growing within a bound, ${count('leaking')} leaking, ${count('too short')} without enough samples`,
    ...leaking.map(
      ({ group, name, per1000, unit }) =>
        `  leaking: ${group}: ${name}, ${amount(per1000 ?? 0, unit)} per 1,000 calls`,
    ),
    ...broken.shown.slice(0, 20).map((line) => `  broken: ${line}`),
  ].join('\n');
}
