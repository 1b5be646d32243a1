/** A line plot as inline SVG. Pure. */
import type { Sample } from './series.ts';

const width = 460;
const height = 150;
const left = 64;
const bottom = 22;
const top = 10;
const right = 8;
/** More points than pixels draw nothing more. */
const mostPoints = 400;

export interface Mark {
  /** ms since the beginning of the load */
  readonly at: number;
  readonly label: string;
}

/** @param unit `octets` are written as KiB, MiB or GiB */
export function plot(samples: readonly Sample[], unit: 'octets' | 'count', marks: readonly Mark[]): string {
  const last = Math.max(1, samples.at(-1)?.at ?? 1);
  const values = samples.map(({ value }) => value);
  const low = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  // A flat line is drawn in the middle, and small changes are not drawn large.
  const room = Math.max((high - low) * 0.05, high * 0.05, 1);
  const [from, to] = values.length === 0 ? [0, 1] : [Math.max(0, low - room), high + room];
  const x = (at: number) => (left + (at / last) * (width - left - right)).toFixed(1);
  const y = (value: number) => (top + ((to - value) / (to - from)) * (height - top - bottom)).toFixed(1);
  const step = Math.max(1, Math.ceil(samples.length / mostPoints));
  const shown = samples.filter((_, index) => index % step === 0 || index === samples.length - 1);
  const lines = [...Map.groupBy(shown, ({ segment }) => segment).values()].map(
    (points) =>
      `<polyline points="${points.map(({ at, value }) => `${x(at)},${y(value)}`).join(' ')}" class="line"/>`,
  );
  const bars = marks
    .filter(({ at }) => at <= last)
    .map(
      ({ at, label }) =>
        `<line x1="${x(at)}" x2="${x(at)}" y1="${top}" y2="${height - bottom}" class="mark"><title>${escaped(label)}</title></line>`,
    );
  return [
    `<svg viewBox="0 0 ${width} ${height}" role="img" xmlns="http://www.w3.org/2000/svg">`,
    `<rect x="${left}" y="${top}" width="${width - left - right}" height="${height - top - bottom}" class="frame"/>`,
    ...bars,
    ...lines,
    `<text x="${left - 4}" y="${top + 9}" text-anchor="end">${amount(to, unit)}</text>`,
    `<text x="${left - 4}" y="${height - bottom}" text-anchor="end">${amount(from, unit)}</text>`,
    `<text x="${left}" y="${height - 7}">0</text>`,
    `<text x="${width - right}" y="${height - 7}" text-anchor="end">${(last / 60_000).toFixed(0)} min</text>`,
    '</svg>',
  ].join('');
}

/** `1.5 MiB`, `12`, `-0.25` */
export function amount(value: number, unit: 'octets' | 'count'): string {
  if (unit === 'count') return rounded(value);
  for (const [name, size] of [
    ['GiB', 2 ** 30],
    ['MiB', 2 ** 20],
    ['KiB', 2 ** 10],
  ] as const)
    if (Math.abs(value) >= size) return `${rounded(value / size)} ${name}`;
  return `${rounded(value)} B`;
}

function rounded(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return String(Number(value.toFixed(digits)));
}

export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
