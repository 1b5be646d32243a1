/** Applies attach and update requests to a number's SIP configurations: pure functions (contract 2.2 to 2.4). */
import { mostConfigurations } from '#shared/api/sip.ts';
import type { InboundDirection } from '#shared/api/sip-directions.ts';
import { ApiError } from '#shared/errors.ts';
import { parseSipDestination } from '#shared/sip-destination.ts';
import { defaultTransferMode } from '#shared/transfer-mode.ts';
import { type SipConfigurationRow, toJson } from '../db/index.ts';
import { secretMask } from '../http/index.ts';
import type { DirectionEntry } from './directions.ts';

type AuthMode = NonNullable<SipConfigurationRow['auth_mode']>;

/** A record before it is stored: `password` is plain text, or `kept` to keep the stored one. */
export interface ConfigurationDraft extends Omit<SipConfigurationRow, 'password'> {
  readonly password: { readonly plain: string } | 'kept' | null;
  /** Whether the record is new to the number. */
  readonly isNew: boolean;
}

export interface DraftContext {
  readonly orgId: string;
  readonly number: string;
  readonly now: string;
  readonly newId: () => string;
}

/** Two records with the same identity are the same record (contract 2.3). */
function identity(
  draft: Pick<SipConfigurationRow, 'direction' | 'sip_endpoint' | 'port' | 'auth_mode' | 'username'>,
): string {
  const host = draft.sip_endpoint === null ? '' : (parseSipDestination(draft.sip_endpoint)?.host ?? '');
  return draft.direction === 'outbound'
    ? toJson(['outbound', host, draft.port])
    : toJson(['inbound', draft.auth_mode, host, draft.auth_mode === 'ip' ? null : draft.username]);
}

/** A stored record as an unchanged draft. */
function draftOf(row: SipConfigurationRow): ConfigurationDraft {
  return { ...row, password: row.password === null ? null : 'kept', isNew: false };
}

/** A requested record, not yet tied to a number. */
export interface WantedRecord {
  readonly entry: DirectionEntry;
  readonly record: Omit<ConfigurationDraft, 'id' | 'org_id' | 'number' | 'created_at' | 'updated_at'>;
}

/**
 * Attaches wanted records to a number's records, in order. Returns all its records. It throws only errors that depend
 * on the number; `wantedRecord` has already checked each entry on its own.
 * @throws ApiError SIP_CONFIG_LIMIT, REGISTRAR_REQUIRED, INVALID_PARAMETER for a mask with nothing stored
 */
export function attach(
  stored: readonly SipConfigurationRow[],
  wanted: readonly WantedRecord[],
  context: DraftContext,
): ConfigurationDraft[] {
  let drafts = stored.map(draftOf);
  for (const one of wanted) drafts = attachOne(drafts, one, context);
  if (drafts.length > mostConfigurations) throw ApiError.of('SIP_CONFIG_LIMIT');
  requireRegistrars(drafts);
  return drafts;
}

function attachOne(
  drafts: readonly ConfigurationDraft[],
  { entry, record }: WantedRecord,
  { newId, now, number, orgId }: DraftContext,
): ConfigurationDraft[] {
  const made = { ...record, id: newId(), org_id: orgId, number, created_at: now, updated_at: now };
  const same = drafts.find((draft) => identity(draft) === identity(made));
  if (made.password === 'kept' && !same?.password) throw nothingToKeep(entry);
  const { priority } = entry.given;
  if (!same) return place(drafts, made, priority ?? nextPriority(drafts, made.direction));
  const { id, created_at, failover_config, codec_config, alert_config, region_config, isNew } = same;
  const password = made.password === 'kept' ? same.password : made.password;
  const kept = { id, created_at, failover_config, codec_config, alert_config, region_config, isNew };
  const replaced = { ...made, ...kept, password };
  const others = drafts.filter((draft) => draft !== same);
  return place(others, replaced, priority ?? same.priority);
}

function nothingToKeep(entry: DirectionEntry): ApiError {
  const { given } = entry;
  const member =
    given.type === 'outbound'
      ? 'options/sip_password'
      : `${given.digest_auth ? 'digest_auth' : 'register_auth'}/password`;
  return ApiError.invalid(`${entry.path}/${member}`, 'there is no stored value to keep');
}

/**
 * An entry as a record with defaults applied. Called before anything is stored.
 * @throws ApiError INVALID_PARAMETER
 */
export function wantedRecord(entry: DirectionEntry): WantedRecord {
  return { entry, record: newRecord(entry) };
}

