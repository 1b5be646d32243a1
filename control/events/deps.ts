/** What the events of organizations need from the rest of the control plane. */
import type { Clock } from '#shared/clock.ts';
import type { Database } from '../db/index.ts';
import type { Announcements } from '../edge-link/index.ts';
import type { SharedCounts } from '../replicas/index.ts';
import type { Followers } from './followers.ts';
import type { EventLimits } from './limits.ts';

export interface EventDeps {
  readonly clock: Clock;
  readonly announcements: Pick<Announcements, 'on'>;
  readonly database: Database;
  readonly followers: Followers;
  readonly limits: { readonly events: EventLimits };
  /** Counters of all replicas together. */
  readonly sharedCounts: SharedCounts;
}
