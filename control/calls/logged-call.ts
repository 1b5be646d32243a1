import { ApiError } from '#shared/errors.ts';
import type { CallRow, Db } from '../db/index.ts';
import { findLoggedCall } from './store.ts';

/** @throws ApiError CALL_NOT_FOUND: the organization has none with this id or Call-ID */
export async function requireCall(db: Db, orgId: string, callId: string): Promise<CallRow> {
  const call = await findLoggedCall(db, orgId, callId);
  if (!call) throw ApiError.of('CALL_NOT_FOUND');
  return call;
}
