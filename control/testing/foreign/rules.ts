/** Agents that are not ours, as written, stored and read. Pure but for sealing. */
import { createHash } from 'node:crypto';
import type { BlockList } from 'node:net';
import type {
  ForeignAgentView,
  ForeignAgentWrite,
  ForeignFormat,
} from '#shared/api/agent-testing/foreign-agents.ts';
import { maxCustomHeaders, maxCustomLength, obstacleTo } from '#shared/custom-headers.ts';
import { toE164 } from '#shared/e164.ts';
import { ApiError } from '#shared/errors.ts';
import { fromJson, type SecretBox, type TestAgentRow, toJson } from '../../db/index.ts';
import { readDialedTarget } from '../../numbers/index.ts';
import { checkUrl } from '../../organizations/index.ts';

/** What a conversation needs, apart from the secret headers. */
export type ForeignSettings = Omit<
  ForeignAgentView,
  'id' | 'name' | 'headers' | 'proven_at' | 'created_at' | 'updated_at'
>;

interface Header {
  readonly name: string;
  readonly value: string;
}

const headersContext = (id: string) => `test-agent:${id}:headers`;
const usualTimeoutMs = 30_000;
const usualCallsPerMinute = 6;
/** Set by us, or by HTTP itself. */
const ownHeaders = new Set(['content-type', 'content-length', 'host', 'connection', 'transfer-encoding']);

type Member = Exclude<keyof ForeignSettings, 'format'>;

/** What each format needs, and what it may have besides. Everything else is refused. */
const members: Readonly<
  Record<ForeignFormat, { readonly needed: readonly Member[]; readonly more: readonly Member[] }>
> = {
  openai: { needed: ['url', 'model'], more: ['timeout_ms'] },
  form: { needed: ['url', 'body', 'reply'], more: ['ended', 'speaks_first', 'timeout_ms'] },
  stream: { needed: ['url'], more: [] },
  realtime: { needed: ['connection', 'instructions'], more: [] },
  call: { needed: ['from', 'to'], more: ['calls_per_minute'] },
};

/** What no format has set. */
export const unset: Omit<ForeignSettings, 'format'> = {
  url: null,
  model: null,
  body: null,
  reply: null,
  ended: null,
  speaks_first: false,
  timeout_ms: usualTimeoutMs,
  connection: null,
  instructions: null,
  from: null,
  to: null,
  calls_per_minute: null,
};

/** Whether an agent is reached over a call, and not as a chat. */
export const isSpoken = ({ format }: Pick<ForeignSettings, 'format'>) =>
  format === 'stream' || format === 'realtime' || format === 'call';

/** @throws ApiError INVALID_PARAMETER, TARGET_NOT_ALLOWED */
export function readSettings(body: ForeignAgentWrite, allowedTargets: BlockList): ForeignSettings {
  const { format } = body;
  checkMembers(body);
  const settings: ForeignSettings = {
    ...unset,
    format,
    url: body.url ?? null,
    model: body.model ?? null,
    body: body.body ?? null,
    reply: body.reply ?? null,
    ended: body.ended ?? null,
    speaks_first: body.speaks_first === true,
    timeout_ms: body.timeout_ms ?? usualTimeoutMs,
    connection: body.connection ?? null,
    instructions: body.instructions ?? null,
  };
  if (settings.url !== null)
    checkUrl(settings.url, format === 'stream' ? 'wss:' : 'https:', '/url', allowedTargets);
  if (settings.body) checkTemplate(settings.body);
  return format === 'call' ? { ...settings, ...readCall(body, allowedTargets) } : settings;
}

/** @throws ApiError INVALID_PARAMETER */
function checkMembers(body: ForeignAgentWrite): void {
  const { format } = body;
  const { needed, more } = members[format];
  const isGiven = (name: Member) => (body[name] ?? false) !== false;
  for (const name of needed)
    if (!isGiven(name)) throw ApiError.invalid(`/${name}`, `required with format ${format}`);
  for (const name of Object.keys(unset) as Member[])
    if (isGiven(name) && !needed.includes(name) && !more.includes(name))
      throw ApiError.invalid(`/${name}`, `not used with format ${format}`);
  if (body.headers?.length && (format === 'stream' || format === 'realtime'))
    throw ApiError.invalid('/headers', `not used with format ${format}`);
}

