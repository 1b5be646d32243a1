/** Carriers' business days: Monday to Friday without the federal holidays of the USA. Pure; dates are UTC. */
import { createRequire } from 'node:module';
import type Holidays from 'date-holidays';

const dayMs = 24 * 60 * 60 * 1000;
const require = createRequire(import.meta.url);
/** Created for the first date: the calendars of all countries take a tenth of a second to load. */
let holidays: Holidays | null = null;
/** `YYYY-MM-DD` of the holidays by year, including those observed on a weekday instead of a weekend. */
const byYear = new Map<number, ReadonlySet<string>>();

function holidaysOf(year: number): ReadonlySet<string> {
  const known = byYear.get(year);
  if (known) return known;
  holidays ??= usCalendar();
  const days = new Set(holidays.getHolidays(year).map(({ date }) => date.slice(0, 10)));
  byYear.set(year, days);
  return days;
}

function usCalendar(): Holidays {
  const Calendar: typeof Holidays = require('date-holidays');
  return new Calendar('US', { types: ['public'], timezone: 'UTC' });
}

/** @param date `YYYY-MM-DD` */
export function isBusinessDay(date: string): boolean {
  const weekday = new Date(`${date}T00:00:00Z`).getUTCDay();
  return weekday !== 0 && weekday !== 6 && !holidaysOf(Number(date.slice(0, 4))).has(date);
}

/** The date this many business days after `date`, which does not count. @param date `YYYY-MM-DD` */
export function addBusinessDays(date: string, days: number): string {
  let at = date;
  for (let left = days; left > 0; ) {
    at = addDays(at, 1);
    if (isBusinessDay(at)) left--;
  }
  return at;
}

/** @param date `YYYY-MM-DD` */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);
}

/** `YYYY-MM-DD` in UTC. @param ms since 1970 */
export function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Contract 15: a port takes 7 to 14 business days, but never ends before the requested date. */
export function expectedCompletion(
  from: string,
  target: string,
  focDate: string | null,
): { earliest: string; latest: string } {
  if (focDate !== null) return { earliest: focDate, latest: focDate };
  const later = (days: number) => {
    const date = addBusinessDays(from, days);
    return date > target ? date : nextBusinessDay(target);
  };
  return { earliest: later(7), latest: later(14) };
}

function nextBusinessDay(date: string): string {
  return isBusinessDay(date) ? date : addBusinessDays(date, 1);
}
