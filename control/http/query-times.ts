/** Times in queries: a date, or an ISO 8601 time with a zone (contract 3.4). */
import { ApiError } from '#shared/errors.ts';

const dayMs = 24 * 60 * 60 * 1000;
const dateForm = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const timeForm =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})$/;

/** A span of time in ISO 8601 with milliseconds: `from` inclusive, `to` exclusive. */
export interface TimeSpan {
  readonly from?: string;
  readonly to?: string;
}

/** @throws ApiError INVALID_PARAMETER */
export function readSpan(query: { from_date?: string; to_date?: string }): TimeSpan {
  const { from_date, to_date } = query;
  return {
    ...(from_date !== undefined && { from: readTime(from_date, '?from_date').begins }),
    ...(to_date !== undefined && { to: readTime(to_date, '?to_date').ends }),
  };
}

/** Both ends of what a text means: a moment, or a whole UTC day. */
function readTime(text: string, path: string): { begins: string; ends: string } {
  const isTime = (dateForm.test(text) || timeForm.test(text)) && isDay(text.slice(0, 10));
  const ms = isTime ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw ApiError.invalid(path, 'must be a date or an ISO 8601 time with a zone');
  const ends = dateForm.test(text) ? ms + dayMs : ms;
  return { begins: new Date(ms).toISOString(), ends: new Date(ends).toISOString() };
}

/** `Date.parse` accepts February 30 as March 2. */
function isDay(date: string): boolean {
  const ms = Date.parse(date);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}
