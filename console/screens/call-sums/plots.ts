/** Sums of calls as columns of numbers: what the plots draw; and which time they are asked for. */
import type { Answer } from '../../api/client.ts';
import { texts } from '../../text/texts.ts';

type Sum = Answer<'GET /v1/sip/calls/aggregates'>['data']['aggregates'][number];

export interface SumsPlot {
  readonly title: string;
  /** Starts of periods, s since 1970. */
  readonly times: readonly number[];
  /** What is always shown. */
  readonly least: number;
  readonly most: number;
  readonly series: readonly {
    readonly label: string;
    /** Variable of the stylesheet. */
    readonly color: string;
    readonly values: readonly (number | null)[];
  }[];
}

const { plots } = texts.calls.sums;
const colors = ['--accent', '--warn'];

function plot<Name extends string>(
  sums: readonly Sum[],
  { title, lines }: { readonly title: string; readonly lines: Readonly<Record<Name, string>> },
  [least, most]: readonly [number, number],
  ...values: readonly ((sum: Sum) => number | null)[]
): SumsPlot {
  const labels = Object.values<string>(lines);
  return {
    title,
    times: sums.map(({ period }) => Date.parse(period) / 1000),
    least,
    most,
    series: values.map((of, index) => ({
      label: labels[index] ?? '',
      color: colors[index] ?? '--text',
      values: sums.map(of),
    })),
  };
}

export function sumsPlots(sums: readonly Sum[]): SumsPlot[] {
  return [
    plot(
      sums,
      plots.calls,
      [0, 1],
      ({ calls }) => calls,
      ({ answered }) => answered,
    ),
    plot(sums, plots.asr, [0, 100], ({ asr_percent }) => asr_percent),
    plot(sums, plots.acd, [0, 60], ({ acd_seconds }) => acd_seconds),
    plot(
      sums,
      plots.mos,
      [1, 4.5],
      ({ mos }) => mos?.p50 ?? null,
      ({ mos }) => mos?.p5 ?? null,
    ),
  ];
}

const periodSeconds = { hour: 3600, day: 86_400 } as const;

/** From and to of the axis: a single period has room at both sides, else the axis would end decades later. */
export function shownTimes(
  times: readonly number[],
  by: keyof typeof periodSeconds,
): [from: number, to: number] {
  const [first = 0] = times;
  const last = times.at(-1) ?? first;
  const room = first === last ? periodSeconds[by] : 0;
  return [first - room, last + room];
}

const dayMs = 24 * 60 * 60 * 1000;
/** Without a first day. */
const usualDays = 30;
/** Up to here by hour: more points than pixels tell nothing. */
const hourlyDays = 7;

/** @param from a day, or empty @param to a day, or empty */
export function spanOf(from: string, to: string, now: number) {
  const end = to === '' ? now : Date.parse(to) + dayMs;
  const begin = from === '' ? end - usualDays * dayMs : Date.parse(from);
  // A date that is none is for the API to refuse.
  const from_date = from === '' && !Number.isNaN(begin) ? new Date(begin).toISOString().slice(0, 10) : from;
  const by = end - begin <= hourlyDays * dayMs ? ('hour' as const) : ('day' as const);
  return { by, from_date, ...(to !== '' && { to_date: to }) };
}
