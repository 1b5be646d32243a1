/** Agents that are not ours, as written, stored and read. Pure but for sealing. */
import { createHash } from 'node:crypto';
import type { BlockList } from 'node:net';
import type { ForeignAgentView, ForeignAgentWrite } from '#shared/api/agent-testing/foreign-agents.ts';
import { ApiError } from '#shared/errors.ts';
import { fromJson, type SecretBox, type TestAgentRow, toJson } from '../../db/index.ts';
import { checkUrl } from '../../organizations/index.ts';

/** What a conversation needs, apart from the secret headers. */
export type ForeignSettings = Omit<ForeignAgentView, 'id' | 'name' | 'headers' | 'created_at' | 'updated_at'>;

interface Header {
  readonly name: string;
  readonly value: string;
}

const headersContext = (id: string) => `test-agent:${id}:headers`;
const usualTimeoutMs = 30_000;
/** Set by us, or by HTTP itself. */
const ownHeaders = new Set(['content-type', 'content-length', 'host', 'connection', 'transfer-encoding']);

/** @throws ApiError INVALID_PARAMETER, TARGET_NOT_ALLOWED */
export function readSettings(body: ForeignAgentWrite, allowedTargets: BlockList): ForeignSettings {
  const { format, url, model = null, body: template = null, reply = null, ended = null } = body;
  checkUrl(url, 'https:', '/url', allowedTargets);
  const isForm = format === 'form';
  const given = { model, body: template, reply, ended, speaks_first: body.speaks_first === true || null };
  const needed = isForm ? (['body', 'reply'] as const) : (['model'] as const);
  for (const name of needed)
    if (given[name] === null) throw ApiError.invalid(`/${name}`, `required with format ${format}`);
  const foreign = isForm ? (['model'] as const) : (['body', 'reply', 'ended', 'speaks_first'] as const);
  for (const name of foreign)
    if (given[name] !== null) throw ApiError.invalid(`/${name}`, `not used with format ${format}`);
  if (
    template &&
    !JSON.stringify(template).includes('{{message}}') &&
    !JSON.stringify(template).includes('"{{history}}"')
  )
    throw ApiError.invalid(
      '/body',
      'must contain {{message}} or "{{history}}": nothing that the caller says would be sent',
    );
  return {
    url,
    format,
    model,
    body: template,
    reply,
    ended,
    speaks_first: given.speaks_first === true,
    timeout_ms: body.timeout_ms ?? usualTimeoutMs,
  };
}

/**
 * The secret headers of an agent, sealed. A value that is left out stays, as long as it goes to the same host.
 * @throws ApiError INVALID_PARAMETER
 */
export function readHeaders(
  { headers = [], url }: ForeignAgentWrite,
  id: string,
  before: TestAgentRow | null,
  secrets: SecretBox,
): string {
  const known =
    before && new URL(settingsOf(before).url).host === new URL(url).host ? headersOf(before, secrets) : [];
  const names = new Set<string>();
  const kept = headers.map(({ name, value }, index): Header => {
    const path = `/headers/${index}`;
    const key = name.toLowerCase();
    if (names.has(key)) throw ApiError.invalid(`${path}/name`, 'there is another header with this name');
    if (ownHeaders.has(key)) throw ApiError.invalid(`${path}/name`, 'this header is set by us');
    names.add(key);
    const stored = known.find((one) => one.name.toLowerCase() === key)?.value;
    if (value === undefined && stored === undefined)
      throw ApiError.invalid(`${path}/value`, 'required: none is stored for this host');
    return { name, value: value ?? stored ?? '' };
  });
  return secrets.seal(JSON.stringify(kept), headersContext(id));
}

export function headersOf({ id, headers }: TestAgentRow, secrets: SecretBox): readonly Header[] {
  return JSON.parse(secrets.open(headers, headersContext(id)));
}

export function settingsOf({ settings }: Pick<TestAgentRow, 'settings'>): ForeignSettings {
  return fromJson<ForeignSettings>(settings);
}

/** Of a tested agent: what it does behind its address is not known, the way in which it is asked is. */
export function foreignHash({ settings }: Pick<TestAgentRow, 'settings'>): string {
  return createHash('sha256').update(settings).digest('hex');
}

export const storedSettings = (settings: ForeignSettings) => toJson(settings);

export function foreignAgentView(row: TestAgentRow, secrets: SecretBox): ForeignAgentView {
  const { id, name, created_at, updated_at } = row;
  const headers = headersOf(row, secrets).map((header) => ({ name: header.name }));
  return { id, name, ...settingsOf(row), headers, created_at, updated_at };
}
