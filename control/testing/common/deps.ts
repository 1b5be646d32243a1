/** What agent tests need from the rest of the control plane. */

import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { Models } from '#shared/models/models.ts';
import type { Catalogue } from '../../catalogue/index.ts';
import type { TextSessionParts } from '../../conversations/index.ts';
import type { Database, Replica, SecretBox } from '../../db/index.ts';
import type { Announcements, ConnectedEdges } from '../../edge-link/index.ts';
import type { Quotas } from '../../organizations/index.ts';
import type { PromotionGates } from '../../promotion/index.ts';
import type { Bus, SharedCounts } from '../../replicas/index.ts';
import type { ControlConfig } from '../../settings/index.ts';
import type { AgentTestSockets } from '../over-call/sockets.ts';
import type { TestingLimits } from './limits.ts';

export interface TestingDeps {
  readonly bus: Pick<Bus, 'transients' | 'topic' | 'onMissed'>;
  /** Models for chats and tests: language models where configured, else rules. */
  readonly models: Models;
  readonly config: Pick<ControlConfig, 'quotas' | 'instanceId'>;
  readonly limits: { readonly testing: TestingLimits };
  readonly clock: Clock;
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly replica: Replica;
  /** Every change to an organization's set-up goes through it. */
  readonly catalogue: Catalogue;
  readonly edges: ConnectedEdges;
  /** Announces the ids whose last report was stored. */
  readonly announcements: Announcements;
  /** Private networks that may be contacted anyway (contract 1.9). */
  readonly allowedTargets: BlockList;
  /** Checked before anything goes into production (contract 6.11). */
  readonly promotionGates: PromotionGates;
  /** What text conversations are made of. */
  readonly conversations: TextSessionParts;
  /** Organizations' quotas. */
  readonly quotas: Quotas;
  /** Counters of all replicas together. */
  readonly sharedCounts: SharedCounts;
  /** Accepts the edges' connections for test runs over a call. */
  readonly agentTestSockets: AgentTestSockets;
}
