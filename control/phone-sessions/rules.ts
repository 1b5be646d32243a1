/** Phone sessions: their credentials and how they are shown. Pure. */
import type { PhoneSessionView } from '#shared/api/phone-sessions.ts';
import type { OrgPhones } from '#shared/edge-protocol/config.ts';
import { digestRealm } from '#shared/edge-protocol/numbers.ts';
import { longestPhoneSessionS, phonePassword, phoneUsername } from '#shared/phone-session.ts';
import { fromJson, type PhoneKeyRow, type PhoneSessionRow } from '../db/index.ts';
import type { ConnectedEdge } from '../edge-link/index.ts';

/** How long a key is used for new sessions. */
export const keyLifeMs = 24 * 60 * 60 * 1000;
/** How long a new key waits until sessions are made with it: by then the edges have it. */
const keyDelayMs = 60_000;

/** What the configuration of the edges stores of an organization's phones: everything but the keys. */
export interface StoredPhones {
  readonly generation: number;
  /** ms: sessions of the generation before expire until then */
  readonly former_until: number;
  readonly revoked: readonly string[];
}

export function storedPhones({ generation, since, revoked }: PhoneKeyRow): StoredPhones {
  return {
    generation,
    former_until: Date.parse(since) + keyDelayMs + longestPhoneSessionS * 1000,
    revoked: fromJson(revoked).map(({ id }) => id),
  };
}

/** The generation that a session is made with now. */
export function generationAt({ generation, since }: PhoneKeyRow, now: number): number {
  return generation > 0 && now - Date.parse(since) < keyDelayMs ? generation - 1 : generation;
}

type Derive = (input: string) => Buffer;

function keyOf(derive: Derive, orgId: string, generation: number): string {
  return derive(`phone sessions of ${orgId}, generation ${generation}`).toString('base64');
}

/** What an edge checks sessions with. @param stored absent: the organization has had no session yet */
export function openPhones(stored: StoredPhones | undefined, orgId: string, derive: Derive): OrgPhones {
  const { generation, former_until, revoked } = stored ?? { generation: 0, former_until: 0, revoked: [] };
  const current = { generation, key: keyOf(derive, orgId, generation) };
  if (generation === 0) return { keys: [current], revoked: [...revoked] };
  const former = {
    generation: generation - 1,
    key: keyOf(derive, orgId, generation - 1),
    until: former_until,
  };
  return { keys: [current, former], revoked: [...revoked] };
}

/** @param edge the session's */
export function credentialsOf(
  row: PhoneSessionRow,
  generation: number,
  edge: Pick<ConnectedEdge, 'sip'>,
  derive: Derive,
) {
  const { id, org_id, edge_id, number, called, supervises, supervision } = row;
  const { caller, calls, created_at, expires_at } = row;
  const username = phoneUsername({
    id,
    org_id,
    edge_id,
    number,
    ...(called !== null && { to: called }),
    ...(isForAgent(row) && { agent: true as const }),
    ...(supervises !== null && { supervise: supervises }),
    ...(supervision !== null && fromJson(supervision).tone && { tone: true as const }),
    caller,
    issued_at: Date.parse(created_at),
    expires_at: Date.parse(expires_at),
    calls,
    generation,
  });
  const host = edge.sip.host.includes(':') ? `[${edge.sip.host}]` : edge.sip.host;
  return {
    username,
    password: phonePassword(keyOf(derive, org_id, generation), username),
    realm: digestRealm,
    url: `wss://${host}:${edge.sip.wss_port}/`,
    uri: `sip:${number}@${host}`,
  };
}

/** Whether it is for an agent instead of a number. */
function isForAgent({ pathway_id, persona_id }: PhoneSessionRow): boolean {
  return pathway_id !== null || persona_id !== null;
}

export function viewOf(row: PhoneSessionRow, now: string): PhoneSessionView {
  const { org_id: _, supervises: _call, supervision: _how, number, called: to, ...shown } = row;
  const phone_number = isForAgent(row) ? null : number;
  return { ...shown, phone_number, to, state: stateOf(row, now) };
}

export function stateOf({ revoked_at, expires_at }: PhoneSessionRow, now: string) {
  if (revoked_at !== null) return 'revoked';
  return expires_at <= now ? 'expired' : 'open';
}

/** Of the log of changes. */
export function changeOf({ id, org_id }: Pick<PhoneSessionRow, 'id' | 'org_id'>) {
  return { orgId: org_id, area: 'phone_sessions', subject: id };
}
