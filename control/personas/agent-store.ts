/** A persona as an agent: its production version, overridden by the settings of a number or an order. */
import type { AgentSettings, PathwayCondition } from '#shared/edge-protocol/agents.ts';
import type { Db } from '../db/index.ts';
import { agentSettingsOf, type NumberSettings, transferTargets } from '../numbers/index.ts';
import { findPathway, resolveVersion } from '../pathways/index.ts';
import { agentTools } from '../tools/index.ts';
import { readContent, type StoredCondition } from './rules.ts';
import { findPersona, findPersonaVersion } from './store.ts';

type PersonaAgent = Extract<AgentSettings, { kind: 'persona' }>;

/**
 * The persona's production version. What `settings` leave open comes from its call_config.
 * @param versionId another version, for conversations that try one; default: the one in production
 * @returns null when the organization has no such persona
 */
export async function personaAgent(
  db: Db,
  orgId: string,
  personaId: string,
  settings: NumberSettings,
  versionId?: string,
): Promise<PersonaAgent | null> {
  const persona = await findPersona(db, orgId, personaId);
  if (!persona) return null;
  const version = await findPersonaVersion(db, versionId ?? persona.production_version_id);
  const content = readContent(version);
  const inForce = { ...content.call_config, ...settings };
  const tools = await agentTools(db, orgId, [...(settings.tools ?? []), ...content.default_tools]);
  return {
    kind: 'persona',
    persona_id: persona.id,
    persona_version: version.version_number,
    name: persona.name,
    role: persona.role ?? '',
    orchestration_prompt: content.orchestration_prompt ?? '',
    personality_prompt: content.personality_prompt ?? '',
    pathway_conditions: await conditions(db, orgId, content.pathway_conditions),
    ...agentSettingsOf(inForce),
    ...transferTargets(inForce),
    ...(tools.length > 0 && { tools }),
  };
}

/** With the version that each currently resolves to; deleted pathways are left out. */
async function conditions(
  db: Db,
  orgId: string,
  stored: readonly StoredCondition[],
): Promise<PathwayCondition[]> {
  const resolved: PathwayCondition[] = [];
  for (const { name, prompt, pathway_id, pathway_version, start_node_id } of stored) {
    const pathway = await findPathway(db, orgId, pathway_id);
    if (!pathway) continue;
    const published = { production: pathway.production_version, staging: pathway.staging_version };
    const version = resolveVersion(pathway_version, published);
    resolved.push({ name, prompt, pathway_id, pathway_version: version, start_node_id });
  }
  return resolved;
}
