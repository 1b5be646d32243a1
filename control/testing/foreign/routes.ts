/** /v1/agent-testing/agents: agents that are not ours, as the targets of scenarios (contract 6.13). */
import {
  ForeignAgentAnswer,
  ForeignAgentList,
  ForeignAgentPath,
  ForeignAgentQuery,
  ForeignAgentWrite,
} from '#shared/api/agent-testing/foreign-agents.ts';
import { TestingDeleted, testing } from '#shared/api/agent-testing/wrapping.ts';
import { newId } from '#shared/ids.ts';
import { actorOf, changedFields } from '../../audit/index.ts';
import type { TestAgentRow } from '../../db/index.ts';
import { type App, orgOf } from '../../http/index.ts';
import { isoTime } from '../../organizations/index.ts';
import { recordTestingChange } from '../common/audit.ts';
import type { TestingDeps } from '../common/deps.ts';
import { checkReferences, hasSameTelephone } from './called.ts';
import { ownershipRoutes } from './ownership.ts';
import { foreignAgentView, placeOf, readHeaders, readSettings, settingsOf, storedSettings } from './rules.ts';
import { agentRoom, pageOfForeignAgents, requireForeignAgent, requireUnused } from './store.ts';

const base = '/v1/agent-testing/agents';

const unproven = { proven_at: null, proof_hash: null, proof_until: null, proof_tries: 0 };

export function foreignAgentRoutes(app: App, services: TestingDeps): void {
  ownershipRoutes(app, services);
  const { allowedTargets, clock, database, quotas, secrets } = services;
  const { db } = database;

  app.route({
    method: 'GET',
    url: base,
    config: { access: 'read' },
    schema: {
      summary: 'Agents of others that scenarios can test, newest first',
      querystring: ForeignAgentQuery,
      response: { 200: ForeignAgentList },
    },
    handler: async (request) => {
      const { limit = 100, offset = 0 } = request.query;
      const { rows, total } = await pageOfForeignAgents(db, orgOf(request), { limit, offset });
      return testing({ agents: rows.map((row) => foreignAgentView(row, secrets)), total_count: total });
    },
  });

  app.route({
    method: 'POST',
    url: base,
    config: { access: 'member', errors: ['TARGET_NOT_ALLOWED', 'NO_OUTBOUND_ROUTE', 'QUOTA_EXCEEDED'] },
    schema: {
      summary: 'Name an agent of others that scenarios can test',
      body: ForeignAgentWrite,
      response: { 200: ForeignAgentAnswer },
    },
    handler: async (request) => {
      const { body } = request;
      const orgId = orgOf(request);
      const id = newId();
      const now = isoTime(clock);
      const settings = readSettings(body, allowedTargets);
      const headers = readHeaders(body, placeOf(settings), id, null, secrets);
      await checkReferences(db, orgId, settings);
      const row: TestAgentRow = {
        id,
        org_id: orgId,
        name: body.name,
        settings: storedSettings(settings),
        headers,
        created_at: now,
        updated_at: now,
        ...unproven,
      };
      await db.transaction().execute(async (trx) => {
        await quotas.counting('test_agents', () => agentRoom(trx, orgId));
        await trx.insertInto('test_agents').values(row).execute();
        const change = { orgId, subject: id, action: 'agent_create' as const };
        await recordTestingChange(trx, services, actorOf(request), change);
      });
      return testing(foreignAgentView(row, secrets));
    },
  });

  app.route({
    method: 'GET',
    url: `${base}/:id`,
    config: { access: 'read', errors: ['TEST_AGENT_NOT_FOUND'] },
    schema: {
      summary: 'One agent of others',
      params: ForeignAgentPath,
      response: { 200: ForeignAgentAnswer },
    },
    handler: async (request) =>
      testing(foreignAgentView(await requireForeignAgent(db, orgOf(request), request.params.id), secrets)),
  });

  app.route({
    method: 'PUT',
    url: `${base}/:id`,
    config: { access: 'member', errors: ['TEST_AGENT_NOT_FOUND', 'TARGET_NOT_ALLOWED', 'NO_OUTBOUND_ROUTE'] },
    schema: {
      summary: 'Replace the settings of an agent of others',
      params: ForeignAgentPath,
      body: ForeignAgentWrite,
      response: { 200: ForeignAgentAnswer },
    },
    handler: async (request) => {
      const { body, params } = request;
      const orgId = orgOf(request);
      const row = await db.transaction().execute(async (trx) => {
        const before = await requireForeignAgent(trx, orgId, params.id);
        const settings = readSettings(body, allowedTargets);
        const headers = readHeaders(body, placeOf(settings), before.id, before, secrets);
        await checkReferences(trx, orgId, settings);
        const isSame = hasSameTelephone(settingsOf(before), settings);
        const change = {
          name: body.name,
          settings: storedSettings(settings),
          headers,
          updated_at: isoTime(clock),
          // Who owns one telephone may not own the next.
          ...(isSame ? {} : unproven),
        };
        await trx.updateTable('test_agents').set(change).where('id', '=', before.id).execute();
        const after = { ...before, ...change };
        await recordTestingChange(trx, services, actorOf(request), {
          orgId,
          subject: before.id,
          action: 'agent_update',
          fields: changedFields(before, after),
        });
        return after;
      });
      return testing(foreignAgentView(row, secrets));
    },
  });

  app.route({
    method: 'DELETE',
    url: `${base}/:id`,
    config: { access: 'member', errors: ['TEST_AGENT_NOT_FOUND', 'TEST_AGENT_IN_USE'] },
    schema: {
      summary: 'Forget an agent of others',
      params: ForeignAgentPath,
      response: { 200: TestingDeleted },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      await db.transaction().execute(async (trx) => {
        const { id } = await requireForeignAgent(trx, orgId, request.params.id);
        await requireUnused(trx, id);
        await trx.deleteFrom('test_agents').where('id', '=', id).execute();
        const change = { orgId, subject: id, action: 'agent_delete' as const };
        await recordTestingChange(trx, services, actorOf(request), change);
      });
      return testing({ deleted: true as const });
    },
  });
}
