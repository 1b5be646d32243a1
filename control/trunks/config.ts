/** PATCH /v1/sip/config: failover, codecs and alerts of one record (contract 3.5). */

import { isIPv6 } from 'node:net';
import { requireAllowedHost } from '#shared/allowed-host.ts';
import type { Configuration, PatchedConfiguration } from '#shared/api/sip.ts';
import type { ConfigPatch } from '#shared/api/sip-config.ts';
import { ApiError } from '#shared/errors.ts';
import { plainAddress } from '#shared/networks.ts';
import { parseSipDestination } from '#shared/sip-destination.ts';
import { type Actor, changedFields, recordChange } from '../audit/index.ts';
import { type Db, fromJson, type Json, type SipConfigurationRow, toJson } from '../db/index.ts';
import { checkUrl, findOrganization, isoTime } from '../organizations/index.ts';
import { requireConfigurations, requireNumber } from './attach.ts';
import {
  alertsOf,
  codecsOf,
  type FailoverConfig,
  type FailoverEndpoint,
  failoverOf,
  merged,
} from './config-rules.ts';
import { numberView } from './configuration-views.ts';
import type { TrunkDeps } from './deps.ts';
import { regionOf } from './region.ts';

/**
 * Stores the patch and, if requested, has the edges return to the primary endpoint.
 * @throws ApiError those of the contract's table; SERVICE_UNAVAILABLE when no edge can be instructed to return
 */
export async function patchConfiguration(
  services: TrunkDeps,
  orgId: string,
  body: ConfigPatch,
  by: Actor,
): Promise<PatchedConfiguration> {
  const number = requireNumber(body.phone_number, '/phone_number');
  const failover = readFailover(services, body);
  checkAlertWebhook(services, body);
  const failback = body.failover_config?.failback_now === true;
  const row = await services.catalogue.change(async (db, altered) => {
    const target = await findTarget(db, orgId, number, body);
    if (failback && services.edges.count === 0) throw noEdge();
    const change = changedColumns(target, body, failover);
    await checkRecipients(db, orgId, body);
    await db
      .updateTable('sip_configurations')
      .set({ ...change, updated_at: isoTime(services.clock) })
      .where('id', '=', target.id)
      .execute();
    if (!alertsOf({ ...target, ...change }).enabled) {
      const alerts = { kind: 'trunk_alerts', id: target.id } as const;
      await services.catalogue.removed(db, altered, alerts, isoTime(services.clock));
    }
    altered.numbers.add(number);
    const fields = changedFields(target, change);
    await recordChange(db, services.clock, by, {
      orgId,
      area: 'sip',
      subject: number,
      action: 'config',
      fields,
    });
    return target;
  });
  if (failback) await services.edges.commandAll({ kind: 'trunk.failback', trunk_id: row.id });
  const { db } = services.database;
  const { configurations } = await numberView(
    services,
    db,
    await requireConfigurations(db, orgId, row.number),
  );
  const view = configurations.find((configuration) => configuration.id === row.id);
  if (!view) throw ApiError.of('SIP_CONFIG_NOT_FOUND');
  return { ...view, warnings: body.codec_config ? codecWarnings(view) : [] };
}

/** Codecs are stored as given: an edge with the libraries may connect later. */
function codecWarnings({ codec_config: { codecs, unavailable } }: Configuration): string[] {
  if (unavailable.length === 0) return [];
  const [names, are] = [unavailable.join(', '), unavailable.length === 1 ? 'is' : 'are'];
  const others = unavailable.length === codecs.length ? ', so no call can be placed or answered' : '';
  return [`${names} ${are} unavailable: no connected edge has the library${others}.`];
}

function noEdge(): ApiError {
  return ApiError.unavailable('No edge is connected that could return to the primary endpoint.', 5);
}

async function findTarget(
  db: Db,
  orgId: string,
  number: string,
  body: ConfigPatch,
): Promise<SipConfigurationRow> {
  const { configuration_id: id, direction } = body;
  const rows = await requireConfigurations(db, orgId, number);
  const target = rows.find((row) => row.direction === direction && (id === undefined || row.id === id));
  if (!target) throw ApiError.of('SIP_CONFIG_NOT_FOUND');
  return target;
}

type FailoverUpdate = Partial<FailoverConfig>;

