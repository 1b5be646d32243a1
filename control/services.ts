/** What the areas of the control plane work with; made once by app.ts. */
import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { Models } from '#shared/models/models.ts';
import type { TestCallDoor } from './agent-testing/sip/door.ts';
import type { ControlConfig } from './config.ts';
import type { TextSessionParts } from './conversations/text-parts.ts';
import type { Database } from './db/open.ts';
import type { SecretBox } from './db/secrets.ts';
import type { Announcements } from './edges/announcements.ts';
import type { ConnectedEdges } from './edges/registry.ts';
import type { EdgeConfigStore } from './edges/store.ts';
import type { WrongKeys } from './http/wrong-keys.ts';
import type { Quotas } from './organizations/quota-rules.ts';
import type { PromotionGates } from './promotion/rules.ts';
import type { ToolService } from './tools/service.ts';

export interface Services {
  /** Who speaks and understands in chats and tests: language models where they are configured, else rules. */
  readonly models: Models;
  readonly config: ControlConfig;
  readonly clock: Clock;
  readonly database: Database;
  readonly secrets: SecretBox;
  /** What edges are configured with; every write that concerns them goes through it. */
  readonly edgeConfig: EdgeConfigStore;
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
  /** Answers requests whose key opens nothing. */
  readonly wrongKeys: WrongKeys;
  readonly tools: ToolService;
  /** Where edges bring test runs over a call. */
  readonly testCalls: TestCallDoor;
}
