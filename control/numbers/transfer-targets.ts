/** Allowed transfer targets (contract 4). Pure. */

import type { BlockList } from 'node:net';
import { requireAllowedHost } from '#shared/allowed-host.ts';
import type { InboundUpdate } from '#shared/api/inbound.ts';
import { isPlace, readCallTarget, transferTargetOf } from '#shared/call-target.ts';
import { ApiError } from '#shared/errors.ts';

/**
 * A target of contract section 4, normalized: E.164, an extension, a SIP URI, the slot of a parked
 * call, or a conference.
 * @param method of the transfer; a tel URI stays one in a REFER
 * @throws ApiError INVALID_PARAMETER; TARGET_NOT_ALLOWED for a URI with a private literal address
 */
export function readTarget(
  text: string,
  path: string,
  allowedTargets: BlockList,
  method: 'bridge' | 'refer' = 'bridge',
): string {
  const read = readCallTarget(text);
  if ('problem' in read) throw ApiError.invalid(path, read.problem);
  const { target, host } = read;
  if (host === null) return transferTargetOf(read, method);
  requireAllowedHost(host, path, allowedTargets);
  return target;
}

/** The same, for a call: nobody can be called in the slot of a parked call or in a conference. */
export function readDialedTarget(text: string, path: string, allowedTargets: BlockList): string {
  const target = readTarget(text, path, allowedTargets);
  if (isPlace(target))
    throw ApiError.invalid(path, 'must not be the slot of a parked call, nor a conference');
  return target;
}

/**
 * The transfer targets of an agent, in an order or in a number's settings (contract 9.1 and 10).
 * @throws ApiError INVALID_PARAMETER, TARGET_NOT_ALLOWED
 */
export function checkTransferTargets(
  settings: Pick<InboundUpdate, 'transfer_list' | 'transfer_phone_number' | 'fallback_number'>,
  allowedTargets: BlockList,
): void {
  for (const [name, target] of Object.entries(settings.transfer_list ?? {})) {
    // RFC 6901 section 3.
    const member = name.replaceAll('~', '~0').replaceAll('/', '~1');
    readTarget(target, `/transfer_list/${member}`, allowedTargets);
  }
  const { transfer_phone_number: transferred, fallback_number: fallback } = settings;
  if (transferred) readTarget(transferred, '/transfer_phone_number', allowedTargets);
  if (fallback) readDialedTarget(fallback, '/fallback_number', allowedTargets);
}
