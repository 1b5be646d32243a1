/** What the edges are told of numbers and pathways: pure functions of rows. */
import { readCallTarget } from '#shared/call-target.ts';
import type { AgentSettings, AgentTool } from '#shared/edge-protocol/agents.ts';
import type {
  HeaderMapping,
  InboundTrunk,
  NumberConfig,
  OutboundTrunk,
} from '#shared/edge-protocol/numbers.ts';
import { parseSipDestination } from '#shared/sip-destination.ts';
import type { Endpoint } from '#shared/trunk-protocol.ts';
import type { NumberRow, SipConfigurationRow } from '../db/tables.ts';
import { type NumberSettings, readSettings } from '../numbers/rules.ts';
import {
  codecsOf,
  configuredEndpoints,
  failoverOf,
  standbyEndpoints,
  usableEndpoints,
} from '../sip/config-rules.ts';
import { derivePassword } from '../sip/rules.ts';

/** Versions of a pathway that are in force; null: never published. */
export interface PublishedVersions {
  readonly production: number | null;
  readonly staging: number | null;
}

/** What stands in other rows of who answers a number. */
export interface Speaking {
  /** The number's persona as it speaks here; null when it has none, or it is gone. */
  readonly persona?: AgentSettings | null;
  /** The number's own tools. */
  readonly tools?: readonly AgentTool[];
}

/**
 * A number as the edges need it.
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
 * One trunk per inbound record, with its own trusted host. The hosts of outbound records are trusted too
 * (contract 2.1): each stands as one more source of the first inbound record.
 */
function inboundTrunks(configurations: readonly SipConfigurationRow[]): InboundTrunk[] {
  const inbound = configurations.filter((row) => row.direction === 'inbound');
  const primary = primaryEndpoint(configurations);
  const trunks = inbound.map((row) => {
    const registration = registrationOf(row, primary);
    const trunk = inboundTrunk(row, hostOf(row) ?? registration?.host ?? null);
    return registration ? { ...trunk, registration } : trunk;
  });
  const [first] = inbound;
  if (!first) return [];
  const known = new Set(trunks.map((trunk) => trunk.source_host));
  for (const row of configurations) {
    const host = hostOf(row);
    if (row.direction !== 'outbound' || host === null || known.has(host)) continue;
    known.add(host);
    trunks.push({ ...inboundTrunk(first, host), allowed_ips: [] });
  }
  return trunks;
}

/** The records of a number that an edge can register, in their order. */
export function registeringRecords(rows: readonly SipConfigurationRow[]): SipConfigurationRow[] {
  const primary = primaryEndpoint(rows);
  return rows.filter((row) => row.direction === 'inbound' && registrationOf(row, primary) !== null);
}

/** Where a number's calls go first. */
function primaryEndpoint(configurations: readonly SipConfigurationRow[]): Endpoint | null {
  const outbound = configurations.filter((row) => row.direction === 'outbound');
  const [primary] = outbound.sort((one, other) => one.priority - other.priority);
  return (primary && configuredEndpoints(primary)[0]) ?? null;
}

/** Seconds for which a binding is asked (contract 2.3). */
const registrationS = 300;

/**
 * Where the edge registers for a record: at its own endpoint, else at `primary`; null when it does not register.
 * The password is the stored one, sealed: `openTrunks` makes the derived one of it where it leaves for an edge.
 */
function registrationOf(
  row: SipConfigurationRow,
  primary: Endpoint | null,
): NonNullable<InboundTrunk['registration']> | null {
  const { username, password } = row;
  const host = hostOf(row);
  const place = host === null ? primary : { host, port: row.port };
  if (row.auth_mode !== 'register' || username === null || password === null || !place) return null;
  const changed_at = row.updated_at;
  return { host: place.host, port: place.port, username, password, expires_s: registrationS, changed_at };
}

function inboundTrunk(row: SipConfigurationRow, sourceHost: string | null): InboundTrunk {
  const headers: HeaderMapping[] = row.headers === null ? [] : JSON.parse(row.headers);
  const allowed: string[] = row.allowed_ips === null ? [] : JSON.parse(row.allowed_ips);
  return {
    id: row.id,
    auth_mode: row.auth_mode ?? 'ip',
    allowed_ips: allowed,
    source_host: sourceHost,
    transfer_mode: row.transfer_mode,
    headers,
    codecs: [...codecsOf(row).codecs],
  };
}

