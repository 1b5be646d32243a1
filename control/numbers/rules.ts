/** Inbound numbers: the rules of contract section 10, pure. */
import type { InboundNumber, InboundUpdate } from '#shared/api/inbound.ts';
import type { RealtimeAgentChoice } from '#shared/api/realtime.ts';
import { toE164 } from '#shared/e164.ts';
import type { CallLimits } from '#shared/edge-protocol/numbers.ts';
import type { RecordingChoice } from '#shared/edge-protocol/recordings.ts';
import { ApiError } from '#shared/errors.ts';
import { fromJson, type Json, type NumberRow, toJson } from '../db/index.ts';
import { limitsView, readRecording, readUrl } from '../organizations/index.ts';

/** The settings of a number without their own columns. Absent: not set. */
export interface NumberSettings {
  prompt?: string;
  stream_url?: string;
  realtime?: RealtimeAgentChoice;
  start_node_id?: string;
  first_sentence?: string;
  wait_for_greeting?: boolean;
  block_interruptions?: boolean;
  ignore_button_press?: boolean;
  voice?: string;
  model?: string;
  language?: string;
  temperature?: number;
  interruption_threshold?: number;
  timezone?: string;
  max_duration?: number;
  transfer_phone_number?: string;
  transfer_list?: Record<string, string>;
  fallback_number?: string;
  tools?: string[];
  request_data?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
  webhook?: string;
  label?: string;
  call_limits?: CallLimits;
  recording?: RecordingChoice;
  key_terms?: string[];
}

export function readSettings(json: Json): NumberSettings {
  return fromJson<NumberSettings>(json);
}

/** The result of an update on a number. */
export interface NumberChange {
  readonly row: Pick<NumberRow, 'pathway_id' | 'pathway_version' | 'persona_id' | 'settings'>;
  /** The new values of changed fields; cleared ones null. */
  readonly updates: Record<string, unknown>;
}

const sources = ['prompt', 'pathway_id', 'persona_id', 'stream_url', 'realtime'] as const;
const flags: ReadonlySet<string> = new Set([
  'wait_for_greeting',
  'block_interruptions',
  'ignore_button_press',
]);
/** Setting a pathway nulls these, because its nodes replace them (contract section 10). */
const nulledByPathway = ['first_sentence', 'model', 'tools', 'transfer_list'] as const;

/** The fields of an update in stored form; cleared ones null. */
export type UpdatedFields = ReadonlyMap<string, unknown>;

/**
 * Errors in the update itself are found before any number is looked up.
 * @throws ApiError AGENT_SOURCE_CONFLICT, INVALID_PARAMETER
 */
export function readUpdate(update: InboundUpdate): UpdatedFields {
  const fields = normalizedUpdate(update);
  const given = givenSources(fields);
  if (given.length > 1) throw ApiError.of('AGENT_SOURCE_CONFLICT', { fields: given });
  return fields;
}

function givenSources(fields: UpdatedFields): (typeof sources)[number][] {
  return sources.filter((name) => fields.get(name) !== undefined && fields.get(name) !== null);
}

/** Applies an update. References to other rows are not checked here. */
export function changeNumber(row: NumberRow, update: UpdatedFields): NumberChange {
  const fields = new Map(update);
  const [source] = givenSources(fields);
  if (source) for (const other of sources) if (other !== source) fields.set(other, null);
  if (source === 'pathway_id')
    for (const name of nulledByPathway) if (!fields.get(name)) fields.set(name, null);
  const newPathway = fields.get('pathway_id');
  if (newPathway && newPathway !== row.pathway_id) {
    // A version and a start node of the previous pathway are invalid in the new one.
    if (!fields.has('pathway_version') && row.pathway_version !== null) fields.set('pathway_version', null);
    const startsAt = readSettings(row.settings).start_node_id;
    if (!fields.has('start_node_id') && startsAt !== undefined) fields.set('start_node_id', null);
  }
  const settings = new Map<string, unknown>(Object.entries(readSettings(row.settings)));
  let { pathway_id, pathway_version, persona_id } = row;
  for (const [name, value] of fields) {
    if (name === 'pathway_id') pathway_id = typeof value === 'string' ? value : null;
    else if (name === 'persona_id') persona_id = typeof value === 'string' ? value : null;
    else if (name === 'pathway_version') pathway_version = value === null ? null : String(value);
    else if (value === null) settings.delete(name);
    else settings.set(name, value);
  }
  return {
    row: {
      pathway_id,
      pathway_version,
      persona_id,
      settings: toJson(Object.fromEntries(settings)),
    },
    updates: Object.fromEntries(fields),
  };
}

