/** One page of calls, for both lists of them: /v1/calls (contract 9.12) and /v1/sip/calls (contract 3.4). */
import type { CallListQuery } from '#shared/api/calls.ts';
import { toE164 } from '#shared/e164.ts';
import { ApiError } from '#shared/errors.ts';
import type { Db } from '../db/index.ts';
import { nextAfter, readSpan } from '../http/index.ts';
import { isSearch, type SearchFilter, type SearchPage, searchCalls } from './call-search.ts';
import { type CallFilter, listCalls } from './log-store.ts';
import { numberOf } from './number-filter.ts';
import { findLoggedCall } from './store.ts';

const defaultPage = 50;

/** @throws ApiError INVALID_CURSOR */
export async function pageOfCalls(
  db: Db,
  orgId: string,
  filter: SearchFilter,
  { before, limit = defaultPage }: { readonly before?: string; readonly limit?: number },
): Promise<SearchPage> {
  const after = before === undefined ? undefined : await findLoggedCall(db, orgId, before);
  if (before !== undefined && !after) throw ApiError.of('INVALID_CURSOR', { path: '?before' });
  const from = { ...filter, ...(after && { after }) };
  return isSearch(filter) ? searchCalls(db, orgId, from, limit) : page(db, orgId, from, limit);
}

async function page(db: Db, orgId: string, filter: CallFilter, limit: number): Promise<SearchPage> {
  const rows = await listCalls(db, orgId, filter, limit);
  return { rows, next: nextAfter(rows, limit, ({ id }) => id) };
}

type CommonQuery = Pick<
  CallListQuery,
  'phone_number' | 'direction' | 'from_date' | 'to_date' | 'other_party' | 'termination' | 'trunk_id'
>;

/** The filters that both lists have. @throws ApiError INVALID_PARAMETER */
export function commonFilter(query: CommonQuery): SearchFilter {
  const { direction, other_party, phone_number, termination, trunk_id } = query;
  return {
    // Calls have the number in this form, or whatever text the peer sent.
    ...(other_party !== undefined && { otherParty: toE164(other_party) ?? other_party }),
    ...(termination !== undefined && { termination }),
    ...(trunk_id !== undefined && { trunkId: trunk_id }),
    ...(phone_number !== undefined && { number: numberOf(phone_number) }),
    ...(direction !== undefined && { direction }),
    ...readSpan(query),
  };
}