/** @throws ApiError INVALID_PARAMETER */
function checkTemplate(template: Record<string, unknown>): void {
  const text = JSON.stringify(template);
  if (text.includes('{{message}}') || text.includes('"{{history}}"')) return;
  throw ApiError.invalid(
    '/body',
    'must contain {{message}} or "{{history}}": nothing that the caller says would be sent',
  );
}

/** @throws ApiError INVALID_PARAMETER, TARGET_NOT_ALLOWED */
function readCall({ from, to, calls_per_minute }: ForeignAgentWrite, allowedTargets: BlockList) {
  const number = toE164(from ?? '');
  if (number === null) throw ApiError.invalid('/from', 'must be an E.164 number of 7 to 15 digits');
  return {
    from: number,
    to: readDialedTarget(to ?? '', '/to', allowedTargets),
    calls_per_minute: calls_per_minute ?? usualCallsPerMinute,
  };
}

/**
 * The secret headers of an agent, sealed. A value that is left out stays, as long as it goes to the same place.
 * @param place where they go (`placeOf`)
 * @throws ApiError INVALID_PARAMETER
 */
export function readHeaders(
  { format, headers = [] }: ForeignAgentWrite,
  place: string,
  id: string,
  before: TestAgentRow | null,
  secrets: SecretBox,
): string {
  const known = before && placeOf(settingsOf(before)) === place ? headersOf(before, secrets) : [];
  const names = new Set<string>();
  let room = maxCustomLength;
  const kept = headers.map(({ name, value }, index): Header => {
    const path = `/headers/${index}`;
    const key = name.toLowerCase();
    if (names.has(key)) throw ApiError.invalid(`${path}/name`, 'there is another header with this name');
    names.add(key);
    const stored = known.find((one) => one.name.toLowerCase() === key)?.value;
    if (value === undefined && stored === undefined)
      throw ApiError.invalid(`${path}/value`, 'required: none is stored for this target');
    const header = { name, value: value ?? stored ?? '' };
    if (format !== 'call' && ownHeaders.has(key))
      throw ApiError.invalid(`${path}/name`, 'this header is set by us');
    const obstacle = format === 'call' ? obstacleTo(name, header.value, room) : null;
    if (obstacle !== null) throw ApiError.invalid(path, `cannot be sent: ${obstacle}`);
    room -= header.value.length;
    return header;
  });
  if (format === 'call' && kept.length > maxCustomHeaders)
    throw ApiError.invalid('/headers', `must have at most ${maxCustomHeaders} headers with format call`);
  return secrets.seal(JSON.stringify(kept), headersContext(id));
}

/** Where headers go: a stored value is never sent elsewhere. */
export function placeOf({ to, url }: Pick<ForeignSettings, 'to' | 'url'>): string {
  return url === null ? `call ${to}` : new URL(url).host;
}

export function headersOf({ id, headers }: TestAgentRow, secrets: SecretBox): readonly Header[] {
  return JSON.parse(secrets.open(headers, headersContext(id)));
}

export function settingsOf({ settings }: Pick<TestAgentRow, 'settings'>): ForeignSettings {
  // Those of an earlier version lack what is newer.
  return { ...unset, ...fromJson<ForeignSettings>(settings) };
}

/** Of a tested agent: what it does behind its address is not known, the way in which it is asked is. */
export function foreignHash({ settings }: Pick<TestAgentRow, 'settings'>): string {
  return createHash('sha256').update(settings).digest('hex');
}

export const storedSettings = (settings: ForeignSettings) => toJson(settings);

export function foreignAgentView(row: TestAgentRow, secrets: SecretBox): ForeignAgentView {
  const { id, name, proven_at, created_at, updated_at } = row;
  const headers = headersOf(row, secrets).map((header) => ({ name: header.name }));
  return { id, name, ...settingsOf(row), headers, proven_at, created_at, updated_at };
}
