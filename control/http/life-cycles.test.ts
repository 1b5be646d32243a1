/**
 * Everything that a POST of the OpenAPI document creates can be listed, read, changed and deleted, or the exception is
 * explained here. Each kind goes through its life cycle over HTTP, and leaves its quota unchanged.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BatchList, BatchStarted } from '#shared/api/agent-testing/batches.ts';
import { TemplateList } from '#shared/api/agent-testing/templates.ts';
import { PersonaVersionList } from '#shared/api/personas.ts';
import type { Life, Request } from '../../test/kit/control/life-cycles.ts';
import {
  created,
  creatingNothing,
  LifeCycles,
  walkedInOwnTests,
} from '../../test/kit/control/life-cycles.ts';
import { order, type PortTest, startPortTest, upload } from '../../test/kit/control/porting.ts';
import { servedRoutes } from '../../test/kit/control/routes.ts';
import { bookingGraph, TestingClient } from '../../test/kit/control/test-runs.ts';
import { ModelServer } from '../../test/kit/fakes/model-server.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';

let server: ModelServer;
let thinking: PromiseWithResolvers<void>;
let test: PortTest;
let cycles: LifeCycles;
let client: TestingClient;
let pathway_id = '';
let scenario_id = '';
let widget = '';
let persona = '';
let named = 0;
const name = () => `Life ${++named}`;

beforeAll(async () => {
  server = await ModelServer.start();
  thinking = Promise.withResolvers();
  const one =
    'numbers=1, openThreads=1, tools=1, integrationResources=1, chats=1, waitingRuns=1, runsAtOnce=1';
  // One of these exists before each kind is tested.
  const two = 'pathways=2, pathwayVersions=2, scenarios=2, widgets=2, personas=2';
  test = await startPortTest(
    { LLM_TEST_BASE_URL: server.url, LLM_CALLER_MODEL: 'caller-1', QUOTAS: `${one}, ${two}` },
    {},
    { models: { maxRetries: 0 }, porting: { unusedDocuments: 1 } },
  );
  cycles = new LifeCycles(test);
  client = new TestingClient(test);
  pathway_id = await client.pathway(bookingGraph);
  scenario_id = await client.scenario({
    pathway_id,
    max_turns: 2,
    assertions: [{ type: 'NODE_REACHED', config: { node_id: 'name' } }],
  });
  widget = String((await ok('POST', '/v1/widget', { name: name(), pathway_id })).body.data?.widget?.id);
  persona = String((await ok('POST', '/v1/personas', { name: name() })).body.data?.id);
});
afterAll(() =>
  releaseAll(
    () => thinking.resolve(),
    () => test.close(),
    () => server.close(),
  ),
);

const send = (request: Request) => cycles.send(request);
const ok = (...request: Request) => cycles.ok(...request);

const post = (url: string, body: () => object) => () => send(['POST', url, body()]);
const base = '/v1/agent-testing';
const number = '+12125550190';
const next = () => `+1212555${String(1000 + ++named)}`;
let attached = number;
const tool = () => ({
  name: name(),
  description: 'd',
  integration: 'custom-code',
  action: 'run_javascript',
  body: { code: '1' },
});
const graph = { nodes: bookingGraph.nodes, edges: bookingGraph.edges };
const foreignAgent = { url: 'https://chat.example.com/', format: 'openai', model: 'm' };

const ofScenario = {
  list: () => `${base}/scenarios`,
  read: (id: string) => `${base}/scenarios/${id}`,
  change: (id: string) => ['PUT', `${base}/scenarios/${id}`, { description: 'new' }] as const,
  remove: (id: string) => [['DELETE', `${base}/scenarios/${id}`] as const],
  full: 'QUOTA_EXCEEDED',
};

const lives: Readonly<Record<string, Life>> = {
  'POST /v1/org/keys': {
    create: post('/v1/org/keys', () => ({ name: name(), role: 'admin' })),
    id: (body) => body.data?.key?.id,
    list: () => '/v1/org/keys?state=active',
    read: (id) => `/v1/org/keys/${id}`,
    change: (id) => ['POST', `/v1/org/keys/${id}/rotate`, {}],
    remove: (id) => [['DELETE', `/v1/org/keys/${id}`]],
    full: null,
    gone: 200,
  },
  'POST /v1/session': {
    create: () => send(['POST', '/v1/session', {}]),
    id: (body) => body.data?.session?.id,
    list: () => '/v1/sessions',
    read: () => '/v1/sessions',
    remove: (id) => [['DELETE', `/v1/sessions/${id}`]],
    full: null,
    gone: 200,
  },
  'POST /v2/tools': {
    create: post('/v2/tools', tool),
    id: (body) => body.data?.id,
    list: () => '/v2/tools',
    read: (id) => `/v2/tools/${id}`,
    change: (id) => ['POST', `/v2/tools/${id}`, { description: 'new' }],
    remove: (id) => [['DELETE', `/v2/tools/${id}`]],
    full: 'QUOTA_EXCEEDED',
  },
  'POST /v1/widget': {
    create: post('/v1/widget', () => ({ name: name(), pathway_id })),
    id: (body) => body.data?.widget?.id,
    list: () => '/v1/widget',
    read: (id) => `/v1/widget/${id}`,
    change: (id) => ['PATCH', `/v1/widget/${id}`, { name: 'new' }],
    remove: (id) => [['DELETE', `/v1/widget/${id}`]],
    full: 'QUOTA_EXCEEDED',
  },
  'POST /v1/personas': {
    create: post('/v1/personas', () => ({ name: name() })),
    id: (body) => body.data?.id,
    list: () => '/v1/personas',
    read: (id) => `/v1/personas/${id}`,
    change: (id) => ['PATCH', `/v1/personas/${id}`, { personality_prompt: 'new' }],
    remove: (id) => [['DELETE', `/v1/personas/${id}`]],
    full: 'QUOTA_EXCEEDED',
  },
  'POST /v1/agent-testing/agents': {
    create: post(`${base}/agents`, () => ({ ...foreignAgent, name: name() })),
    id: (body) => body.id,
    list: () => `${base}/agents`,
    read: (id) => `${base}/agents/${id}`,
    change: (id) => ['PUT', `${base}/agents/${id}`, { ...foreignAgent, name: 'new' }],
    remove: (id) => [['DELETE', `${base}/agents/${id}`]],
    full: null,
  },
  'POST /v1/agent-testing/scenarios': {
    create: post(`${base}/scenarios`, () => ({ name: name(), pathway_id })),
    id: (body) => body.id,
    ...ofScenario,
  },
  'POST /v1/agent-testing/templates/{id}/clone': {
    create: async () => {
      const [template] = (await ok('GET', `${base}/templates`)).read(TemplateList).templates;
      return send(['POST', `${base}/templates/${template?.id}/clone`, { pathway_id, name: name() }]);
    },
    id: (body) => body.scenario?.id,
    ...ofScenario,
  },
  'POST /v1/pathway/create': {
    create: post('/v1/pathway/create', () => ({ name: name() })),
    id: (body) => body.pathway_id,
    list: () => '/v1/pathway',
    read: (id) => `/v1/pathway/${id}`,
    change: (id) => ['POST', `/v1/pathway/${id}`, graph],
    remove: (id) => [['DELETE', `/v1/pathway/${id}`]],
    full: 'QUOTA_EXCEEDED',
  },
  'POST /v1/pathway/{id}/version': {
    create: () => send(['POST', `/v1/pathway/${pathway_id}/version`, { name: 'v', ...graph }]),
    id: (body) => body.data?.version_number,
    list: () => `/v1/pathway/${pathway_id}/versions`,
    read: (id) => `/v1/pathway/${pathway_id}/version/${id}`,
    change: (id) => ['POST', `/v1/pathway/${pathway_id}/version/${id}`, { name: 'w', ...graph }],
    remove: (id) => [['DELETE', `/v1/pathway/${pathway_id}/version/${id}`]],
    full: 'QUOTA_EXCEEDED',
  },
  'POST /v1/integrations/{integration}/resources': {
    create: post('/v1/integrations/rest_api/resources', () => ({ name: name(), credentials: {} })),
    id: (body) => body.data?.resource?.id,
    list: () => '/v1/integrations/rest_api/resources',
    read: (id) => `/v1/integrations/rest_api/resources/${id}`,
    change: (id) => ['PATCH', `/v1/integrations/rest_api/resources/${id}`, { name: 'new' }],
    remove: (id) => [['DELETE', `/v1/integrations/rest_api/resources/${id}`]],
    full: 'QUOTA_EXCEEDED',
  },
  'POST /v1/pathway/chat/create': {
    create: () => send(['POST', '/v1/pathway/chat/create', { pathway_id }]),
    id: (body) => body.data?.chat_id,
    list: () => '/v1/pathway/chat',
    read: (id) => `/v1/pathway/chat/${id}`,
    change: (id) => ['POST', `/v1/pathway/chat/${id}`, { message: 'An appointment, please' }],
    remove: (id) => [['DELETE', `/v1/pathway/chat/${id}`]],
    full: 'QUOTA_EXCEEDED',
  },
  'POST /v1/widget/{id}/threads': {
    create: () => send(['POST', `/v1/widget/${widget}/threads`, {}]),
    id: (body) => body.data?.thread?.id,
    list: () => `/v1/widget/${widget}/threads`,
    read: (id) => `/v1/widget/${widget}/threads?thread_id=${id}`,
    change: (id) => ['POST', `/v1/widget/${widget}/threads/${id}/messages`, { content: 'Hi' }],
    remove: (id) => [['POST', `/v1/widget/${widget}/threads/${id}/end`, {}]],
    full: 'QUOTA_EXCEEDED',
    gone: 200,
    keepsRecord: true,
  },
  'POST /v1/sip/port/document': {
    create: () => upload(test, Buffer.from('%PDF-1.4\n%%EOF\n')),
    id: (body) => body.data?.document_sid,
    list: () => '/v1/sip/port/document',
    read: (id) => `/v1/sip/port/document/${id}`,
    remove: (id) => [['DELETE', `/v1/sip/port/document/${id}`]],
    full: 'RATE_LIMITED',
  },
  'POST /v1/sip/port/initiate': {
    create: () => send(['POST', '/v1/sip/port/initiate', order([next()])]),
    id: (body) => body.data?.port_request_id,
    list: () => '/v1/sip/port',
    read: (id) => `/v1/sip/port/${id}`,
    remove: (id) => [['DELETE', `/v1/sip/port/${id}`]],
    full: 'QUOTA_EXCEEDED',
    gone: 200,
    keepsRecord: true,
  },
  'POST /v1/sip/attach': {
    create: async () => {
      const wanted = next();
      const answer = await send([
        'POST',
        '/v1/sip/attach',
        { phone_numbers: [wanted], directions: ['inbound'] },
      ]);
      if (JSON.stringify(answer.body.data?.configured) === JSON.stringify([wanted])) attached = wanted;
      return answer;
    },
    id: () => attached,
    list: () => '/v1/sip/numbers',
    read: (id) => `/v1/sip?phone_number=${encodeURIComponent(id)}`,
    change: (id) => [
      'POST',
      '/v1/sip/update',
      {
        phone_number: id,
        updates: { type: 'inbound', options: { allowed_ips: ['192.0.2.1'] } },
      },
    ],
    remove: (id) => [['POST', '/v1/sip/detach', { phone_number: id, directions: ['inbound'] }]],
    full: 'QUOTA_EXCEEDED',
    gone: 200,
  },
};

const groups: Readonly<Record<string, Life>> = {
  'POST /v1/agent-testing/scenarios/{id}/run': {
    create: () => send(['POST', `${base}/scenarios/${scenario_id}/run`, {}]),
    id: (body) => body.run_id,
    list: () => `${base}/runs`,
    read: (id) => `${base}/runs/${id}`,
    remove: (id) => [
      ['POST', `${base}/runs/${id}/cancel`, {}],
      ['DELETE', `${base}/runs/${id}`],
    ],
    full: 'QUOTA_EXCEEDED',
  },
  'POST /v1/agent-testing/batch-run': {
    create: () => send(['POST', `${base}/batch-run`, { scenario_ids: [scenario_id] }]),
    id: (body) => body.batch_id,
    list: () => `${base}/batches`,
    read: (id) => `${base}/batches/${id}`,
    remove: (id) => [
      ['POST', `${base}/batches/${id}/cancel`, {}],
      ['DELETE', `${base}/batches/${id}`],
    ],
    full: 'QUOTA_EXCEEDED',
  },
  'POST /v1/agent-testing/simulation-sets': {
    create: () =>
      send(['POST', `${base}/simulation-sets`, { scenario_ids: [scenario_id], simulations_per_scenario: 1 }]),
    id: (body) => body.simulation_set_id,
    list: () => `${base}/simulation-sets`,
    read: (id) => `${base}/simulation-sets/${id}`,
    remove: (id) => [
      ['POST', `${base}/simulation-sets/${id}/cancel`, {}],
      ['DELETE', `${base}/simulation-sets/${id}`],
    ],
    full: 'QUOTA_EXCEEDED',
  },
  'POST /v1/agent-testing/tornado/start': {
    create: () => send(['POST', `${base}/tornado/start`, { pathway_id, scenario_ids: [scenario_id] }]),
    id: (body) => body.session_id,
    list: () => `${base}/tornado`,
    read: (id) => `${base}/tornado/${id}/status`,
    remove: (id) => [
      ['POST', `${base}/tornado/${id}/cancel`, {}],
      ['DELETE', `${base}/tornado/${id}`],
    ],
    full: 'TORNADO_ALREADY_ACTIVE',
  },
};

/** Kinds whose life cycle is tested elsewhere, and where. */
const walkedElsewhere: Readonly<Record<string, string>> = {
  ...walkedInOwnTests,
  'POST /v1/personas/{id}/versions/promote': 'below',
  'POST /v1/calls': 'calls/place.test.ts, with an edge',
  'POST /v1/calls/{call_id}/supervisors': 'calls/supervise.test.ts, with an edge',
  'POST /v1/sip/discover': 'sip/checks.test.ts, with an edge',
  'POST /v1/sip/test-call': 'sip/checks.test.ts, with an edge',
};

