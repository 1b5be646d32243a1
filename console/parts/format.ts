/** Times and numbers in the reader's own form. */
const timeOfDay = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const dayAndTime = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const dayOfYear = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const complete = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** Today only the time; of another year only the day. */
export function shortTime(iso: string, now = new Date()): string {
  const at = new Date(iso);
  if (at.getFullYear() !== now.getFullYear()) return dayOfYear.format(at);
  return (at.toDateString() === now.toDateString() ? timeOfDay : dayAndTime).format(at);
}

export function completeTime(iso: string): string {
  return complete.format(new Date(iso));
}

const hourOfDay = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const dayOfMonth = new Intl.DateTimeFormat(undefined, { month: 'short', day: '2-digit' });

/** Of an axis, s since 1970: the time, and below it the day where it is another one; of days only the day. */
export function axisTimes(seconds: readonly number[]): string[] {
  const [first = 0, second = 0] = seconds;
  const byDay = second - first >= 86_400;
  let shown = '';
  return seconds.map((at) => {
    const time = new Date(at * 1000);
    const day = dayOfMonth.format(time);
    if (byDay) return day;
    const isSame = day === shown;
    shown = day;
    return isSame ? hourOfDay.format(time) : `${hourOfDay.format(time)}\n${day}`;
  });
}

/** Whole days until a time; negative once it is over. */
export function daysUntil(iso: string, now = Date.now()): number {
  return Math.floor((Date.parse(iso) - now) / 86_400_000);
}

/** `0:07`, `12:40`, `1:02:03` */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** An offset on the axis of a call: `+3.214 s`, `+1:02.5`. */
export function offset(ms: number): string {
  const sign = ms < 0 ? '−' : '+';
  const abs = Math.abs(ms);
  if (abs < 60_000) return `${sign}${(abs / 1000).toFixed(3)} s`;
  const minutes = Math.floor(abs / 60_000);
  return `${sign}${minutes}:${((abs % 60_000) / 1000).toFixed(1).padStart(4, '0')}`;
}

/** @param value null: not measured */
export function figure(value: number | null | undefined, digits: number, unit = ''): string {
  if (value === null || value === undefined) return '–';
  const text = value.toLocaleString(undefined, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return unit === '' ? text : `${text} ${unit}`;
}

/** A value of any JSON type in one line; a text stays as it is. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The lines of a text that are not empty, without the spaces around them. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
