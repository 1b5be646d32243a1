/** /v1/agent-testing: scenarios and templates (contract 6.1 and 6.2). */
import {
  ScenarioAnswer,
  ScenarioCreate,
  ScenarioList,
  ScenarioPath,
  ScenarioQuery,
  ScenarioUpdate,
} from '#shared/api/agent-testing/scenarios.ts';
import {
  GeneratedScenario,
  GenerateFromCall,
  TemplateClone,
  TemplateCloned,
  TemplateList,
  TemplatePath,
  TemplateQuery,
} from '#shared/api/agent-testing/templates.ts';
import { TestingDeleted, testing } from '#shared/api/agent-testing/wrapping.ts';
import { actorOf } from '../../audit/index.ts';
import { type App, orgOf, readPage, totalHeader } from '../../http/index.ts';
import { isoTime } from '../../organizations/index.ts';
import { recordTestingChange } from '../common/audit.ts';
import type { TestingDeps } from '../common/deps.ts';
import { announceEnds } from '../records/subjects.ts';
import { cloneTemplate } from './clone.ts';
import { modelWriter, ruleWriter, type ScenarioWriter } from './drafts.ts';
import { scenarioFromCall } from './from-call.ts';
import { readCategory, recentRun, scenarioView } from './rules.ts';
import { deleteScenario, listAssertions, listedScenario, pageOfScenarios, requireScenario } from './store.ts';
import { templates } from './templates.ts';
import { changeScenario, createScenario } from './write.ts';

export function scenarioRoutes(app: App, services: TestingDeps): void {
  const { judge } = services.models;
  const writer = judge ? modelWriter(judge) : ruleWriter;
  writeRoutes(app, services);
  readRoutes(app, services);
  templateRoutes(app, services, writer);
}

const base = '/v1/agent-testing';

function writeRoutes(app: App, services: TestingDeps): void {
  app.route({
    method: 'POST',
    url: `${base}/scenarios`,
    config: {
      access: 'member',
      errors: [
        'PATHWAY_NOT_FOUND',
        'PERSONA_NOT_FOUND',
        'TEST_AGENT_NOT_FOUND',
        'SCENARIO_NAME_TAKEN',
        'QUOTA_EXCEEDED',
      ],
    },
    schema: { summary: 'Create a scenario', body: ScenarioCreate, response: { 200: ScenarioAnswer } },
    handler: async (request) =>
      testing(await createScenario(services, orgOf(request), request.body, actorOf(request))),
  });

  app.route({
    method: 'PUT',
    url: `${base}/scenarios/:id`,
    config: { access: 'member', errors: ['SCENARIO_NOT_FOUND', 'SCENARIO_NAME_TAKEN'] },
    schema: {
      summary: 'Change a scenario',
      params: ScenarioPath,
      body: ScenarioUpdate,
      response: { 200: ScenarioAnswer },
    },
    handler: async (request) =>
      testing(
        await changeScenario(services, orgOf(request), request.params.id, request.body, actorOf(request)),
      ),
  });

  app.route({
    method: 'DELETE',
    url: `${base}/scenarios/:id`,
    config: { access: 'member', errors: ['SCENARIO_NOT_FOUND'] },
    schema: { summary: 'Delete a scenario', params: ScenarioPath, response: { 200: TestingDeleted } },
    handler: async (request) => {
      const cancelled = await services.database.db.transaction().execute(async (db) => {
        const orgId = orgOf(request);
        const { id: subject } = await requireScenario(db, orgId, request.params.id);
        const change = { orgId, subject, action: 'scenario_delete' as const };
        await recordTestingChange(db, services, actorOf(request), change);
        return deleteScenario(db, subject, isoTime(services.clock));
      });
      announceEnds(services.announcements, cancelled);
      return testing({ deleted: true as const });
    },
  });
}

const omittable = {
  description: null,
  request_data: null,
  input_messages: null,
  metadata: null,
  tester_persona_prompt: null,
  advanced_instructions: null,
  assertions: [],
} as const;

function readRoutes(app: App, { database: { db } }: TestingDeps): void {
  app.route({
    method: 'GET',
    url: `${base}/scenarios`,
    config: { access: 'read' },
    schema: {
      summary: 'Scenarios, newest first',
      description: 'Large members of large scenarios are omitted and listed in `omitted`.',
      querystring: ScenarioQuery,
      response: { 200: ScenarioList },
    },
    handler: async (request, reply) => {
      const { category, limit = 500, offset = 0, ...filter } = request.query;
      const orgId = orgOf(request);
      const wanted = { ...filter, ...(category !== undefined && { category: readCategory(category) }) };
      const { ids, total } = await pageOfScenarios(db, orgId, wanted, { limit, offset });
      const scenarios = await readPage(ids, omittable, async (id, share) => {
        const found = await listedScenario(db, orgId, id, share);
        if (!found) return undefined;
        const { row, assertions, cut, recent } = found;
        return { item: { ...scenarioView(row, assertions), most_recent_run: recentRun(recent) }, cut };
      });
      reply.header(totalHeader, total);
      return testing({ scenarios });
    },
  });

  app.route({
    method: 'GET',
    url: `${base}/scenarios/:id`,
    config: { access: 'read', errors: ['SCENARIO_NOT_FOUND'] },
    schema: { summary: 'One scenario', params: ScenarioPath, response: { 200: ScenarioAnswer } },
    handler: async (request) => {
      const row = await requireScenario(db, orgOf(request), request.params.id);
      return testing(scenarioView(row, await listAssertions(db, row.id)));
    },
  });
}

function templateRoutes(app: App, services: TestingDeps, writer: ScenarioWriter): void {
  app.route({
    method: 'GET',
    url: `${base}/templates`,
    config: { access: 'read' },
    schema: { summary: 'Ready-made scenarios', querystring: TemplateQuery, response: { 200: TemplateList } },
    handler: async ({ query: { category } }) => {
      const wanted = category && readCategory(category);
      return testing({ templates: templates.filter((one) => !wanted || one.category === wanted) });
    },
  });

  app.route({
    method: 'POST',
    url: `${base}/templates/:id/clone`,
    config: {
      access: 'member',
      errors: [
        'TEMPLATE_NOT_FOUND',
        'PATHWAY_NOT_FOUND',
        'PERSONA_NOT_FOUND',
        'TEST_AGENT_NOT_FOUND',
        'SCENARIO_NAME_TAKEN',
        'QUOTA_EXCEEDED',
      ],
    },
    schema: {
      summary: 'Create a scenario from a template',
      params: TemplatePath,
      body: TemplateClone,
      response: { 200: TemplateCloned },
    },
    handler: async (request) =>
      testing({
        scenario: await cloneTemplate(
          services,
          orgOf(request),
          request.params.id,
          request.body,
          actorOf(request),
        ),
      }),
  });

  app.route({
    method: 'POST',
    url: `${base}/scenarios/generate-from-call`,
    config: {
      access: 'member',
      limits: [{ scope: 'organization_generate_from_call', limit: 10, windowSeconds: 60 }],
      errors: [
        'EMPTY_TRANSCRIPT',
        'CALL_NOT_FOUND',
        'PATHWAY_NOT_FOUND',
        'PERSONA_NOT_FOUND',
        'MODEL_UNAVAILABLE',
      ],
    },
    schema: {
      summary: 'Draft a scenario from a call',
      body: GenerateFromCall,
      response: { 200: GeneratedScenario },
    },
    handler: async (request) =>
      testing(await scenarioFromCall(services.database.db, writer, orgOf(request), request.body)),
  });
}
