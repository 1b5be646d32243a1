/** Reads the query of the call log (contract 3.4). */
import type { CallLogQuery } from '#shared/api/sip-calls.ts';
import { toE164 } from '#shared/e164.ts';
import { ApiError } from '#shared/errors.ts';
import { readSpan } from '../http/index.ts';
import type { CallFilter } from './log-store.ts';
import { outcomes } from './outcome-rules.ts';

/** The filter of a query, without its cursor. @throws ApiError INVALID_PARAMETER */
export function callFilter(query: CallLogQuery): CallFilter {
  return {
    ...(query.phone_number !== undefined && { number: numberOf(query.phone_number) }),
    ...(query.direction !== undefined && { direction: query.direction }),
    ...statusFilter(query.status),
    ...readSpan(query),
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
