/** /v1/sip: configurations, destinations, set-up data (contract 2 and 3.3). The call log is in calls/log-routes.ts. */
import { plain } from '#shared/api/common.ts';
import { FirewallIps, OutboundSetup, OutboundSetupQuery } from '#shared/api/pbx-setup.ts';
import {
  Attach,
  Attached,
  Detach,
  Detached,
  NumberConfigurations,
  NumberQuery,
  ParseDestination,
  ParsedDestination,
  PatchedConfiguration,
  SipNumbers,
  SipNumbersQuery,
  TrunkStatus,
  Update,
  Updated,
} from '#shared/api/sip.ts';
import { ConfigPatch } from '#shared/api/sip-config.ts';
import { TrunkHistory } from '#shared/api/trunk-history.ts';
import { probeWork } from '#shared/fleet/assignment.ts';
import { parseSipDestination } from '#shared/sip-destination.ts';
import type { Endpoint } from '#shared/trunk-protocol.ts';
import { actorOf } from '../audit/index.ts';
import { type App, orgOf, totalHeader } from '../http/index.ts';
import {
  attachNumbers,
  detachNumbers,
  requireConfigurations,
  requireNumber,
  updateConfiguration,
} from './attach.ts';
import { patchConfiguration } from './config.ts';
import { numberView } from './configuration-views.ts';
import type { TrunkDeps } from './deps.ts';
import { trunkHours, trunkView } from './health-rules.ts';
import { findHours, findProbed } from './health-store.ts';
import { firewallFacts, outboundSetup, pbxFilesOf } from './setup-facts.ts';
import { pageOfConfigurations } from './store.ts';
import { sipNumbers } from './views.ts';

export function sipRoutes(app: App, services: TrunkDeps): void {
  configurationRoutes(app, services);
  setupRoutes(app, services);
}

