/** What phone sessions need from the rest of the control plane. */
import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { Catalogue } from '../catalogue/index.ts';
import type { Database, SecretBox } from '../db/index.ts';
import type { ConnectedEdges } from '../edge-link/index.ts';
import type { Quotas } from '../organizations/index.ts';

export interface PhoneSessionDeps {
  readonly clock: Clock;
  readonly database: Database;
  readonly secrets: SecretBox;
  /** Revoked sessions and new keys reach the edges through it. */
  readonly catalogue: Catalogue;
  readonly edges: ConnectedEdges;
  /** Private networks that may be contacted anyway (contract 1.9). */
  readonly allowedTargets: BlockList;
  readonly quotas: Pick<Quotas, 'counting'>;
}
