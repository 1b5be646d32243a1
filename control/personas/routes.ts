/** /v1/personas (contract 12). */
import { plain } from '#shared/api/common.ts';
import {
  PersonaAnswer,
  PersonaCreate,
  PersonaDeleted,
  PersonaList,
  PersonaNumbers,
  PersonaPage,
  PersonaPath,
  PersonaUpdate,
  PersonaVersionList,
  PersonaVersionQuery,
  Promote,
  PromotePending,
} from '#shared/api/personas.ts';
import { actorOf } from '../audit/index.ts';
import type { Db, PersonaRow } from '../db/index.ts';
import { type App, keepAnswer, orgOf, readPage, totalHeader } from '../http/index.ts';
import type { PersonaDeps } from './deps.ts';
import { attachPersona, detachPersona } from './numbers.ts';
import { promote } from './promote.ts';
import { personaView, versionView } from './rules.ts';
import {
  findPersonaVersion,
  pageOfPersonas,
  pageOfPersonaVersions,
  requirePersona,
  withVersions,
} from './store.ts';
import { alterPersona, createPersona, removePersona } from './write.ts';

const defaultPage = 20;
const omittableOfVersion = {
  orchestration_prompt: null,
  personality_prompt: null,
  pathway_conditions: [],
  default_tools: [],
  call_config: {},
} as const;
const omittable = {
  role: null,
  description: null,
  tags: [],
  inbound_numbers: [],
  ...within('current_production_version'),
  ...within('current_draft_version'),
} as const;

function within(version: string) {
  return Object.fromEntries(
    Object.entries(omittableOfVersion).map(([name, empty]) => [`${version}.${name}`, empty]),
  );
}

export function personaRoutes(app: App, services: PersonaDeps): void {
  rowRoutes(app, services);
  versionRoutes(app, services);
  numberRoutes(app, services);
}

function rowRoutes(app: App, services: PersonaDeps): void {
  const { db } = services.database;

  app.route({
    method: 'GET',
    url: '/v1/personas',
    config: { access: 'read' },
    schema: {
      summary: 'Personas, newest first',
      description: 'Large members of large personas are omitted and listed in `omitted`.',
      querystring: PersonaPage,
      response: { 200: PersonaList },
    },
    handler: async (request, reply) => {
      const { page = 1, limit = defaultPage } = request.query;
      const { rows, total } = await pageOfPersonas(db, orgOf(request), page, limit);
      reply.header(totalHeader, total);
      const read = async (row: PersonaRow) => {
        const [whole] = await withVersions(db, [row]);
        return whole && { item: personaView(whole) };
      };
      return plain(await readPage(rows, omittable, read));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/personas',
    config: {
      access: 'member',
      atomic: true,
      errors: ['PATHWAY_NOT_FOUND', 'TOOL_NOT_FOUND', 'QUOTA_EXCEEDED'],
    },
    schema: { summary: 'Create a persona', body: PersonaCreate, response: { 200: PersonaAnswer } },
    handler: (request) => {
      const orgId = orgOf(request);
      return createPersona(services, orgId, request.body, actorOf(request), async (trx, id) =>
        keepAnswer(trx, request, plain(await readPersona(trx, orgId, id))),
      );
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/personas/:id',
    config: { access: 'read', errors: ['PERSONA_NOT_FOUND'] },
    schema: { summary: 'One persona', params: PersonaPath, response: { 200: PersonaAnswer } },
    handler: async (request) => plain(await readPersona(db, orgOf(request), request.params.id)),
  });

  app.route({
    method: 'PATCH',
    url: '/v1/personas/:id',
    config: { access: 'member', errors: ['PERSONA_NOT_FOUND', 'PATHWAY_NOT_FOUND', 'TOOL_NOT_FOUND'] },
    schema: {
      summary: 'Update a persona; prompts, conditions, call_config and tools change its draft',
      params: PersonaPath,
      body: PersonaUpdate,
      response: { 200: PersonaAnswer },
    },
    handler: async (request) => {
      const { id } = request.params;
      await alterPersona(services, orgOf(request), id, request.body, actorOf(request));
      return plain(await readPersona(db, orgOf(request), id));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/personas/:id',
    config: { access: 'member', errors: ['PERSONA_NOT_FOUND', 'PERSONA_IN_USE'] },
    schema: { summary: 'Delete a persona', params: PersonaPath, response: { 200: PersonaDeleted } },
    handler: async (request) => {
      await removePersona(services, orgOf(request), request.params.id, actorOf(request));
      return plain({ deleted: true as const });
    },
  });
}

function versionRoutes(app: App, services: PersonaDeps): void {
  const { db } = services.database;

  app.route({
    method: 'GET',
    url: '/v1/personas/:id/versions',
    config: { access: 'read', errors: ['PERSONA_NOT_FOUND'] },
    schema: {
      summary: 'The versions of a persona, newest first',
      params: PersonaPath,
      querystring: PersonaVersionQuery,
      response: { 200: PersonaVersionList },
    },
    handler: async (request, reply) => {
      const { id } = await requirePersona(db, orgOf(request), request.params.id);
      const { limit = 100, offset = 0 } = request.query;
      const { ids, total } = await pageOfPersonaVersions(db, id, { limit, offset });
      reply.header(totalHeader, total);
      return plain(
        await readPage(ids, omittableOfVersion, async (version) => ({
          item: versionView(await findPersonaVersion(db, version)),
        })),
      );
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/personas/:id/versions/promote',
    config: { access: 'member', errors: ['PERSONA_NOT_FOUND', 'PROMOTION_BLOCKED'] },
    schema: {
      summary: 'Promote the draft to production',
      params: PersonaPath,
      body: Promote,
      response: { 200: PersonaAnswer, 202: PromotePending },
    },
    handler: async (request, reply) => {
      const { publish_on_pass = false } = request.body;
      const { id } = request.params;
      const waiting = await promote(services, orgOf(request), id, publish_on_pass, actorOf(request));
      if (!waiting) return plain(await readPersona(db, orgOf(request), id));
      reply.code(202);
      return plain({ status: 'pending' as const, batch_id: waiting.batchId });
    },
  });
}

function numberRoutes(app: App, services: PersonaDeps): void {
  const { db } = services.database;

  for (const [verb, change, summary] of [
    ['attach', attachPersona, 'Let a persona answer numbers'],
    ['detach', detachPersona, 'Let a persona answer numbers no longer'],
  ] as const) {
    app.route({
      method: 'POST',
      url: `/v1/personas/:id/inbound/${verb}`,
      config: { access: 'member', resumable: true, errors: ['INVALID_INBOUND_NUMBERS', 'PERSONA_NOT_FOUND'] },
      schema: { summary, params: PersonaPath, body: PersonaNumbers, response: { 200: PersonaAnswer } },
      handler: async (request) => {
        const { id } = request.params;
        await change(services, orgOf(request), id, request.body.inbound_numbers, actorOf(request));
        return plain(await readPersona(db, orgOf(request), id));
      },
    });
  }
}

async function readPersona(db: Db, orgId: string, id: string) {
  const [whole] = await withVersions(db, [await requirePersona(db, orgId, id)]);
  if (!whole) throw new Error(`persona ${id} could not be read`);
  return personaView(whole);
}
