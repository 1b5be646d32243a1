/** POST /v1/sip/attach, /update and /detach (contract 2.3, 2.4, 2.6). */

import { isBuiltIn } from '#shared/agent/built-in-names.ts';
import type { Attach, Detach, Update } from '#shared/api/sip.ts';
import { toE164 } from '#shared/e164.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { type Actor, changedFields, recordChange, systemActor } from '../audit/index.ts';
import { type Db, fromJson, type SipConfigurationRow } from '../db/index.ts';
import { archiveNumber, everHeld, findNumber, holdNumber } from '../numbers/index.ts';
import { isoTime } from '../organizations/index.ts';
import { type NumberConfigurationsView, numberView } from './configuration-views.ts';
import type { TrunkDeps } from './deps.ts';
import { attachEntries, checkTarget, type DirectionEntry, readDirection } from './directions.ts';
import { attach, derivePassword, inboundSources, update, type WantedRecord, wantedRecord } from './rules.ts';
import { checkSourceSpace } from './source-space-store.ts';
import { deleteConfigurations, findConfigurations, openPassword, saveDrafts } from './store.ts';
import { checkWideSources } from './wide-sources-store.ts';

export interface FailedNumber {
  phone_number: string;
  error: string;
  message: string;
}

export interface AttachResult {
  configured: string[];
  failed: FailedNumber[];
  register_password_for_pbx?: string;
  warnings: string[];
}

/**
 * Attaches the entries to each number independently: one that fails leaves the others unchanged. Errors in the request
 * itself are thrown before the first number; errors that depend on a number, or on stored data, are in its `failed`.
 * @throws ApiError those of reading a direction
 */
export async function attachNumbers(
  services: TrunkDeps,
  orgId: string,
  body: Attach,
  by: Actor = systemActor,
): Promise<AttachResult> {
  const entries = attachEntries(body);
  for (const entry of entries) checkTarget(entry, services.allowedTargets);
  const requested = requestedNumbers(body);
  const wanted = entries.map(wantedRecord);
  const result: AttachResult = { configured: [], failed: [], warnings: [] };
  const register = entries.find(({ given }) => given.type === 'inbound' && given.auth_mode === 'register');
  for (const sent of requested) {
    const number = toE164(sent);
    try {
      if (number === null) throw ApiError.of('INVALID_PHONE_NUMBER');
      const before = result.configured.at(-1);
      const rows = await attachNumber(services, orgId, { number, before }, wanted, by);
      result.configured.push(number);
      result.warnings.push(...warningsOf(services, number, rows));
      if (register && result.register_password_for_pbx === undefined) {
        const row = rows.find((candidate) => isRegisterRow(candidate, register));
        if (row) result.register_password_for_pbx = pbxPassword(services, row);
      }
    } catch (error) {
      // An unavailable part of the service is not the number's fault.
      if (!(error instanceof ApiError) || error.statusCode >= 500) throw error;
      result.failed.push({ phone_number: number ?? sent, error: error.code, message: error.message });
    }
  }
  return result;
}

/** Each number once, in request order (contract 2.3). */
function requestedNumbers(body: { phone_number?: string; phone_numbers?: string[] }): string[] {
  const { phone_number, phone_numbers } = body;
  if ((phone_number === undefined) === (phone_numbers === undefined)) {
    throw ApiError.invalid('/phone_number', 'give exactly one of phone_number and phone_numbers');
  }
  const sent = phone_numbers ?? [phone_number ?? ''];
  return [...new Map(sent.map((text) => [toE164(text) ?? text, text])).values()];
}

function attachNumber(
  services: TrunkDeps,
  orgId: string,
  { number, before }: { readonly number: string; readonly before: string | undefined },
  wanted: readonly WantedRecord[],
  by: Actor,
): Promise<SipConfigurationRow[]> {
  const sent = wanted.map(({ entry }) => entry);
  const now = isoTime(services.clock);
  return services.catalogue.change(async (db, altered) => {
    await services.quotas.numberRoom(db, orgId, [number]);
    await holdNumber(db, orgId, number, now);
    const stored = await findConfigurations(db, orgId, number);
    await checkWideSources(db, orgId, stored, sent);
    const drafts = attach(stored, wanted, { orgId, number, now, newId });
    await services.quotas.counting('sources', () =>
      checkSourceSpace(db, { orgId, number, stored, drafts, sent, before }),
    );
    await saveDrafts(db, services.secrets, stored, drafts);
    altered.numbers.add(number);
    const rows = await findConfigurations(db, orgId, number);
    const fields = fieldsChanged(stored, rows);
    await recordChange(db, services.clock, by, {
      orgId,
      area: 'sip',
      subject: number,
      action: 'attach',
      fields,
    });
    return rows;
  });
}