/** @returns the trunk with its password as stored: sealed; `openTrunks` opens it where it leaves for an edge */
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
    headers: row.headers === null ? [] : JSON.parse(row.headers),
  };
}

/** A number whose trunks have their passwords in plain text, for registrars the derived ones, for the edge link alone. */
export function openTrunks(
  number: NumberConfig,
  open: (sealed: { id: string; password: string }) => string,
  derive: (input: string) => Buffer,
): NumberConfig {
  const inbound = number.inbound.map((trunk) => {
    const { id, registration } = trunk;
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

function hostOf(row: SipConfigurationRow): string | null {
  return row.sip_endpoint === null ? null : (parseSipDestination(row.sip_endpoint)?.host ?? null);
}

/** Who answers a number; null when nobody does. */
function agentSettings(
  row: NumberRow,
  published: PublishedVersions | null,
  { persona = null, tools = [] }: Speaking,
): AgentSettings | null {
  const settings = readSettings(row.settings);
  const manner = mannerOf(settings);
  if (row.builtin_agent === 'echo') return { kind: 'echo', ...manner };
  if (row.builtin_agent?.startsWith('tone:')) {
    return { kind: 'tone', frequency_hz: Number(row.builtin_agent.slice('tone:'.length)), ...manner };
  }
  if (row.pathway_id !== null) {
    return {
      kind: 'pathway',
      pathway_id: row.pathway_id,
      pathway_version: resolveVersion(row.pathway_version, published),
      start_node_id: settings.start_node_id ?? null,
      ...manner,
    };
  }
  if (row.persona_id !== null) return persona;
  const transfers = transferTargets(settings);
  if (settings.stream_url) {
    return { kind: 'stream', stream_url: settings.stream_url, ...manner, ...transfers };
  }
  if (!settings.prompt) return null;
  const used = tools.length > 0 && { tools: [...tools] };
  return { kind: 'task', task: settings.prompt, ...manner, ...transfers, ...used };
}

/** The version that a number means: production where it names none, the live graph (0) when unpublished. */
export function resolveVersion(wanted: string | null, published: PublishedVersions | null): number {
  const production = published?.production ?? 0;
  if (wanted === null || wanted === 'production') return production;
  if (wanted === 'staging') return published?.staging ?? production;
  return Number(wanted);
}

/** Defaults of contract 9.1. */
export function mannerOf(settings: NumberSettings) {
  return {
    first_sentence: settings.first_sentence ?? null,
    wait_for_greeting: settings.wait_for_greeting ?? false,
    block_interruptions: settings.block_interruptions ?? false,
    ignore_button_press: settings.ignore_button_press ?? false,
    voice: settings.voice ?? null,
    language: settings.language ?? 'en-US',
    interruption_threshold: settings.interruption_threshold ?? 500,
    timezone: settings.timezone ?? 'America/Los_Angeles',
    max_duration: settings.max_duration ?? 30,
    request_data: settings.request_data ?? {},
    ...(settings.metadata && { metadata: settings.metadata }),
    fallback_number: target(settings.fallback_number ?? null),
    ...(settings.model && { model: settings.model }),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
  };
}

/** Whom an agent that has no pathway may transfer to; `default` of the list wins over the one without a name. */
export function transferTargets({ transfer_phone_number, transfer_list }: NumberSettings): {
  transfer_list?: Record<string, string>;
} {
  const named = { ...(transfer_phone_number && { default: transfer_phone_number }), ...transfer_list };
  const targets = Object.entries(named).map(([name, text]) => [name, target(text)]);
  return targets.length === 0 ? {} : { transfer_list: Object.fromEntries(targets) };
}

/** As the edges dial it; what is no target stays as it is, and they say so when it is called. */
function target<T extends string | null>(text: T): T | string {
  const read = text === null ? null : readCallTarget(text);
  return read && 'target' in read ? read.target : text;
}
