/** /v1/org: settings and the webhook secret (contract 14.1); keys and sessions have files of their own. */
import { randomBytes } from 'node:crypto';
import { NoMembers, plain } from '#shared/api/common.ts';
import type { ModelPrices } from '#shared/api/model-prices.ts';
import {
  OrganizationPatch,
  type OrganizationSettings,
  OrganizationSettingsAnswer,
  WebhookSecret,
} from '#shared/api/organization.ts';
import type { RealtimeConnections } from '#shared/api/realtime.ts';
import { toE164 } from '#shared/e164.ts';
import { ApiError } from '#shared/errors.ts';
import { type Actor, actorOf, recordChange } from '../audit/index.ts';
import { fromJson, type OrganizationRow, toJson } from '../db/index.ts';
import { type App, keepAnswer, orgOf } from '../http/index.ts';
import { type CallCeiling, ceilingOf, checkBelowCeiling, limitsView } from './call-limit-rules.ts';
import type { OrganizationDeps } from './deps.ts';
import { keyRoutes } from './key-routes.ts';
import { connectionsView, readConnections } from './realtime-rules.ts';
import { readRecording } from './recording-rules.ts';
import { checkUrl } from './rules.ts';
import { sessionRoutes } from './session-routes.ts';
import {
  findOrganization,
  isoTime,
  type OrganizationChange,
  signingSecretContext,
  storedConnections,
  updateOrganization,
} from './store.ts';

export function organizationRoutes(app: App, services: OrganizationDeps): void {
  keyRoutes(app, services);
  sessionRoutes(app, services);
  const { db } = services.database;
  const view = async (orgId: string) =>
    settingsView(await findOrganization(db, orgId), services.config.callLimits);

  app.route({
    method: 'GET',
    url: '/v1/org/settings',
    config: { access: 'read' },
    schema: { summary: 'Settings of the organization', response: { 200: OrganizationSettingsAnswer } },
    handler: async (request) => plain(await view(orgOf(request))),
  });

  app.route({
    method: 'PATCH',
    url: '/v1/org/settings',
    config: { access: 'admin', errors: ['TARGET_NOT_ALLOWED'] },
    schema: {
      summary: 'Change settings of the organization',
      body: OrganizationPatch,
      response: { 200: OrganizationSettingsAnswer },
    },
    handler: async (request) => {
      const { alert_emails, event_webhook_url, call_limits, recording, realtime } = request.body;
      const { pronunciations, key_terms, model_prices, supervision_tone } = request.body;
      if (typeof event_webhook_url === 'string') {
        checkUrl(event_webhook_url, 'https:', '/event_webhook_url', services.allowedTargets);
      }
      const numbers = request.body.alert_sms_numbers?.map(smsNumber);
      const change = {
        ...(alert_emails && { alert_emails: toJson(alert_emails) }),
        ...(numbers && { alert_sms_numbers: toJson(numbers) }),
        ...(event_webhook_url !== undefined && { event_webhook_url }),
        ...(call_limits !== undefined && { call_limits: call_limits && toJson(call_limits) }),
        ...(pronunciations && { pronunciations: toJson(pronunciations) }),
        ...(key_terms && { key_terms: toJson(key_terms) }),
        ...(model_prices !== undefined && { model_prices: model_prices && readPrices(model_prices) }),
        ...(supervision_tone !== undefined && {
          supervision_tone: supervision_tone ? (1 as const) : (0 as const),
        }),
        ...(recording !== undefined && {
          recording: recording && toJson(readRecording(recording, '/recording')),
        }),
      };
      if (Object.keys(change).length > 0 || realtime) {
        await changeSettings(services, orgOf(request), change, actorOf(request), realtime);
      }
      return plain(await view(orgOf(request)));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/org/webhook-secret',
    config: { access: 'admin', atomic: true },
    schema: {
      summary: 'Replace the secret that signs webhooks',
      description: 'The secret is shown in this response only, and used from the next attempt on.',
      body: NoMembers,
      response: { 200: WebhookSecret },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      const secret = randomBytes(32).toString('hex');
      const signing_secret = services.secrets.seal(secret, signingSecretContext(orgId));
      return services.catalogue.change(async (trx, altered) => {
        await updateOrganization(trx, orgId, { signing_secret });
        altered.organizations.add(orgId);
        await recordChange(trx, services.clock, actorOf(request), {
          ...settingsOf(orgId),
          action: 'replace_secret',
          fields: ['signing_secret'],
        });
        return keepAnswer(trx, request, plain({ secret, created_at: isoTime(services.clock) }));
      });
    },
  });
}

/** Settings that edges have. */
const published = ['call_limits', 'recording', 'realtime', 'pronunciations', 'key_terms'] as const;

function settingsOf(orgId: string) {
  return { orgId, area: 'organization', subject: orgId };
}

/** Stores a change, and publishes it when it concerns the edges. @throws ApiError INVALID_PARAMETER */
function changeSettings(
  services: OrganizationDeps,
  orgId: string,
  settings: OrganizationChange,
  by: Actor,
  realtime: RealtimeConnections | undefined,
): Promise<void> {
  return services.catalogue.change(async (trx, altered) => {
    const change = { ...settings };
    if (realtime) {
      const before = storedConnections(await findOrganization(trx, orgId));
      change.realtime = toJson([...readConnections(realtime, before, { ...services, orgId })]);
    }
    if (change.call_limits) {
      const { call_ceiling } = await findOrganization(trx, orgId);
      const ceiling = ceilingOf(call_ceiling, services.config.callLimits);
      checkBelowCeiling(fromJson(change.call_limits), ceiling);
    }
    await updateOrganization(trx, orgId, change);
    const fields = Object.keys(change).sort();
    await recordChange(trx, services.clock, by, { ...settingsOf(orgId), action: 'update', fields });
    if (published.some((field) => change[field] !== undefined)) altered.organizations.add(orgId);
  });
}

/** @throws ApiError INVALID_PARAMETER */
function readPrices(prices: ModelPrices) {
  const names = prices.models.map(({ model }) => model);
  const twice = names.findIndex((name, index) => names.indexOf(name) < index);
  if (twice < 0) return toJson(prices);
  throw ApiError.invalid(`/model_prices/models/${twice}/model`, 'must not name one twice');
}

function smsNumber(text: string, index: number): string {
  const number = toE164(text);
  if (number !== null) return number;
  throw ApiError.invalid(`/alert_sms_numbers/${index}`, 'must be an E.164 number of 7 to 15 digits');
}

function settingsView(row: OrganizationRow, deployment: CallCeiling): OrganizationSettings {
  return {
    org_id: row.id,
    name: row.name,
    region: row.region,
    sip_enabled: row.sip_enabled === 1,
    alert_emails: fromJson(row.alert_emails),
    alert_sms_numbers: fromJson(row.alert_sms_numbers),
    event_webhook_url: row.event_webhook_url,
    call_limits: limitsView(row.call_limits === null ? null : fromJson(row.call_limits)),
    call_ceiling: ceilingOf(row.call_ceiling, deployment),
    recording: row.recording === null ? null : fromJson(row.recording),
    realtime: connectionsView(storedConnections(row)),
    pronunciations: row.pronunciations === null ? [] : fromJson(row.pronunciations),
    key_terms: row.key_terms === null ? [] : fromJson(row.key_terms),
    model_prices: row.model_prices === null ? null : fromJson(row.model_prices),
    supervision_tone: row.supervision_tone === 1,
  };
}