describe('every POST of the OpenAPI document', () => {
  it('creates something that can be listed, read, changed and deleted, or explains why not', async () => {
    const served = new Set((await servedRoutes(test)).map((route) => route.name));
    const posts = [...served].filter((one) => one.startsWith('POST '));
    const known = { ...created, ...creatingNothing };
    expect(posts.filter((one) => !(one in known))).toEqual([]);
    expect(Object.keys(known).filter((one) => !served.has(one))).toEqual([]);
    const missing = Object.entries(created).flatMap(([one, ways]) =>
      Object.values(ways)
        .filter((way) => !way.startsWith('none: ') && !served.has(way))
        .map((way) => `${one}: ${way}`),
    );
    expect(missing).toEqual([]);
  });

  it('has its life cycle tested', () => {
    const walked = { ...lives, ...groups, ...walkedElsewhere };
    expect(Object.keys(created).filter((one) => !(one in walked))).toEqual([]);
  });
});

describe('the life cycle of what is created by', () => {
  it.each(Object.keys(lives))('%s', async (one) => {
    const life = lives[one];
    if (!life) throw new Error(one);
    await cycles.live(life);
  });

  it('POST /v1/personas/{id}/versions/promote keeps the newest 200', async () => {
    const url = `/v1/personas/${persona}/versions`;
    for (let count = 0; count < 199; count++) await ok('POST', `${url}/promote`, {});
    const first = async () => {
      const { data } = (await ok('GET', `${url}?limit=100&offset=199`)).read(PersonaVersionList);
      return data.map((one) => one.version_number);
    };
    expect(await first()).toEqual([2]);
    await ok('POST', `${url}/promote`, {});
    expect(await first()).toEqual([3]);
    const { body } = await ok('GET', `/v1/personas/${persona}`);
    expect(body.data?.current_production_version?.version_number).toBe(201);
  });
});