function newRecord(entry: DirectionEntry): WantedRecord['record'] {
  const { given, endpoint } = entry;
  const common = {
    priority: 0,
    sip_endpoint: given.sip_endpoint?.trim() ?? null,
    port: endpoint?.port ?? given.options?.port ?? 5061,
    headers: headersText(given.headers),
    failover_config: null,
    codec_config: null,
    alert_config: null,
    region_config: null,
    transfer_mode: given.options?.transfer_mode ?? defaultTransferMode,
    isNew: true,
  };
  if (given.type === 'outbound') {
    if (given.sip_endpoint === undefined) throw ApiError.invalid(`${entry.path}/sip_endpoint`, 'required');
    const { sip_username = null, sip_password = null, sip_realm = null } = given.options ?? {};
    requireBoth(sip_username, sip_password, entry.path);
    const password = secret(sip_password);
    return {
      ...common,
      direction: 'outbound',
      auth_mode: null,
      allowed_ips: null,
      username: sip_username,
      password,
      realm: sip_realm,
    };
  }
  const auth_mode = given.auth_mode ?? 'ip';
  const sent = credentialsSent(auth_mode, given, entry.path);
  if (auth_mode !== 'ip' && !sent) throw missingCredentials(auth_mode, entry.path);
  const allowed_ips = toJson(given.options?.allowed_ips ?? []);
  if (auth_mode === 'digest')
    requireNoSources({ allowed_ips, sip_endpoint: common.sip_endpoint }, entry.path);
  return {
    ...common,
    direction: 'inbound',
    auth_mode,
    allowed_ips,
    username: sent?.username ?? null,
    password: secret(sent?.password ?? null),
    realm: null,
  };
}

function headersText(headers: DirectionEntry['given']['headers']): SipConfigurationRow['headers'] {
  return headers && headers.headers.length > 0 ? toJson(headers.headers) : null;
}

function secret(text: string | null): ConfigurationDraft['password'] {
  if (text === null) return null;
  return text === secretMask ? 'kept' : { plain: text };
}

function requireBoth(username: string | null, password: unknown, path: string): void {
  if ((username === null) === (password === null)) return;
  const missing = username === null ? 'sip_username' : 'sip_password';
  throw ApiError.invalid(`${path}/options/${missing}`, 'sip_username and sip_password must be sent together');
}

/** Where the user name and password of each `auth_mode` are. */
const credentialsOf = { register: 'register_auth', digest: 'digest_auth' } as const;

/** The user name and password that an entry has for `mode`. @throws ApiError for those of another mode */
function credentialsSent(
  mode: AuthMode,
  given: InboundDirection,
  path: string,
): { readonly username: string; readonly password: string } | undefined {
  for (const other of ['register', 'digest'] as const) {
    const member = credentialsOf[other];
    if (other !== mode && given[member] !== undefined)
      throw ApiError.invalid(`${path}/${member}`, `only with auth_mode ${other}`);
  }
  return mode === 'ip' ? undefined : given[credentialsOf[mode]];
}

function missingCredentials(mode: Exclude<AuthMode, 'ip'>, path: string): ApiError {
  return ApiError.invalid(`${path}/${credentialsOf[mode]}`, `required with auth_mode ${mode}`);
}

/** Addresses would let callers in without a password; they belong into a configuration with auth_mode ip. */
function requireNoSources(
  { allowed_ips, sip_endpoint }: Pick<SipConfigurationRow, 'allowed_ips' | 'sip_endpoint'>,
  path: string,
): void {
  const rule = 'must be empty with auth_mode digest: attach another inbound configuration with auth_mode ip';
  if (sip_endpoint !== null) throw ApiError.invalid(`${path}/sip_endpoint`, rule);
  if ((allowed_ips ?? toJson([])) !== '[]') throw ApiError.invalid(`${path}/options/allowed_ips`, rule);
}

/** `register` needs a registrar: its own endpoint, else that of the primary outbound record (contract 2.3). */
function requireRegistrars(drafts: readonly ConfigurationDraft[]): void {
  const registering = drafts.some((draft) => draft.auth_mode === 'register' && draft.sip_endpoint === null);
  if (registering && !drafts.some((draft) => draft.direction === 'outbound'))
    throw ApiError.of('REGISTRAR_REQUIRED');
}

/**
 * Nothing can carry a call.
 * @param number that is to call; undefined: any of the organization
 * @param path of the value that names it
 */
export function noOutboundRoute(number: string | undefined, path: string): ApiError {
  if (number === undefined) return ApiError.of('NO_OUTBOUND_ROUTE');
  const message = `${number} has no outbound configuration: attach one, or name another number in ${path.slice(1)}.`;
  return ApiError.of('NO_OUTBOUND_ROUTE', { path }, message);
}

function nextPriority(drafts: readonly ConfigurationDraft[], direction: string): number {
  const used = drafts.filter((draft) => draft.direction === direction).map((draft) => draft.priority);
  return Math.min(100, Math.max(0, ...used) + 1);
}

/** Inserts a record at `priority`. If taken, it moves those above it up, or at the upper limit those below it down. */
function place(
  drafts: readonly ConfigurationDraft[],
  made: ConfigurationDraft,
  priority: number,
): ConfigurationDraft[] {
  const others = drafts.filter((draft) => draft.direction !== made.direction);
  const before = drafts.filter((draft) => draft.direction === made.direction && draft.priority < priority);
  const after = drafts.filter((draft) => draft.direction === made.direction && draft.priority >= priority);
  const order = [...sorted(before), { ...made, priority }, ...sorted(after)];
  const rising = spread(order, (previous, own) => Math.max(own, previous + 1), 0);
  const fitting = spread(rising.reverse(), (previous, own) => Math.min(own, previous - 1), 101).reverse();
  return [...others, ...fitting];
}

