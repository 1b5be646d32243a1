/** Stored and shown forms of personas (contract 12). Pure. */
import type {
  PathwayCondition,
  Persona,
  PersonaUpdate,
  PersonaVersion,
  ShownCallConfig,
} from '#shared/api/personas.ts';
import { fromJson, type PersonaRow, type PersonaVersionRow, toJson } from '../db/index.ts';
import { sortedHash } from '../pathways/index.ts';

/** The content of a version; its hash covers exactly this. */
export interface PersonaContent {
  readonly orchestration_prompt: string | null;
  readonly personality_prompt: string | null;
  readonly pathway_conditions: readonly StoredCondition[];
  readonly call_config: ShownCallConfig;
  readonly default_tools: readonly string[];
}

export interface StoredCondition extends Omit<PathwayCondition, 'pathway_version' | 'start_node_id'> {
  readonly pathway_version: string | null;
  readonly start_node_id: string | null;
}

export const emptyContent: PersonaContent = {
  orchestration_prompt: null,
  personality_prompt: null,
  pathway_conditions: [],
  call_config: {},
  default_tools: [],
};

/** The content of a draft after a request; null clears, omitted members stay. */
export function changedContent(before: PersonaContent, update: PersonaUpdate): PersonaContent {
  const { orchestration_prompt, personality_prompt, pathway_conditions, call_config, default_tools } = update;
  return {
    orchestration_prompt:
      orchestration_prompt === undefined ? before.orchestration_prompt : orchestration_prompt,
    personality_prompt: personality_prompt === undefined ? before.personality_prompt : personality_prompt,
    pathway_conditions:
      pathway_conditions === undefined
        ? before.pathway_conditions
        : (pathway_conditions ?? []).map((condition) => ({
            ...condition,
            pathway_version: condition.pathway_version ?? null,
            start_node_id: condition.start_node_id ?? null,
          })),
    call_config: call_config === undefined ? before.call_config : normalConfig(call_config ?? {}),
    default_tools: default_tools === undefined ? before.default_tools : (default_tools ?? []).map(withPrefix),
  };
}

/** Tools have ids `TL-<uuid>`, accepted with or without the prefix (contract 1.5). */
function withPrefix(id: string): string {
  return id.startsWith('TL-') ? id : `TL-${id}`;
}

function normalConfig(config: NonNullable<PersonaUpdate['call_config']>): ShownCallConfig {
  const { wait_for_greeting: wait, ...others } = config;
  return wait === undefined ? others : { ...others, wait_for_greeting: wait === true || wait === 'true' };
}

type ContentColumns = Pick<PersonaVersionRow, keyof PersonaContent | 'content_hash'>;

export function contentColumns(content: PersonaContent): ContentColumns {
  return {
    orchestration_prompt: content.orchestration_prompt,
    personality_prompt: content.personality_prompt,
    pathway_conditions: toJson(content.pathway_conditions),
    call_config: toJson(content.call_config),
    default_tools: toJson(content.default_tools),
    content_hash: sortedHash(content),
  };
}

export function readContent(row: PersonaVersionRow): PersonaContent {
  return {
    orchestration_prompt: row.orchestration_prompt,
    personality_prompt: row.personality_prompt,
    pathway_conditions: fromJson<StoredCondition[]>(row.pathway_conditions),
    call_config: fromJson<PersonaContent['call_config']>(row.call_config),
    default_tools: fromJson(row.default_tools),
  };
}

export function versionView(row: PersonaVersionRow): PersonaVersion {
  const { orchestration_prompt, personality_prompt, pathway_conditions, call_config, default_tools } =
    readContent(row);
  return {
    id: row.id,
    persona_id: row.persona_id,
    version_type: row.version_type,
    version_number: row.version_number,
    orchestration_prompt,
    personality_prompt,
    pathway_conditions: [...pathway_conditions],
    call_config,
    default_tools: [...default_tools],
    content_hash: row.content_hash,
    promoted_from_version_id: row.promoted_from_version_id,
    promoted_at: row.promoted_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

/** A persona with its versions and numbers. */
export interface WholePersona {
  readonly row: PersonaRow;
  readonly production: PersonaVersionRow;
  readonly draft: PersonaVersionRow;
  readonly numbers: readonly { readonly number: string; readonly label: string | null }[];
}

export function personaView({ row, production, draft, numbers }: WholePersona): Persona {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    description: row.description,
    tags: fromJson(row.tags),
    created_at: row.created_at,
    updated_at: row.updated_at,
    deleted_at: row.deleted_at,
    current_production_version_id: row.production_version_id,
    current_draft_version_id: row.draft_version_id,
    current_production_version: versionView(production),
    current_draft_version: versionView(draft),
    inbound_numbers: numbers.map(({ number, label }) => ({
      phone_number: number,
      label,
      persona_id: row.id,
    })),
  };
}