function normalizedUpdate(update: InboundUpdate): Map<string, unknown> {
  const fields = new Map<string, unknown>();
  for (const [name, value] of Object.entries(update)) {
    if (value === undefined) continue;
    if (name === 'recording') continue;
    fields.set(name === 'voice_id' ? 'voice' : name, normalized(name, value));
  }
  const { recording } = update;
  if (recording !== undefined) fields.set('recording', recording && readRecording(recording, '/recording'));
  return fields;
}

function normalized(name: string, value: unknown): unknown {
  if (value === null || (name === 'pathway_id' && value === '')) return null;
  if (flags.has(name)) return value === true || value === 'true';
  if (name === 'stream_url') readUrl(String(value), 'wss:', '/stream_url');
  if (name === 'webhook') readUrl(String(value), 'https:', '/webhook');
  if (name === 'timezone' && !isTimezone(String(value))) {
    throw ApiError.invalid('/timezone', 'must be an IANA time zone name');
  }
  return value;
}

/** Whether `name` is in the IANA time zone database. */
export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The number as the API shows it, with the defaults of contract 9.1. */
export function numberView(row: NumberRow): InboundNumber {
  const settings = readSettings(row.settings);
  return {
    phone_number: row.number,
    label: settings.label ?? null,
    source: row.source,
    created_at: row.created_at,
    updated_at: row.updated_at,
    prompt: settings.prompt ?? null,
    pathway_id: row.pathway_id,
    pathway_version: readVersion(row.pathway_version),
    start_node_id: settings.start_node_id ?? null,
    persona_id: row.persona_id,
    stream_url: settings.stream_url ?? null,
    realtime: settings.realtime ?? null,
    first_sentence: settings.first_sentence ?? null,
    wait_for_greeting: settings.wait_for_greeting ?? false,
    block_interruptions: settings.block_interruptions ?? false,
    ignore_button_press: settings.ignore_button_press ?? false,
    voice: settings.voice ?? null,
    voice_id: settings.voice ?? null,
    model: settings.model ?? 'base',
    language: settings.language ?? 'en-US',
    temperature: settings.temperature ?? 0.7,
    interruption_threshold: settings.interruption_threshold ?? 500,
    timezone: settings.timezone ?? 'America/Los_Angeles',
    max_duration: settings.max_duration ?? 30,
    transfer_phone_number: settings.transfer_phone_number ?? null,
    transfer_list: settings.transfer_list ?? null,
    fallback_number: settings.fallback_number ?? null,
    tools: settings.tools ?? [],
    request_data: settings.request_data ?? {},
    metadata: settings.metadata ?? {},
    webhook: settings.webhook ?? null,
    call_limits: limitsView(settings.call_limits ?? null),
    recording: settings.recording ?? null,
    key_terms: settings.key_terms ?? [],
  };
}

function readVersion(text: string | null): InboundNumber['pathway_version'] {
  if (text === null || text === 'production' || text === 'staging') return text;
  return Number(text);
}

/**
 * The numbers that a path may mean, in the order they are tried: as sent, then ten digits with a leading 1 (contract
 * section 10).
 */
export function numbersOfPath(text: string): string[] {
  const asSent = toE164(text);
  const digits = text.replace(/[\s\-.()]/g, '');
  const withCountry = /^[0-9]{10}$/.test(digits) ? toE164(`1${digits}`) : null;
  return [asSent, withCountry].filter((number) => number !== null);
}