/** Names of the columns that differ in any record. */
function fieldsChanged(
  before: readonly SipConfigurationRow[],
  after: readonly SipConfigurationRow[],
): string[] {
  const fields = after.flatMap((row) =>
    changedFields(
      before.find((old) => old.id === row.id),
      row,
    ),
  );
  return [...new Set(fields)].sort();
}

function warningsOf(services: TrunkDeps, number: string, rows: readonly SipConfigurationRow[]): string[] {
  return [...sourceWarnings(services, number, rows), ...headerWarnings(number, rows)];
}

/**
 * Whether a call has a variable is known only when it is placed, so a header that depends on one gets a warning here.
 */
function headerWarnings(number: string, rows: readonly SipConfigurationRow[]): string[] {
  return rows
    .filter((row) => row.direction === 'outbound' && row.headers !== null)
    .flatMap((row) => (row.headers === null ? [] : fromJson(row.headers)))
    .flatMap((item) =>
      item.type === 'custom' && item.passthrough !== true && !isBuiltIn(item.key)
        ? [
            `${number} sends the header ${item.value} only on calls that have a variable "${item.key}", such as one of request_data; for a fixed text set passthrough to true.`,
          ]
        : [],
    );
}

function sourceWarnings(services: TrunkDeps, number: string, rows: readonly SipConfigurationRow[]): string[] {
  if (!rows.some((row) => row.direction === 'inbound')) return [];
  switch (inboundSources(rows, services.config.openInbound)) {
    case 'listed':
      return [];
    case 'open':
      return [`${number} accepts inbound calls from any source: options.allowed_ips lists none.`];
    case 'none':
      return [`${number} rejects all inbound calls (403): list the sources in options.allowed_ips.`];
  }
}

function isRegisterRow(row: SipConfigurationRow, entry: DirectionEntry): boolean {
  if (row.auth_mode !== 'register' || entry.given.type !== 'inbound') return false;
  return row.username === entry.given.register_auth?.username;
}

function pbxPassword(services: TrunkDeps, row: SipConfigurationRow): string {
  const password = openPassword(services.secrets, row) ?? '';
  return derivePassword((input) => services.secrets.derive(input), row.org_id, row.username ?? '', password);
}

export interface UpdateResult extends NumberConfigurationsView {
  register_password_for_pbx?: string;
  warnings?: string[];
}

/** @throws ApiError NUMBER_NOT_FOUND, SIP_CONFIG_NOT_FOUND, and those of reading a direction */
export async function updateConfiguration(
  services: TrunkDeps,
  orgId: string,
  body: Update,
  by: Actor,
): Promise<UpdateResult> {
  const number = requireNumber(body.phone_number, '/phone_number');
  const { id, ...given } = body.updates;
  const entry = readDirection(given, '/updates');
  checkTarget(entry, services.allowedTargets);
  const sentAuth = given.type === 'inbound' && (given.auth_mode ?? given.register_auth) !== undefined;
  const rows = await services.catalogue.change(async (db, altered) => {
    const stored = await requireConfigurations(db, orgId, number);
    const target = stored.find((row) => row.direction === given.type && (id === undefined || row.id === id));
    if (!target) throw ApiError.of('SIP_CONFIG_NOT_FOUND');
    await checkWideSources(db, orgId, stored, [entry]);
    const drafts = update(stored, target, entry, isoTime(services.clock));
    await services.quotas.counting('sources', () =>
      checkSourceSpace(db, { orgId, number, stored, drafts, sent: [entry] }),
    );
    await saveDrafts(db, services.secrets, stored, drafts);
    altered.numbers.add(number);
    const saved = await findConfigurations(db, orgId, number);
    const fields = fieldsChanged(stored, saved);
    await recordChange(db, services.clock, by, {
      orgId,
      area: 'sip',
      subject: number,
      action: 'update',
      fields,
    });
    return { saved, changed: saved.find((row) => row.id === target.id) };
  });
  const view = await numberView(services, services.database.db, rows.saved);
  const warnings = given.headers === undefined || !rows.changed ? [] : headerWarnings(number, [rows.changed]);
  const warned = { ...view, ...(warnings.length > 0 && { warnings }) };
  if (!sentAuth || rows.changed?.auth_mode !== 'register') return warned;
  return { ...warned, register_password_for_pbx: pbxPassword(services, rows.changed) };
}

