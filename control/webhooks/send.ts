/** One attempt to deliver an event: signed with the organization's current secret, posted (contract 13). */

import type { Db, SecretBox } from '../db/index.ts';
import { findOrganization, signingSecretContext } from '../organizations/index.ts';
import { type PostParts, post } from './post.ts';
import { type AttemptResult, type Event, webhookHeaders } from './rules.ts';

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
