/** Refuses hosts that the service must not contact, where a customer names them (contract 1.9). */
import type { BlockList } from 'node:net';
import { ApiError, type ErrorItem, errorItem } from './errors.ts';
import { judgeHost } from './outgoing-targets.ts';

/**
 * A literal address, and the name `localhost`, are checked now; other names at use.
 * @param path of the value that names the host
 * @throws ApiError TARGET_NOT_ALLOWED
 */
export function requireAllowedHost(host: string, path: string, allowed: BlockList): void {
  const verdict = judgeHost(host, allowed);
  if (!verdict.allowed) throw ApiError.many([targetNotAllowed(path, host, verdict.reason)]);
}

/** @param reason as `judgeHost` states it */
export function targetNotAllowed(path: string, address: string, reason: string): ErrorItem {
  const message = `${reason}: name a public one, or ask the operator to allow its network (ALLOW_PRIVATE_TARGETS).`;
  return errorItem('TARGET_NOT_ALLOWED', { path, address }, message);
}
