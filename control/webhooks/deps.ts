/** What webhooks need from the rest of the control plane. */
import type { Replica } from '../db/index.ts';
import type { Announcements } from '../edge-link/index.ts';

export interface WebhookDeps {
  /** Announces the ids whose last report was stored. */
  readonly announcements: Announcements;
  readonly replica: Replica;
}
