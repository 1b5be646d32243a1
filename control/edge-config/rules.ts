/** Numbers and pathways in the edges' configuration: pure functions of rows. */
import type { AgentSettings, AgentTool } from '#shared/edge-protocol/agents.ts';
import type {
  HeaderMapping,
  InboundTrunk,
  NumberConfig,
  OutboundTrunk,
} from '#shared/edge-protocol/numbers.ts';
import { fromJson, type NumberRow, type SipConfigurationRow } from '../db/index.ts';
import { agentSettingsOf, readSettings, transferTargets } from '../numbers/index.ts';
import { type PublishedVersions, resolveVersion } from '../pathways/index.ts';
import {
  codecsOf,
  derivePassword,
  failoverOf,
  hostOf,
  primaryEndpoint,
  registrationOf,
  standbyEndpoints,
  usableEndpoints,
} from '../trunks/index.ts';

/** What other rows say about the number's agent. */
export interface Speaking {
  /** The number's persona with the number's settings; null when it has none, or it was deleted. */
  readonly persona?: AgentSettings | null;
  /** The number's own tools. */
  readonly tools?: readonly AgentTool[];
}

/**
 * A number in the edges' configuration.
 * @param published of the number's pathway; null when it has none
 */
export function numberConfig(
  row: NumberRow,
  configurations: readonly SipConfigurationRow[],
  published: PublishedVersions | null,
  speaking: Speaking = {},
): NumberConfig {
  const { call_limits } = readSettings(row.settings);
  return {
    number: row.number,
    org_id: row.org_id,
    ...(call_limits && { call_limits }),
    inbound: inboundTrunks(configurations),
    outbound: configurations.filter((row) => row.direction === 'outbound').map(outboundTrunk),
    agent: agentSettings(row, published, speaking),
  };
}

/**
 * One trunk per inbound record, with its own trusted host. The hosts of outbound records are trusted too (contract
 * 2.1): each is added as a source of the first inbound record.
 */
function inboundTrunks(configurations: readonly SipConfigurationRow[]): InboundTrunk[] {
  const inbound = configurations.filter((row) => row.direction === 'inbound');
  const primary = primaryEndpoint(configurations);
  const trunks = inbound.map((row) => {
    const registration = registrationOf(row, primary);
    const trunk = inboundTrunk(row, hostOf(row) ?? registration?.host ?? null);
    return registration ? { ...trunk, registration } : trunk;
  });
  // With credentials alone, no address may call without them.
  const first = inbound.find((row) => row.auth_mode !== 'digest');
  if (!first) return trunks;
  const known = new Set(trunks.map((trunk) => trunk.source_host));
  for (const row of configurations) {
    const host = hostOf(row);
    if (row.direction !== 'outbound' || host === null || known.has(host)) continue;
    known.add(host);
    trunks.push({ ...inboundTrunk(first, host), allowed_ips: [] });
  }
  return trunks;
}

/**
 * No packet comes from the unspecified address (RFC 4291 section 2.5.2). An edge that does not know `digest` admits
 * nobody by it; with an empty list it would admit everybody where SIP_OPEN_INBOUND is set.
 */
const nobodysAddress = '::';

const nonceKey = 'nonces of SIP digests';

function inboundTrunk(row: SipConfigurationRow, sourceHost: string | null): InboundTrunk {
  const headers: HeaderMapping[] = row.headers === null ? [] : fromJson(row.headers);
  const allowed: string[] = row.allowed_ips === null ? [] : fromJson(row.allowed_ips);
  return {
    id: row.id,
    auth_mode: row.auth_mode === 'register' ? 'register' : 'ip',
    allowed_ips: row.auth_mode === 'digest' ? [nobodysAddress] : allowed,
    source_host: sourceHost,
    transfer_mode: row.transfer_mode,
    headers,
    codecs: [...codecsOf(row).codecs],
    ...(row.auth_mode === 'digest' && {
      digest: { username: row.username ?? '', password: row.password ?? '', nonce_key: '' },
    }),
  };
}

/** @returns the trunk with its password as stored: sealed; `openTrunks` opens it when it is sent to an edge */
function outboundTrunk(row: SipConfigurationRow): OutboundTrunk {
  const failover = failoverOf(row);
  const { codecs, transcode } = codecsOf(row);
  const { username, password, realm } = row;
  const standby = standbyEndpoints(row);
  return {
    id: row.id,
    priority: row.priority,
    transfer_mode: row.transfer_mode,
    endpoints: usableEndpoints(row),
    ...(standby.length > 0 && { standby }),
    triggers: [...failover.triggers],
    failback: failover.failback,
    codecs: [...codecs],
    transcode,
    credentials: username === null || password === null ? null : { username, password, realm },
    headers: row.headers === null ? [] : fromJson(row.headers),
  };
}

/** A number whose trunks have plain-text passwords, derived ones for registrars; for the edge link only. */
export function openTrunks(
  number: NumberConfig,
  open: (sealed: { id: string; password: string }) => string,
  derive: (input: string) => Buffer,
): NumberConfig {
  const inbound = number.inbound.map((trunk) => {
    const { id, registration, digest } = trunk;
    if (digest) {
      const password = open({ id, password: digest.password });
      return { ...trunk, digest: { ...digest, password, nonce_key: derive(nonceKey).toString('base64') } };
    }
    if (!registration) return trunk;
    const { username, password } = registration;
    const derived = derivePassword(derive, number.org_id, username, open({ id, password }));
    return { ...trunk, registration: { ...registration, password: derived } };
  });
  const outbound = number.outbound.map((trunk) => {
    if (trunk.credentials === null) return trunk;
    const password = open({ id: trunk.id, password: trunk.credentials.password });
    return { ...trunk, credentials: { ...trunk.credentials, password } };
  });
  return { ...number, inbound, outbound };
}

/** The agent that answers a number; null when none does. */
function agentSettings(
  row: NumberRow,
  published: PublishedVersions | null,
  { persona = null, tools = [] }: Speaking,
): AgentSettings | null {
  const settings = readSettings(row.settings);
  const agentSettings = agentSettingsOf(settings);
  if (row.builtin_agent === 'echo') return { kind: 'echo', ...agentSettings };
  if (row.builtin_agent?.startsWith('tone:')) {
    return { kind: 'tone', frequency_hz: Number(row.builtin_agent.slice('tone:'.length)), ...agentSettings };
  }
  if (row.pathway_id !== null) {
    return {
      kind: 'pathway',
      pathway_id: row.pathway_id,
      pathway_version: resolveVersion(row.pathway_version, published),
      start_node_id: settings.start_node_id ?? null,
      ...agentSettings,
    };
  }
  if (row.persona_id !== null) return persona;
  const transfers = transferTargets(settings);
  if (settings.stream_url) {
    return { kind: 'stream', stream_url: settings.stream_url, ...agentSettings, ...transfers };
  }
  const used = tools.length > 0 && { tools: [...tools] };
  if (settings.realtime) {
    const { connection, instructions } = settings.realtime;
    return {
      kind: 'realtime',
      connection_id: connection,
      prompt: instructions,
      ...agentSettings,
      ...transfers,
      ...used,
    };
  }
  if (!settings.prompt) return null;
  return { kind: 'task', task: settings.prompt, ...agentSettings, ...transfers, ...used };
}
