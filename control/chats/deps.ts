/** What chats need from the rest of the control plane. */
import type { Clock } from '#shared/clock.ts';
import type { TextSessionParts } from '../conversations/index.ts';
import type { Database, Replica } from '../db/index.ts';
import type { Quotas } from '../organizations/index.ts';

export interface ChatDeps {
  readonly clock: Clock;
  readonly database: Database;
  readonly replica: Replica;
  /** What text conversations are made of. */
  readonly conversations: TextSessionParts;
  /** Organizations' quotas. */
  readonly quotas: Quotas;
}
