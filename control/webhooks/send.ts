/** One attempt to deliver an event: signed with the organization's current secret, posted (contract 13). */

import { type OutgoingParts, sendOutgoing } from '#outgoing/request.ts';
import type { Db, SecretBox } from '../db/index.ts';
import { findOrganization, signingSecretContext } from '../organizations/index.ts';
import { type AttemptResult, type Event, webhookHeaders } from './rules.ts';

export interface PostParts extends OutgoingParts {
  /** Timeout from the look-up to the response headers, ms. */
  readonly timeoutMs: number;
}

/** One HTTPS POST to a checked address (contract 1.9). Resolves with the status of the response, or with why there was none. Does not follow redirects. */
export async function post(
  parts: PostParts,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<AttemptResult> {
  try {
    const target = new URL(url);
    if (target.protocol !== 'https:') return { error: `${target.protocol} is not supported` };
    // The response body is not used, whatever its length.
    const order = { method: 'POST', url: target, headers, body, timeoutMs: parts.timeoutMs, mostBytes: 0 };
    return { status: (await sendOutgoing(parts, { ...order, signal })).status };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

export interface SendParts extends PostParts {
  readonly db: Db;
  readonly secrets: SecretBox;
}

/** @throws Error when the organization does not exist */
export async function sendEvent(
  parts: SendParts,
  orgId: string,
  url: string,
  event: Event,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const { signing_secret } = await findOrganization(parts.db, orgId);
  const secret = parts.secrets.open(signing_secret, signingSecretContext(orgId));
  return post(parts, url, webhookHeaders(event, secret, parts.clock.now()), event.body, signal);
}
