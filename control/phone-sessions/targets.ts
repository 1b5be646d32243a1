/** Whom the calls of a phone session reach: a number's agent, a party over a trunk, or an agent without a number. */
import type { BlockList } from 'node:net';
import type { PhoneSessionCreate } from '#shared/api/phone-sessions.ts';
import { toE164 } from '#shared/e164.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import { ApiError } from '#shared/errors.ts';
import { longestPhoneCaller, phoneAgentUser } from '#shared/phone-session.ts';
import type { Db, PhoneSessionRow } from '../db/index.ts';
import type { ConnectedEdge, RegionWish } from '../edge-link/index.ts';
import { agentSettingsOf, findNumber, type NumberSettings, readDialedTarget } from '../numbers/index.ts';
import { findPathway, findVersion, resolveVersion } from '../pathways/index.ts';
import { personaAgent } from '../personas/index.ts';
import { findConfigurations, noOutboundRoute, regionWish } from '../trunks/index.ts';

type Columns = Pick<PhoneSessionRow, 'number' | 'called' | 'pathway_id' | 'pathway_version' | 'persona_id'> &
  Partial<Pick<PhoneSessionRow, 'supervises' | 'supervision'>>;

export interface PhoneTarget {
  readonly columns: Columns;
  /** What the edge is told before; null: it knows. */
  readonly agent: { readonly name: string; readonly settings: AgentSettings } | null;
  /** Of the edges that may call out. */
  readonly region: RegionWish | null;
  /** That of the call which is joined; absent: any edge. */
  readonly edge?: ConnectedEdge;
}

const none = { called: null, pathway_id: null, pathway_version: null, persona_id: null };
const sources = ['phone_number', 'pathway_id', 'persona_id'] as const;

/**
 * @throws ApiError AGENT_SOURCE_CONFLICT, INVALID_PARAMETER, TARGET_NOT_ALLOWED, NUMBER_NOT_FOUND, NO_OUTBOUND_ROUTE,
 * PATHWAY_NOT_FOUND, VERSION_NOT_FOUND, PERSONA_NOT_FOUND
 */
export async function findTarget(
  db: Db,
  orgId: string,
  order: PhoneSessionCreate,
  allowedTargets: BlockList,
): Promise<PhoneTarget> {
  const given = sources.filter((name) => order[name] !== undefined);
  if (given.length !== 1)
    throw ApiError.of(
      'AGENT_SOURCE_CONFLICT',
      { fields: given },
      `Give exactly one of ${sources.join(', ')}.`,
    );
  const { phone_number, to, pathway_id, persona_id } = order;
  if (order.pathway_version !== undefined && pathway_id === undefined)
    throw ApiError.invalid('/pathway_version', 'is only for sessions with pathway_id');
  if (to !== undefined && phone_number === undefined)
    throw ApiError.invalid('/to', 'is only for sessions with phone_number');
  const { pathway_version } = order;
  if (pathway_id !== undefined || persona_id !== undefined)
    return agentTarget(db, orgId, { pathway_id, pathway_version, persona_id });
  const dialled = to === undefined ? null : readDialedTarget(to, '/to', allowedTargets);
  return numberTarget(db, orgId, phone_number ?? '', dialled);
}

async function numberTarget(db: Db, orgId: string, given: string, to: string | null): Promise<PhoneTarget> {
  const row = await findNumber(db, orgId, toE164(given) ?? given);
  if (!row) throw ApiError.of('NUMBER_NOT_FOUND', { path: '/phone_number' });
  const { number } = row;
  if (to === null) return { columns: { ...none, number }, agent: null, region: null };
  const configurations = await findConfigurations(db, orgId, number);
  const trunk = configurations.find(({ direction }) => direction === 'outbound');
  if (!trunk) throw noOutboundRoute(number, '/phone_number');
  return { columns: { ...none, number, called: to }, agent: null, region: await regionWish(db, trunk) };
}

/** One pathway or persona, called without a number. */
export type AgentOfPhone = {
  readonly [Name in 'pathway_id' | 'pathway_version' | 'persona_id']?: PhoneSessionCreate[Name] | undefined;
};

/**
 * @param settings as those of a number
 * @throws ApiError PATHWAY_NOT_FOUND, VERSION_NOT_FOUND, PERSONA_NOT_FOUND
 */
export function agentTarget(
  db: Db,
  orgId: string,
  { pathway_id, pathway_version, persona_id = '' }: AgentOfPhone,
  settings: NumberSettings = {},
): Promise<PhoneTarget> {
  if (pathway_id === undefined) return personaTarget(db, orgId, persona_id, settings);
  return pathwayTarget(db, orgId, pathway_id, pathway_version, settings);
}

async function pathwayTarget(
  db: Db,
  orgId: string,
  pathway_id: string,
  wanted: PhoneSessionCreate['pathway_version'],
  settings: NumberSettings,
): Promise<PhoneTarget> {
  const pathway = await findPathway(db, orgId, pathway_id);
  if (!pathway) throw ApiError.of('PATHWAY_NOT_FOUND', { path: '/pathway_id' });
  const published = { production: pathway.production_version, staging: pathway.staging_version };
  const version = resolveVersion(wanted === undefined ? null : String(wanted), published);
  if (version !== 0 && !(await findVersion(db, pathway_id, version)))
    throw ApiError.of('VERSION_NOT_FOUND', { path: '/pathway_version' });
  const columns = { ...none, number: phoneAgentUser, pathway_id, pathway_version: version };
  const agent: AgentSettings = {
    kind: 'pathway',
    pathway_id,
    pathway_version: version,
    start_node_id: null,
    ...agentSettingsOf(settings),
  };
  return { columns, agent: { name: nameOf(pathway.name), settings: agent }, region: null };
}

async function personaTarget(
  db: Db,
  orgId: string,
  persona_id: string,
  settings: NumberSettings,
): Promise<PhoneTarget> {
  const agent = await personaAgent(db, orgId, persona_id, settings);
  if (!agent) throw ApiError.of('PERSONA_NOT_FOUND', { path: '/persona_id' });
  const columns = { ...none, number: phoneAgentUser, persona_id };
  return { columns, agent: { name: nameOf(agent.name), settings: agent }, region: null };
}

/** Shown as the called party. */
function nameOf(name: string): string {
  return name.replace(/\s+/g, ' ').trim().slice(0, longestPhoneCaller) || phoneAgentUser;
}