/** @throws ApiError INVALID_PARAMETER */
export function requireNumber(text: string, path: string): string {
  const number = toE164(text);
  if (number === null) throw ApiError.invalid(path, 'must be an E.164 number of 7 to 15 digits');
  return number;
}

/** The records of a number that the organization holds or once held. @throws ApiError NUMBER_NOT_FOUND */
export async function requireConfigurations(
  db: Db,
  orgId: string,
  number: string,
): Promise<SipConfigurationRow[]> {
  if (!(await everHeld(db, orgId, number))) throw ApiError.of('NUMBER_NOT_FOUND');
  return findConfigurations(db, orgId, number);
}

export interface DetachResult {
  detached: string[];
  failed: (FailedNumber & { direction: string })[];
}

interface DetachTarget {
  readonly type: 'inbound' | 'outbound';
  readonly id?: string;
}

/** @throws ApiError NUMBER_NOT_FOUND when `phone_number` names one that the organization does not hold */
export async function detachNumbers(
  services: TrunkDeps,
  orgId: string,
  body: Detach,
  by: Actor,
): Promise<DetachResult> {
  const targets = body.directions.map(
    (direction): DetachTarget => (typeof direction === 'string' ? { type: direction } : direction),
  );
  const result: DetachResult = { detached: [], failed: [] };
  const requested = requestedNumbers(body);
  const [only] = requested;
  if (body.phone_number !== undefined && only !== undefined) requireNumber(only, '/phone_number');
  for (const sent of requested) {
    const number = toE164(sent);
    const held = number !== null && (await findNumber(services.database.db, orgId, number)) !== undefined;
    if (number === null || !held) {
      if (body.phone_number !== undefined) throw ApiError.of('NUMBER_NOT_FOUND');
      const { code, message } = ApiError.of(number === null ? 'INVALID_PHONE_NUMBER' : 'NUMBER_NOT_FOUND');
      for (const { type } of targets)
        result.failed.push({ phone_number: number ?? sent, error: code, message, direction: type });
      continue;
    }
    const missing = await detachNumber(services, orgId, number, targets, by);
    if (missing.length < targets.length) result.detached.push(number);
    const { code, message } = ApiError.of('SIP_CONFIG_NOT_FOUND');
    for (const { type } of missing)
      result.failed.push({ phone_number: number, error: code, message, direction: type });
  }
  return result;
}

/** Returns the targets that match no record. */
function detachNumber(
  services: TrunkDeps,
  orgId: string,
  number: string,
  targets: readonly DetachTarget[],
  by: Actor,
): Promise<DetachTarget[]> {
  return services.catalogue.change(async (db, altered) => {
    const stored = await findConfigurations(db, orgId, number);
    const meant = (row: SipConfigurationRow, { type, id }: DetachTarget) =>
      row.direction === type && (id === undefined || row.id === id);
    const gone = stored.filter((row) => targets.some((target) => meant(row, target)));
    if (gone.length > 0) {
      await deleteConfigurations(
        db,
        gone.map((row) => row.id),
      );
      if (gone.length === stored.length) await archiveNumber(db, orgId, number, isoTime(services.clock));
      altered.numbers.add(number);
      const fields = [...new Set(gone.map((row) => row.direction))].sort();
      const change = { orgId, area: 'sip', subject: number, action: 'detach', fields };
      await recordChange(db, services.clock, by, change);
    }
    return targets.filter((target) => !stored.some((row) => meant(row, target)));
  });
}
