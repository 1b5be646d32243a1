/** What agent tests need from the rest of the control plane. */

import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { Models } from '#shared/models/models.ts';
import type { Catalogue } from '../../catalogue/index.ts';
import type { TextSessionParts } from '../../conversations/index.ts';
import type { Database } from '../../db/index.ts';
import type { Announcements, ConnectedEdges } from '../../edge-link/index.ts';
import type { Quotas } from '../../organizations/index.ts';
import type { PromotionGates } from '../../promotion/index.ts';
import type { ControlConfig } from '../../settings/index.ts';
import type { TestCallDoor } from '../over-call/door.ts';

export interface TestingDeps {
  /** Who speaks and understands in chats and tests: language models where they are configured, else rules. */
  readonly models: Models;
  readonly config: Pick<ControlConfig, 'agentTesting' | 'instanceId'>;
  readonly clock: Clock;
  readonly database: Database;
  /** Every write to what organizations set up goes through it. */
  readonly catalogue: Catalogue;
  readonly edges: ConnectedEdges;
  /** Of ids whose last report was stored. */
  readonly announcements: Announcements;
  /** Networks that may be contacted although they are private (contract 1.9). */
  readonly allowedTargets: BlockList;
  /** Asked before anything goes into production (contract 6.11). */
  readonly promotionGates: PromotionGates;
  /** What text conversations are made of. */
  readonly conversations: TextSessionParts;
  /** What organizations may keep. */
  readonly quotas: Quotas;
  /** Where edges bring test runs over a call. */
  readonly testCalls: TestCallDoor;
}
