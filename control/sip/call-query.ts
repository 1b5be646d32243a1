/** The query of the call log, read (contract 3.4). */
import type { CallLogQuery } from '#shared/api/sip-calls.ts';
import { toE164 } from '#shared/e164.ts';
import { ApiError } from '#shared/errors.ts';
import { outcomes } from '../calls/rules.ts';
import type { CallFilter } from '../calls/store.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** The filter that a query stands for, but for its cursor. @throws ApiError INVALID_PARAMETER */
export function callFilter(query: CallLogQuery): CallFilter {
  return {
    ...(query.phone_number !== undefined && { number: numberOf(query.phone_number) }),
    ...(query.direction !== undefined && { direction: query.direction }),
    ...statusFilter(query.status),
    ...(query.from_date !== undefined && { from: readTime(query.from_date, '?from_date').begins }),
    ...(query.to_date !== undefined && { to: readTime(query.to_date, '?to_date').ends }),
  };
}

function numberOf(text: string): string {
  const number = toE164(text);
  if (number === null) throw ApiError.invalid('?phone_number', 'must be an E.164 number of 7 to 15 digits');
  return number;
}

function statusFilter(status: string | undefined): Pick<CallFilter, 'outcome' | 'sipCode'> {
  if (status === undefined) return {};
  if (/^[1-6][0-9]{2}$/.test(status)) return { sipCode: Number(status) };
  const outcome = outcomes.find((one) => one === status);
  if (outcome) return { outcome };
  throw ApiError.invalid('?status', `must be a SIP code or one of ${outcomes.join(', ')}`);
}

const dateForm = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const timeForm =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})$/;

/** Both ends of what a text names: a moment, or a whole UTC day. */
function readTime(text: string, path: string): { begins: string; ends: string } {
  const ms = dateForm.test(text) || timeForm.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw ApiError.invalid(path, 'must be a date or an ISO 8601 time with a zone');
  const ends = dateForm.test(text) ? ms + dayMs : ms;
  return { begins: new Date(ms).toISOString(), ends: new Date(ends).toISOString() };
}
