/** /v1/inbound: a number's agent and settings (contract section 10). */
import { requireAllowedHost } from '#shared/allowed-host.ts';
import {
  InboundNumber,
  InboundNumberList,
  InboundPath,
  InboundQuery,
  InboundUpdate,
  InboundUpdated,
} from '#shared/api/inbound.ts';
import { ApiError } from '#shared/errors.ts';
import { type Actor, actorOf } from '../audit/index.ts';
import { type Db, fromJson, type NumberRow } from '../db/index.ts';
import { type App, orgOf, readPage, totalHeader } from '../http/index.ts';
import {
  changeNumber,
  checkTransferTargets,
  findNumber,
  type NumberChange,
  numbersOfPath,
  numberView,
  pageOfNumbers,
  readSettings,
  readUpdate,
  storeChange,
} from '../numbers/index.ts';
import {
  ceilingOf,
  checkBelowCeiling,
  findOrganization,
  requireConnection,
  storedConnections,
} from '../organizations/index.ts';
import { findPathway, findVersion, resolveVersion } from '../pathways/index.ts';
import { requirePersona } from '../personas/index.ts';
import { firstUnknownTool } from '../tools/index.ts';
import type { InboundDeps } from './deps.ts';

const omittable = {
  prompt: null,
  request_data: {},
  metadata: {},
  transfer_list: null,
  tools: [],
  call_limits: null,
  first_sentence: null,
  stream_url: null,
  realtime: null,
  webhook: null,
} as const;

export function numberRoutes(app: App, services: InboundDeps): void {
  const { db } = services.database;

  app.route({
    method: 'GET',
    url: '/v1/inbound',
    config: { access: 'read' },
    schema: {
      summary: 'Numbers of the organization, ascending',
      description: 'Large members of large numbers are omitted and listed in `omitted`.',
      querystring: InboundQuery,
      response: { 200: InboundNumberList },
    },
    handler: async (request, reply) => {
      const { limit = 500, offset = 0 } = request.query;
      const orgId = orgOf(request);
      const { numbers, total } = await pageOfNumbers(db, orgId, { limit, offset });
      const inbound_numbers = await readPage(numbers, omittable, async (number) => {
        const row = await findNumber(db, orgId, number);
        return row && { item: numberView(row) };
      });
      reply.header(totalHeader, total);
      return { inbound_numbers };
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/inbound/:phone_number',
    config: { access: 'read', errors: ['NUMBER_NOT_FOUND'] },
    schema: { summary: 'One number', params: InboundPath, response: { 200: InboundNumber } },
    handler: async (request) =>
      numberView(await requireNumber(db, orgOf(request), request.params.phone_number)),
  });

  app.route({
    method: 'POST',
    url: '/v1/inbound/:phone_number',
    config: {
      access: 'member',
      resumable: true,
      errors: [
        'AGENT_SOURCE_CONFLICT',
        'TARGET_NOT_ALLOWED',
        'NUMBER_NOT_FOUND',
        'PATHWAY_NOT_FOUND',
        'PERSONA_NOT_FOUND',
        'VERSION_NOT_FOUND',
        'TOOL_NOT_FOUND',
      ],
    },
    schema: {
      summary: 'Set what answers a number',
      params: InboundPath,
      body: InboundUpdate,
      response: { 200: InboundUpdated },
    },
    handler: async (request) => {
      const updates = await updateInbound(
        services,
        orgOf(request),
        request.params.phone_number,
        request.body,
        actorOf(request),
      );
      return { status: 'success' as const, message: 'Inbound number updated', updates };
    },
  });
}

async function requireNumber(db: Db, orgId: string, text: string): Promise<NumberRow> {
  for (const number of numbersOfPath(text)) {
    const row = await findNumber(db, orgId, number);
    if (row) return row;
  }
  throw ApiError.of('NUMBER_NOT_FOUND');
}

function updateInbound(
  services: InboundDeps,
  orgId: string,
  text: string,
  body: InboundUpdate,
  by: Actor,
): Promise<Record<string, unknown>> {
  const fields = readUpdate(body);
  checkTargets(services, body);
  return services.catalogue.change(async (db, altered) => {
    const row = await requireNumber(db, orgId, text);
    if (body.call_limits) {
      const { call_ceiling } = await findOrganization(db, orgId);
      checkBelowCeiling(body.call_limits, ceilingOf(call_ceiling, services.config.callLimits));
    }
    const change = changeNumber(row, fields);
    await checkReferences(db, orgId, change, body);
    await storeChange(db, services.clock, by, altered, row, change);
    return change.updates;
  });
}

function checkTargets(services: InboundDeps, body: InboundUpdate): void {
  checkTransferTargets(body, services.allowedTargets);
  for (const name of ['stream_url', 'webhook'] as const) {
    const url = body[name];
    if (typeof url !== 'string' || !URL.canParse(url)) continue;
    requireAllowedHost(new URL(url).hostname, `/${name}`, services.allowedTargets);
  }
}

async function checkReferences(
  db: Db,
  orgId: string,
  change: NumberChange,
  body: InboundUpdate,
): Promise<void> {
  const { pathway_id, pathway_version } = change.row;
  const settings = readSettings(change.row.settings);
  if (body.realtime)
    requireConnection(storedConnections(await findOrganization(db, orgId)), body.realtime.connection);
  if (body.persona_id) await requirePersona(db, orgId, body.persona_id);
  const unknown = await firstUnknownTool(db, orgId, body.tools ?? []);
  if (unknown >= 0) throw ApiError.of('TOOL_NOT_FOUND', { path: `/tools/${unknown}` });
  const concerned = ['pathway_id', 'pathway_version', 'start_node_id'].some((name) => name in body);
  if (pathway_id === null || !concerned) return;
  const pathway = await findPathway(db, orgId, pathway_id);
  if (!pathway) throw ApiError.of('PATHWAY_NOT_FOUND');
  const published = { production: pathway.production_version, staging: pathway.staging_version };
  const version = resolveVersion(pathway_version, published);
  const graph = version === 0 ? pathway : await findVersion(db, pathway_id, version);
  if (!graph) throw ApiError.of('VERSION_NOT_FOUND');
  const start = settings.start_node_id;
  const nodes: { id?: unknown }[] = fromJson(graph.nodes);
  if (start !== undefined && !nodes.some((node) => node.id === start)) {
    throw ApiError.invalid('/start_node_id', `the pathway has no node "${start}"`);
  }
}