function configurationRoutes(app: App, services: TrunkDeps): void {
  const { db } = services.database;

  app.route({
    method: 'GET',
    url: '/v1/sip',
    config: { access: 'read', errors: ['NUMBER_NOT_FOUND'] },
    schema: {
      summary: 'The SIP configuration of a number',
      querystring: NumberQuery,
      response: { 200: NumberConfigurations },
    },
    handler: async (request) => {
      const number = requireNumber(request.query.phone_number, '?phone_number');
      const rows = await requireConfigurations(db, orgOf(request), number);
      return plain(await numberView(services, db, rows));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/sip/attach',
    config: {
      access: 'member',
      resumable: true,
      errors: [
        'TRANSPORT_NOT_ALLOWED',
        'SECURE_MEDIA_REQUIRED',
        'INVALID_SIP_ENDPOINT',
        'TARGET_NOT_ALLOWED',
      ],
    },
    schema: { summary: 'Attach SIP configurations to numbers', body: Attach, response: { 200: Attached } },
    handler: async (request) =>
      plain(await attachNumbers(services, orgOf(request), request.body, actorOf(request))),
  });

  app.route({
    method: 'POST',
    url: '/v1/sip/update',
    config: {
      access: 'member',
      resumable: true,
      errors: [
        'TRANSPORT_NOT_ALLOWED',
        'SECURE_MEDIA_REQUIRED',
        'INVALID_SIP_ENDPOINT',
        'TARGET_NOT_ALLOWED',
        'REGISTRAR_REQUIRED',
        'DUPLICATE_SIP_CONFIG',
        'NUMBER_NOT_FOUND',
        'SIP_CONFIG_NOT_FOUND',
      ],
    },
    schema: { summary: 'Update a SIP configuration', body: Update, response: { 200: Updated } },
    handler: async (request) =>
      plain(await updateConfiguration(services, orgOf(request), request.body, actorOf(request))),
  });

  app.route({
    method: 'POST',
    url: '/v1/sip/detach',
    config: { access: 'member', errors: ['NUMBER_NOT_FOUND'] },
    schema: { summary: 'Remove SIP configurations', body: Detach, response: { 200: Detached } },
    handler: async (request) =>
      plain(await detachNumbers(services, orgOf(request), request.body, actorOf(request))),
  });

  app.route({
    method: 'PATCH',
    url: '/v1/sip/config',
    config: {
      access: 'member',
      errors: [
        'TRANSPORT_NOT_ALLOWED',
        'TARGET_NOT_ALLOWED',
        'FAILOVER_OUTBOUND_ONLY',
        'FAILOVER_ENDPOINTS_REQUIRED',
        'NO_ALERT_RECIPIENTS',
        'NUMBER_NOT_FOUND',
        'SIP_CONFIG_NOT_FOUND',
        'SERVICE_UNAVAILABLE',
      ],
    },
    schema: {
      summary: 'Set failover, codecs and alerts of a SIP configuration',
      body: ConfigPatch,
      response: { 200: PatchedConfiguration },
    },
    handler: async (request) =>
      plain(await patchConfiguration(services, orgOf(request), request.body, actorOf(request))),
  });

  app.route({
    method: 'GET',
    url: '/v1/sip/numbers',
    config: { access: 'read' },
    schema: {
      summary: 'Numbers with SIP configurations, ascending',
      querystring: SipNumbersQuery,
      response: { 200: SipNumbers },
    },
    handler: async (request, reply) => {
      const { limit = 1000, offset = 0 } = request.query;
      const { rows, total } = await pageOfConfigurations(db, orgOf(request), { limit, offset });
      const probed = await findProbed(
        db,
        rows.map((row) => row.id),
      );
      reply.header(totalHeader, total);
      return plain({ numbers: sipNumbers(rows, probed) });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sip/status',
    config: { access: 'read', errors: ['NUMBER_NOT_FOUND'] },
    schema: {
      summary: 'Health of a number’s trunk',
      description: 'Every outbound endpoint gets one OPTIONS request a minute.',
      querystring: NumberQuery,
      response: { 200: TrunkStatus },
    },
    handler: async (request) => {
      const number = requireNumber(request.query.phone_number, '?phone_number');
      const rows = await requireConfigurations(db, orgOf(request), number);
      const probed = await findProbed(
        db,
        rows.map((row) => row.id),
      );
      const { hours, dayAgo } = await findHours(db, services.clock, orgOf(request), number);
      const assigned = (endpoint: Endpoint) => services.fleet.assigned(probeWork(endpoint));
      return plain(trunkView(rows, probed, hours, dayAgo, assigned));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sip/status/history',
    config: { access: 'read', errors: ['NUMBER_NOT_FOUND'] },
    schema: {
      summary: 'Probes of a number’s trunk in the last 30 days, by hour',
      description: 'Oldest first. Hours without probes are missing.',
      querystring: NumberQuery,
      response: { 200: TrunkHistory },
    },
    handler: async (request) => {
      const number = requireNumber(request.query.phone_number, '?phone_number');
      await requireConfigurations(db, orgOf(request), number);
      const { hours } = await findHours(db, services.clock, orgOf(request), number);
      return plain({ hours: trunkHours(hours) });
    },
  });
}

function setupRoutes(app: App, services: TrunkDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/sip/parse-destination',
    config: { access: 'read', resumable: true },
    schema: {
      summary: 'Parse a destination string',
      body: ParseDestination,
      response: { 200: ParsedDestination },
    },
    handler: async (request) => {
      const parsed = parseSipDestination(request.body.input);
      if (!parsed) return plain({ valid: false, parsed: null });
      const { isPrivateIp, ...rest } = parsed;
      return plain({ valid: true, parsed: { ...rest, is_private_ip: isPrivateIp } });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sip/firewall-ips',
    config: { access: 'read' },
    schema: { summary: 'Addresses and ports for firewalls', response: { 200: FirewallIps } },
    handler: async (request) => plain(await firewallFacts(services, orgOf(request))),
  });

  app.route({
    method: 'GET',
    url: '/v1/sip/outbound-setup',
    config: { access: 'read', errors: ['NUMBER_NOT_FOUND'] },
    schema: {
      summary: 'What to configure in a PBX',
      querystring: OutboundSetupQuery,
      response: { 200: OutboundSetup },
    },
    handler: async (request) => {
      const { phone_number, pbx } = request.query;
      const orgId = orgOf(request);
      const number = phone_number === undefined ? null : requireNumber(phone_number, '?phone_number');
      const configurations =
        number === null ? [] : await requireConfigurations(services.database.db, orgId, number);
      const setup = outboundSetup(services, configurations);
      if (pbx === undefined) return plain(setup);
      const { ip_addresses: addresses } = await firewallFacts(services, orgId);
      return plain({ ...setup, files: pbxFilesOf(pbx, setup, { number, addresses }) });
    },
  });
}
