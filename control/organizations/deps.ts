/** What organizations need from the rest of the control plane. */

import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { Catalogue } from '../catalogue/index.ts';
import type { Database, SecretBox } from '../db/index.ts';
import type { ControlConfig } from '../settings/index.ts';

export interface OrganizationDeps {
  readonly config: Pick<ControlConfig, 'callLimits'>;
  readonly clock: Clock;
  readonly database: Database;
  readonly secrets: SecretBox;
  /** Every write to what organizations set up goes through it. */
  readonly catalogue: Catalogue;
  /** Networks that may be contacted although they are private (contract 1.9). */
  readonly allowedTargets: BlockList;
}
