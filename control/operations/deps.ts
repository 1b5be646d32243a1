/** What operations on a deployment need from the rest of the control plane. */
import type { Clock } from '#shared/clock.ts';
import type { Catalogue } from '../catalogue/index.ts';
import type { SecretBox } from '../db/index.ts';
import type { ControlConfig } from '../settings/index.ts';

export interface OperationDeps {
  readonly config: Pick<ControlConfig, 'dataFolder' | 'region'>;
  readonly clock: Clock;
  readonly secrets: SecretBox;
  /** Every change to an organization's set-up goes through it. */
  readonly catalogue: Catalogue;
}
