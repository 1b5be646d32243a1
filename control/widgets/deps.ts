/** What widgets need from the rest of the control plane. */
import type { Clock } from '#shared/clock.ts';
import type { TextSessionParts } from '../conversations/index.ts';
import type { Database, Replica, SecretBox } from '../db/index.ts';
import type { WrongKeys } from '../http/index.ts';
import type { Quotas } from '../organizations/index.ts';
import type { PhoneSessionDeps } from '../phone-sessions/index.ts';
import type { Bus, SharedCounts } from '../replicas/index.ts';
import type { ControlConfig } from '../settings/index.ts';
import type { WidgetLimits } from './limits.ts';

/** With phone sessions, for the calls of visitors. */
export interface WidgetDeps extends Pick<PhoneSessionDeps, 'catalogue' | 'edges'> {
  readonly bus: Pick<Bus, 'transients'>;
  readonly config: Pick<ControlConfig, 'retention'>;
  readonly limits: { readonly widgets: WidgetLimits };
  readonly clock: Clock;
  readonly database: Database;
  readonly replica: Replica;
  readonly secrets: SecretBox;
  /** What text conversations are made of. */
  readonly conversations: TextSessionParts;
  /** Organizations' quotas. */
  readonly quotas: Quotas;
  /** Counters of all replicas together. */
  readonly sharedCounts: SharedCounts;
  /** Counts and limits requests with invalid keys. */
  readonly wrongKeys: WrongKeys;
}
