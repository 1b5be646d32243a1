/** What alerts need from the rest of the control plane. */
import type { Clock } from '#shared/clock.ts';
import type { Database, Replica } from '../db/index.ts';
import type { Announcements, ConnectedEdges } from '../edge-link/index.ts';
import type { Bus } from '../replicas/index.ts';
import type { ControlConfig } from '../settings/index.ts';
import type { AlertLimits } from './limits.ts';

export interface AlertDeps {
  readonly config: Pick<ControlConfig, 'operatorAlerts' | 'probeGapMs' | 'mail' | 'sms' | 'url'>;
  readonly limits: { readonly alerts: AlertLimits };
  readonly clock: Clock;
  readonly database: Database;
  readonly replica: Replica;
  readonly bus: Bus;
  readonly edges: ConnectedEdges;
  /** Announces the ids whose last report was stored. */
  readonly announcements: Announcements;
}
