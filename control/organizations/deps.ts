/** What organizations need from the rest of the control plane. */

import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { Catalogue } from '../catalogue/index.ts';
import type { Database, SecretBox } from '../db/index.ts';
import type { ControlConfig } from '../settings/index.ts';
import type { AccessMetrics } from './access-metrics.ts';
import type { Quotas } from './quota-rules.ts';

export interface OrganizationDeps {
  readonly config: Pick<ControlConfig, 'callLimits'>;
  readonly clock: Clock;
  readonly database: Database;
  readonly secrets: SecretBox;
  /** Every change to an organization's set-up goes through it. */
  readonly catalogue: Catalogue;
  /** Private networks that may be contacted anyway (contract 1.9). */
  readonly allowedTargets: BlockList;
  readonly quotas: Pick<Quotas, 'counting'>;
  readonly accessMetrics: AccessMetrics;
}