describe('while another run is running, the life cycle of what is created by', () => {
  beforeAll(async () => {
    const says = (text: string, delay?: Promise<unknown>) => {
      const answer = JSON.stringify({ action: 'say', text, keys: '', reason: '' });
      server.record({ text: [answer], ...(delay && { delay }) });
    };
    says('An appointment, please');
    says('Sam Reed', thinking.promise);
    await client.start(scenario_id);
    await server.asked(2);
  });

  it.each(Object.keys(groups))('%s', async (one) => {
    const life = groups[one];
    if (!life) throw new Error(one);
    await cycles.live(life);
  });
});

describe('an unfinished object', () => {
  it('is not deleted, nor a run without its batch or set', async () => {
    const begun = await ok('POST', `${base}/batch-run`, { scenario_ids: [scenario_id] });
    const { batch_id, runs } = begun.read(BatchStarted);
    expect((await send(['DELETE', `${base}/batches/${batch_id}`])).codes).toEqual(['NOT_ENDED']);
    const refused = await send(['DELETE', `${base}/runs/${runs[0]?.run_id}`]);
    expect([refused.status, refused.codes]).toEqual([409, ['RUN_IN_GROUP']]);
    await ok('POST', `${base}/batches/${batch_id}/cancel`, {});
    const set = { scenario_ids: [scenario_id], simulations_per_scenario: 1 };
    const { body: started } = await ok('POST', `${base}/simulation-sets`, set);
    const url = `${base}/simulation-sets/${String(started.simulation_set_id)}`;
    expect((await send(['DELETE', url])).codes).toEqual(['NOT_ENDED']);
    await ok('POST', `${url}/cancel`, {});
    const { body: waiting } = await ok('POST', `${base}/scenarios/${scenario_id}/run`, {});
    const single = `${base}/runs/${String(waiting.run_id)}`;
    expect((await send(['DELETE', single])).codes).toEqual(['NOT_ENDED']);
    await ok('POST', `${single}/cancel`, {});
    const tornado = { pathway_id, scenario_ids: [scenario_id] };
    const session = String((await ok('POST', `${base}/tornado/start`, tornado)).body.session_id);
    expect((await send(['DELETE', `${base}/tornado/${session}`])).codes).toEqual(['NOT_ENDED']);
    const { batches } = (await ok('GET', `${base}/batches`)).read(BatchList);
    const own = batches.find(({ trigger_source }) => trigger_source === 'tornado');
    expect(own).toBeDefined();
    await ok('POST', `${base}/tornado/${session}/cancel`, {});
    await ok('DELETE', `${base}/batches/${own?.id}`);
    expect((await send(['GET', `${base}/tornado/${session}/status`])).status).toBe(200);
  });
});