function sorted(drafts: readonly ConfigurationDraft[]): ConfigurationDraft[] {
  return [...drafts].sort((a, b) => a.priority - b.priority);
}

function spread(
  drafts: readonly ConfigurationDraft[],
  next: (previous: number, own: number) => number,
  start: number,
): ConfigurationDraft[] {
  let previous = start;
  return drafts.map((draft) => {
    previous = next(previous, draft.priority);
    return previous === draft.priority ? draft : { ...draft, priority: previous };
  });
}

/**
 * Updates one record of a number (contract 2.4). Returns all its records.
 * @param target the record to update
 * @throws ApiError DUPLICATE_SIP_CONFIG, REGISTRAR_REQUIRED, INVALID_PARAMETER
 */
export function update(
  stored: readonly SipConfigurationRow[],
  target: SipConfigurationRow,
  entry: DirectionEntry,
  now: string,
): ConfigurationDraft[] {
  const changed = { ...changedDraft(target, entry), updated_at: now };
  const others = stored.filter((row) => row.id !== target.id).map(draftOf);
  if (others.some((other) => identity(other) === identity(changed)))
    throw ApiError.of('DUPLICATE_SIP_CONFIG');
  const drafts = place(others, changed, entry.given.priority ?? target.priority);
  requireRegistrars(drafts);
  return drafts;
}

function changedDraft(row: SipConfigurationRow, entry: DirectionEntry): ConfigurationDraft {
  const { given, endpoint } = entry;
  const old = draftOf(row);
  const common = {
    ...old,
    sip_endpoint: given.sip_endpoint === undefined ? row.sip_endpoint : (given.sip_endpoint?.trim() ?? null),
    port: endpoint?.port ?? given.options?.port ?? row.port,
    headers: given.headers === undefined ? row.headers : headersText(given.headers),
    transfer_mode: given.options?.transfer_mode ?? row.transfer_mode,
  };
  checkKeptPort(common, entry);
  if (given.type === 'outbound') {
    const options = given.options ?? {};
    const username = options.sip_username === undefined ? row.username : options.sip_username;
    const password = options.sip_password === undefined ? old.password : secret(options.sip_password);
    const realm = options.sip_realm === undefined ? row.realm : options.sip_realm;
    if (password === 'kept' && row.password === null) throw nothingToKeep(entry);
    requireBoth(username, password, entry.path);
    return { ...common, username, password, realm };
  }
  const auth_mode = given.auth_mode ?? row.auth_mode ?? 'ip';
  const allowed = given.options?.allowed_ips;
  const allowed_ips = allowed === undefined ? row.allowed_ips : toJson(allowed);
  const sent = credentialsSent(auth_mode, given, entry.path);
  if (auth_mode === 'ip') return { ...common, auth_mode, allowed_ips, username: null, password: null };
  if (auth_mode === 'digest') requireNoSources({ ...common, allowed_ips }, entry.path);
  // A password of another mode is not kept: its rules may be others.
  const kept = auth_mode === row.auth_mode;
  const username = sent?.username ?? (kept ? row.username : null);
  const password = sent ? secret(sent.password) : kept ? old.password : null;
  if (username === null || password === null) throw missingCredentials(auth_mode, entry.path);
  if (password === 'kept' && (row.password === null || !kept)) throw nothingToKeep(entry);
  return { ...common, auth_mode, allowed_ips, username, password };
}

/** A port of its own must not contradict the port in a kept `sip_endpoint`, or vice versa. */
function checkKeptPort(draft: { sip_endpoint: string | null; port: number }, entry: DirectionEntry): void {
  const inEndpoint = draft.sip_endpoint === null ? undefined : parseSipDestination(draft.sip_endpoint)?.port;
  if (inEndpoint !== undefined && inEndpoint !== draft.port) {
    throw ApiError.invalid(`${entry.path}/options/port`, 'must equal the port of sip_endpoint');
  }
}

/** Whether calls to a number can come from a listed source (contract 2.1). */
export function inboundSources(
  rows: readonly Pick<SipConfigurationRow, 'allowed_ips' | 'sip_endpoint' | 'auth_mode'>[],
  openInbound: boolean,
): 'listed' | 'none' | 'open' {
  const listed = rows.some(
    ({ auth_mode, sip_endpoint, allowed_ips }) =>
      auth_mode === 'digest' || sip_endpoint !== null || (allowed_ips ?? toJson([])) !== '[]',
  );
  if (listed) return 'listed';
  return openInbound ? 'open' : 'none';
}

const passwordAlphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

/** The password that a PBX needs for registration: 32 characters without `0 O 1 l I` (contract 2.3). */
export function derivePassword(
  derive: (input: string) => Buffer,
  orgId: string,
  username: string,
  password: string,
): string {
  const bytes = derive(toJson(['register', orgId, username, password]));
  return Array.from(bytes.subarray(0, 32), (byte) => passwordAlphabet[byte % passwordAlphabet.length]).join(
    '',
  );
}
