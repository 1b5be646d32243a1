/** Who answers: pathways and personas with their versions, and text conversations. */
import type { Json } from '../json.ts';
import type { Flag, IsoTime, OpenObject } from './columns.ts';

export interface PathwayRow {
  id: string;
  org_id: string;
  name: string;
  description: string | null;
  nodes: Json<OpenObject[]>;
  edges: Json<OpenObject[]>;
  /** Highest version number so far. */
  last_version: number;
  production_version: number | null;
  staging_version: number | null;
  /** How often a version was promoted to production. */
  publications: number;
  created_at: IsoTime;
  updated_at: IsoTime;
}

export interface PathwayVersionRow {
  pathway_id: string;
  version_number: number;
  name: string;
  nodes: Json<OpenObject[]>;
  edges: Json<OpenObject[]>;
  content_hash: string;
  created_at: IsoTime;
}

export interface PersonaRow {
  id: string;
  org_id: string;
  name: string;
  role: string | null;
  description: string | null;
  /** JSON array of texts. */
  tags: Json<string[]>;
  production_version_id: string;
  draft_version_id: string;
  created_at: IsoTime;
  updated_at: IsoTime;
  deleted_at: IsoTime | null;
}

export interface PersonaVersionRow {
  id: string;
  persona_id: string;
  version_type: 'production' | 'draft';
  version_number: number;
  orchestration_prompt: string | null;
  personality_prompt: string | null;
  /** JSON array of conditions (contract 12). */
  pathway_conditions: Json;
  call_config: Json;
  /** JSON array of tool ids. */
  default_tools: Json<string[]>;
  content_hash: string;
  promoted_from_version_id: string | null;
  promoted_at: IsoTime | null;
  created_at: IsoTime;
  updated_at: IsoTime;
}

/** A publication waiting for its batch of test runs (contract 6.11, publish_on_pass). */
export interface PendingPromotionRow {
  batch_id: string;
  org_id: string;
  kind: 'pathway' | 'persona';
  subject_id: string;
  /** The version's number; for a persona, the id of its draft. */
  version: string;
  content_hash: string;
  /** What was in production when it was requested; another publication changes it. */
  in_production: string;
  created_at: IsoTime;
}

/** A text conversation with a pathway (contract 11.3). */
export interface ChatRow {
  id: string;
  org_id: string;
  pathway_id: string;
  pathway_version: number;
  /** StoredAgent of control/chats/chats.ts: its graphs as of the start. */
  agent: Json;
  /** TextState of control/conversations/text-session.ts. */
  state: Json;
  /** Increases with each message. */
  revision: number;
  completed: Flag;
  created_at: IsoTime;
  last_message_at: IsoTime;
}

/**
 * References to a pathway, except those of numbers: `pathway:<id>@<version>`, or `persona:<id>` by its production
 * version.
 */
export interface PathwayReferenceRow {
  source: string;
  pathway_id: string;
  /** An integer, `production` or `staging`, as text; null: production. */
  version: string | null;
}

export interface AgentsTables {
  pathways: PathwayRow;
  pathway_versions: PathwayVersionRow;
  personas: PersonaRow;
  persona_versions: PersonaVersionRow;
  pending_promotions: PendingPromotionRow;
  chats: ChatRow;
  pathway_references: PathwayReferenceRow;
}
