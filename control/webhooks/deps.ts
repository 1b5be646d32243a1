/** What webhooks need from the rest of the control plane. */
import type { Clock } from '#shared/clock.ts';
import type { Database, Replica } from '../db/index.ts';
import type { Announcements } from '../edge-link/index.ts';

export interface WebhookDeps {
  /** Announces the ids whose last report was stored. */
  readonly announcements: Announcements;
  readonly replica: Replica;
}

export interface WebhookRouteDeps {
  readonly announcements: Pick<Announcements, 'announce'>;
  readonly clock: Clock;
  readonly database: Database;
}
