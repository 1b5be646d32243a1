/** What alerts need from the rest of the control plane. */
import type { Clock } from '#shared/clock.ts';
import type { Database } from '../db/index.ts';
import type { Announcements, ConnectedEdges } from '../edge-link/index.ts';
import type { ControlConfig } from '../settings/index.ts';

export interface AlertDeps {
  readonly config: Pick<ControlConfig, 'alerts' | 'mail' | 'sms' | 'url'>;
  readonly clock: Clock;
  readonly database: Database;
  readonly edges: ConnectedEdges;
  /** Announces the ids whose last report was stored. */
  readonly announcements: Announcements;
}
