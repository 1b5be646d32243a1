/** What number porting needs from the rest of the control plane. */
import type { Clock } from '#shared/clock.ts';
import type { AlertLimits } from '../alerts/index.ts';
import type { Catalogue } from '../catalogue/index.ts';
import type { Database, Replica, SecretBox } from '../db/index.ts';
import type { Announcements } from '../edge-link/index.ts';
import type { Quotas } from '../organizations/index.ts';
import type { SharedCounts } from '../replicas/index.ts';
import type { ControlConfig } from '../settings/index.ts';
import type { PortingLimits } from './limits.ts';

export interface PortingDeps {
  readonly config: Pick<ControlConfig, 'dataFolder' | 'mail' | 'porting' | 'url'>;
  readonly limits: { readonly porting: PortingLimits; readonly alerts: Pick<AlertLimits, 'sendTimeoutMs'> };
  readonly clock: Clock;
  readonly database: Database;
  readonly replica: Replica;
  readonly secrets: SecretBox;
  /** Every change to an organization's set-up goes through it. */
  readonly catalogue: Catalogue;
  /** Announces the ids whose last report was stored. */
  readonly announcements: Announcements;
  /** Counters of all replicas together. */
  readonly sharedCounts: SharedCounts;
  /** Organizations' quotas. */
  readonly quotas: Quotas;
}