/** The failover part of the patch, validated on its own; undefined when absent, null to reset it. */
function readFailover(services: TrunkDeps, body: ConfigPatch): FailoverUpdate | null | undefined {
  const { failover_config: given, codec_config, alert_config, region_config } = body;
  if ([given, codec_config, alert_config, region_config].every((part) => part === undefined)) {
    const rule = 'give at least one of failover_config, codec_config, alert_config and region_config';
    throw ApiError.invalid('', rule);
  }
  if (region_config !== undefined && body.direction === 'inbound')
    throw ApiError.invalid('/region_config', 'belongs to outbound configurations');
  if (given === undefined || given === null) {
    if (given === null && body.direction === 'inbound') throw ApiError.of('FAILOVER_OUTBOUND_ONLY');
    return given;
  }
  if (body.direction === 'inbound') throw ApiError.of('FAILOVER_OUTBOUND_ONLY');
  const { failback_now: _, endpoints, ...rest } = given;
  return { ...rest, ...(endpoints && { endpoints: endpoints.map(readEndpoint(services)) }) };
}

type GivenEndpoint = NonNullable<NonNullable<ConfigPatch['failover_config']>['endpoints']>[number];

function readEndpoint(services: TrunkDeps) {
  return (given: GivenEndpoint, index: number, all: readonly GivenEndpoint[]): FailoverEndpoint => {
    const path = `/failover_config/endpoints/${index}`;
    const { transport = 'tls', priority } = given;
    if (transport !== 'tls') throw ApiError.of('TRANSPORT_NOT_ALLOWED', { path: `${path}/transport` });
    if (all.findIndex((other) => other.priority === priority) !== index) {
      throw ApiError.invalid(`${path}/priority`, 'must not be that of another endpoint');
    }
    const host = hostOf(given.host);
    if (host === null) throw ApiError.invalid(`${path}/host`, 'must be a host name or an IP address');
    requireAllowedHost(host, `${path}/host`, services.allowedTargets);
    return { host, port: given.port ?? 5061, transport, priority };
  };
}

/** A bare host: a destination without port, user or parameters. */
function hostOf(text: string): string | null {
  if (isIPv6(text)) return plainAddress(text);
  const parsed = parseSipDestination(text);
  const bare = parsed && parsed.port === undefined && parsed.user === undefined && !parsed.transport;
  return bare && !/^sips?:/i.test(text) ? parsed.host : null;
}

function checkAlertWebhook(services: TrunkDeps, body: ConfigPatch): void {
  const webhook = body.alert_config?.channels?.webhook;
  if (typeof webhook !== 'string') return;
  checkUrl(webhook, 'https:', '/alert_config/channels/webhook', services.allowedTargets);
}

function changedColumns(
  row: SipConfigurationRow,
  body: ConfigPatch,
  failover: FailoverUpdate | null | undefined,
): Partial<Pick<SipConfigurationRow, 'failover_config' | 'codec_config' | 'alert_config' | 'region_config'>> {
  const { codec_config: codecs, alert_config: alerts, region_config: region } = body;
  return {
    ...(failover !== undefined && { failover_config: failover && checkedFailover(row, failover) }),
    ...(codecs !== undefined && { codec_config: codecs && toJson(merged(codecsOf(row), codecs)) }),
    ...(alerts !== undefined && { alert_config: alerts && toJson(merged(alertsOf(row), alerts)) }),
    ...(region !== undefined && { region_config: region && toJson(merged(regionOf(row), region)) }),
  };
}

function checkedFailover(row: SipConfigurationRow, update: FailoverUpdate): Json {
  const result = merged(failoverOf(row), update);
  if (result.enabled && result.endpoints.length === 0) throw ApiError.of('FAILOVER_ENDPOINTS_REQUIRED');
  return toJson(result);
}

async function checkRecipients(db: Db, orgId: string, body: ConfigPatch): Promise<void> {
  if (body.alert_config?.channels?.sms !== true) return;
  const { alert_sms_numbers } = await findOrganization(db, orgId);
  if (fromJson(alert_sms_numbers).length > 0) return;
  const message = 'The organization has no alert_sms_numbers: set them with PATCH /v1/org/settings first.';
  throw ApiError.of('NO_ALERT_RECIPIENTS', { path: '/alert_config/channels/sms' }, message);
}
