/**
 * Every list has a limit: every array of every GET of the OpenAPI document is paged or has `maxItems`, and a page is
 * small even with the largest rows.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ScenarioList } from '#shared/api/agent-testing/scenarios.ts';
import { PathwayList } from '#shared/api/pathways.ts';
import { PersonaList } from '#shared/api/personas.ts';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { openApiOf } from '../../test/kit/control/openapi.ts';
import { onceIsEnough } from '../../test/kit/db/test-database.ts';
import { toJson } from '../db/index.ts';
import type { OpenApiDocument } from '../deployment/openapi-document.ts';
import { pageBytes } from './pages.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Arrays inside single objects, which grow only with the object. The largest response (base.ts) limits them. */
const ofOneThing: Readonly<Record<string, string>> = {
  '/health': 'edges are the operator’s',
  '/v1/personas': 'inbound_numbers is left out of large items (pages.ts)',
  '/v1/personas/{id}': 'inbound_numbers has the quota of numbers',
  '/v1/personas/{id}/versions': 'what a version names is bounded where it is written',
  '/v1/sip': 'endpoints of failover: two, where they are written',
  '/v1/sip/status': 'ten configurations of three endpoints',
  '/v1/sip/outbound-setup': 'the codecs of the deployment',
  '/v1/sip/port': 'a port request has 50 numbers',
  '/v1/sip/port/{id}': 'history: a move for each number and state',
  '/v1/admin/ports': 'a port request has 50 numbers',
  '/v1/admin/ports/{id}': 'history: a move for each number and state',
  '/v1/sip/discover/status': 'a discovery probes a fixed matrix',
  '/v1/sip/test-call/status': 'the events of one call of a minute',
  '/v1/sip/calls': 'the endpoints of one call',
  '/v1/sip/calls/{call_id}': 'the endpoints of one call',
  '/v1/sip/calls/{call_id}/quality': 'the samples of one call: of 25 hours, most of them a minute each',
  '/v1/sip/calls/{call_id}/timeline': 'the spans of a turn, from 32 events at most',
  '/v1/calls/{call_id}': 'what was said in one call',
  '/v1/agent-testing/runs': 'evidence is left out with its results',
  '/v1/agent-testing/runs/{id}': 'tool calls and the like are left out where they are too large',
  '/v1/agent-testing/batches/{id}': 'evidence is left out with its results',
  '/v1/agent-testing/watches/{id}/calls': 'two quotes of each assertion, where they are stored',
  '/v1/agent-testing/tornado/{id}/status': 'plans and diffs are left out of large iterations',
  '/v1/agent-testing/scenarios': 'messages are left out of large items',
  '/v1/agent-testing/scenarios/{id}': '200 messages, where they are written',
  '/v1/agent-testing/templates': 'the templates of the release',
  '/v1/agent-testing/analytics/{pathwayId}': 'the newest 500 runs',
  '/v1/agent-testing/analytics/{pathwayId}/enhanced': 'each list is cut to 1 MiB; a year of days',
  '/v1/integrations/{integration}/actions': 'the actions of the release',
  '/v1/widget/{id}/threads': 'messages are cut to the newest of long threads',
  '/v1/pathway/{id}/versions': 'environments are two',
  '/v1/pathway/chat/{id}': 'what was said in one chat',
  '/v1/org/audit': 'the columns of one row',
  '/v1/admin/audit': 'the columns of one row',
};

/** Lists that are read by `page` or `offset` (docs/lists.md). None is added: a new list has a cursor. */
const olderForms = [
  '/v1/widget/{id}/threads',
  '/v1/widget',
  '/v2/tools',
  '/v2/tools/{id}/logs',
  '/v1/personas',
  '/v1/personas/{id}/versions',
  '/v1/pathway',
  '/v1/pathway/{id}/versions',
  '/v1/pathway/chat',
  '/v1/inbound',
  '/v1/integrations/{integration}/resources',
  '/v1/sip/numbers',
  '/v1/sip/port',
  '/v1/sip/port/document',
  '/v1/admin/ports',
  '/v1/admin/edges',
  '/v1/org/keys',
  '/v1/sessions',
  '/v1/phone-sessions',
  '/v1/agent-testing/agents',
  '/v1/agent-testing/analytics/{pathwayId}/versions',
  '/v1/agent-testing/batches',
  '/v1/agent-testing/loads',
  '/v1/agent-testing/runs',
  '/v1/agent-testing/scenarios',
  '/v1/agent-testing/simulation-sets',
  '/v1/agent-testing/tornado',
  '/v1/agent-testing/watches/{id}/calls',
];

let test: TestControl;
let paths: NonNullable<OpenApiDocument['paths']>;
/** For each kind with a quota: how many rows the test creates. Without a limit, the large ones would be twice a page. */
const filled = {
  pathways: 12,
  scenarios: 5,
  personas: 8,
  tools: 20,
  widgets: 5,
  integrationResources: 20,
  numbers: 20,
};
beforeAll(async () => {
  test = await startRoutes({
    RATE_LIMIT_PER_MINUTE: '1000000',
    QUOTAS: Object.entries(filled)
      .map(([kind, count]) => `${kind}=${count}`)
      .join(','),
  });
  paths = (await openApiOf(test)).paths ?? {};
});
afterAll(() => test.close());

/** Every array of a schema by its path, and whether its length is limited. */
function arrays(schema: Schema, at = '', inside = 0): { at: string; inside: number; bounded: boolean }[] {
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((some) =>
    Array.isArray(some) ? some : [],
  );
  const found = parts.flatMap((part: Schema) => arrays(part, at, inside));
  for (const [name, part] of Object.entries(schema.properties ?? {}))
    found.push(...arrays(part, `${at}/${name}`, inside));
  if (schema.type === 'array') {
    found.push({ at, inside, bounded: typeof schema.maxItems === 'number' });
    found.push(...arrays((schema.items ?? {}) as Schema, `${at}[]`, inside + 1));
  }
  return found;
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  return ((schema ?? {}) as { readonly properties?: Schema }).properties ?? {};
}

function gets() {
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const schema = get?.responses?.['200']?.content?.['application/json']?.schema as Schema | undefined;
    if (!get || !schema) return [];
    const limit = get.parameters?.find(({ name }) => name === 'limit')?.schema as Schema | undefined;
    const names = (get.parameters ?? []).map(({ name }) => name);
    return [
      {
        path,
        names,
        limit,
        arrays: arrays(schema),
        hasNext: 'next' in propertiesOf(propertiesOf(schema).data),
      },
    ];
  });
}

describe('every array in a GET response', () => {
  it('has pages, or a maximum length, or is listed here', () => {
    const unbounded = gets().flatMap(({ path, limit, arrays: found }) =>
      found
        // The list itself, where there are pages; lists inside its items must still be limited.
        .filter(({ bounded, inside }) => !bounded && !(limit && inside === 0))
        .filter(() => !(path in ofOneThing))
        .map(({ at }) => `${path} ${at}`),
    );
    expect(unbounded).toEqual([]);
  });

  it('is listed here only while it is served', () => {
    const served = new Set(gets().map(({ path }) => path));
    expect(Object.keys(ofOneThing).filter((path) => !served.has(path))).toEqual([]);
  });
});

describe('every list with pages', () => {
  it('has a largest and a default page size, and a link to the next page', () => {
    const paged = gets().filter(({ limit }) => limit);
    expect(paged.length).toBeGreaterThan(15);
    for (const { path, names, limit } of paged) {
      expect([path, limit?.maximum]).toEqual([path, expect.any(Number)]);
      expect(limit?.maximum).toBeLessThanOrEqual(1000);
      expect([path, names.some((name) => ['page', 'offset', 'before', 'after'].includes(name))]).toEqual([
        path,
        true,
      ]);
    }
  });

  it('has a cursor and next in data, except the older ones of docs/lists.md', () => {
    const paged = gets().filter(({ limit }) => limit);
    const isCursor = ({ names, hasNext }: (typeof paged)[number]) =>
      hasNext && names.some((name) => name === 'before' || name === 'after');
    expect(
      paged
        .filter((list) => !isCursor(list))
        .map(({ path }) => path)
        .sort(),
    ).toEqual(olderForms.toSorted());
  });

  it("has pages wherever customers' rows are listed", () => {
    const lists = [
      '/v1/agent-testing/scenarios',
      '/v1/agent-testing/batches',
      '/v1/agent-testing/simulation-sets',
      '/v1/agent-testing/tornado',
      '/v1/agent-testing/runs',
      '/v1/pathway',
      '/v1/pathway/{id}/versions',
      '/v1/pathway/chat',
      '/v1/personas',
      '/v1/personas/{id}/versions',
      '/v1/inbound',
      '/v1/sip/numbers',
      '/v1/sip/port/document',
      '/v1/integrations/{integration}/resources',
      '/v2/tools',
      '/v1/widget',
    ];
    const paged = new Set(gets().flatMap(({ path, limit }) => (limit ? [path] : [])));
    expect(lists.filter((path) => !paged.has(path))).toEqual([]);
  });
});

/** 60 KB of text that grows in JSON and UTF-8. */
const open = () => ({ text: '"é'.repeat(15_000) });
const text = (length: number) => 'é'.repeat(length);

describe('a page of the largest legal rows, with the quota filled', () => {
  const made = async (url: string, body: object) => {
    const answer = await test.call('POST', url, { body });
    expect([url, answer.status, answer.status === 200 ? '' : answer.text]).toEqual([url, 200, '']);
    return answer.body;
  };
  const fill = async (count: number, make: (index: number) => Promise<unknown>) => {
    for (let index = 0; index < count; index++) await make(index);
  };
  /** Overhead of a page besides its items; the testing group includes them twice. */
  const most = 2 * pageBytes + 65_536;
  const page = async (url: string) => {
    const answer = await test.call('GET', url);
    expect(answer.status).toBe(200);
    expect(answer.bytes.length).toBeLessThan(most);
    return answer;
  };
  let pathway_id: string;
  beforeAll(async () => {
    pathway_id = String((await made('/v1/pathway/create', { name: 'p' })).pathway_id);
  });

  it('is small for scenarios, and each is complete under its id', async () => {
    const input_messages = Array.from({ length: 100 }, () => ({ role: 'user', content: text(4000) }));
    const whole = { request_data: open(), metadata: open(), input_messages };
    await fill(filled.scenarios, (index) =>
      made('/v1/agent-testing/scenarios', {
        pathway_id,
        name: `${index}`,
        scenario_type: 'REPLAY',
        ...whole,
      }),
    );
    const refused = await test.call('POST', '/v1/agent-testing/scenarios', {
      body: { pathway_id, name: 'x' },
    });
    expect(refused.body.errors).toMatchObject([{ code: 'QUOTA_EXCEEDED', details: { quota: 'scenarios' } }]);
    const { scenarios } = (await page('/v1/agent-testing/scenarios?limit=500')).read(ScenarioList);
    expect(scenarios).toHaveLength(filled.scenarios);
    expect(scenarios[0]?.omitted).toContain('input_messages');
    const one = await test.call('GET', `/v1/agent-testing/scenarios/${scenarios[0]?.id}`);
    expect(one.body).toMatchObject(whole);
    expect(one.body).not.toHaveProperty('omitted');
  });

  it('is small for pathways', async () => {
    const nodes = Array.from({ length: 8 }, (_, index) => ({
      id: `n${index}`,
      type: 'Default',
      data: { name: 'n', text: text(28_000), ...(index === 0 && { isStart: true }) },
    }));
    for (let index = 1; index < filled.pathways; index++) {
      const { pathway_id: id } = await made('/v1/pathway/create', { name: `${index}` });
      await made(`/v1/pathway/${String(id)}`, { nodes, edges: [] });
    }
    const pathways = (await page('/v1/pathway')).read(PathwayList);
    expect(pathways).toHaveLength(filled.pathways);
    const large = pathways.find((one) => one.pathway_id !== pathway_id);
    expect(large).toMatchObject({ nodes: [], edges: [], omitted: ['edges', 'nodes'] });
    expect(pathways.find((one) => one.pathway_id === pathway_id)).not.toHaveProperty('omitted');
  });

  it('is small for personas, their versions, tools, widgets, resources and numbers', async () => {
    const prompts = { orchestration_prompt: text(20_000), personality_prompt: text(20_000) };
    const condition = { name: 'c', prompt: text(10_000), pathway_id };
    await fill(filled.personas, (index) =>
      made('/v1/personas', { name: `${index}`, ...prompts, pathway_conditions: Array(20).fill(condition) }),
    );
    const tool = { description: text(5000), integration: 'rest_api', action: 'request', input_schema: null };
    const body = { url: 'https://api.example.com/', body: open() };
    await fill(filled.tools, (index) => made('/v2/tools', { ...tool, name: `${index}`, body }));
    const config = { blockedWords: Array.from({ length: 45 }, () => text(10_000)) };
    await fill(filled.widgets, (index) => made('/v1/widget', { name: `${index}`, pathway_id, config }));
    await fill(filled.integrationResources, (index) =>
      made('/v1/integrations/rest_api/resources', { name: `${index}${text(190)}`, credentials: {} }),
    );
    const numbers = Array.from({ length: filled.numbers }, (_, index) => `+141555501${10 + index}`);
    await made('/v1/sip/attach', { phone_numbers: numbers, directions: ['inbound'] });
    const settings = { prompt: text(20_000), request_data: open(), metadata: open() };
    for (const number of numbers) await made(`/v1/inbound/${number}`, settings);
    const [first] = (await page('/v1/personas?limit=100')).read(PersonaList).data;
    expect(first?.omitted).toContain('current_draft_version.pathway_conditions');
    await page(`/v1/personas/${first?.id}/versions`);
    for (const url of [
      '/v2/tools?limit=1000',
      '/v1/widget?limit=100',
      '/v1/integrations/rest_api/resources',
    ]) {
      await page(url);
    }
    await page('/v1/sip/numbers');
    const inbound = await page('/v1/inbound');
    expect(inbound.headers['x-total-count']).toBe(String(filled.numbers));
    expect(inbound.body.inbound_numbers).toHaveLength(filled.numbers);
  });

  // What is built from the rows is the same.
  it.runIf(onceIsEnough)('yields to other requests while it is built', async () => {
    const lists = ['/v1/agent-testing/scenarios', '/v1/pathway', '/v1/inbound', '/v1/personas?limit=100'];
    const done: string[] = [];
    const slow = Promise.all(
      [...lists, ...lists, ...lists].map(async (url) => {
        await page(url);
        done.push(url);
      }),
    );
    await test.call('GET', '/health', { key: null });
    expect(done.length).toBeLessThan(lists.length * 3);
    await slow;
  });
});

describe('one run', () => {
  it('omits its largest parts where a response has no room for them', async () => {
    const { db } = test.control.services.database;
    const list = await test.call('GET', '/v1/agent-testing/scenarios?limit=1');
    const [scenario] = list.read(ScenarioList).scenarios;
    const url = `/v1/agent-testing/scenarios/${scenario?.id}/run`;
    const id = String((await test.call('POST', url, { body: {} })).body.run_id);
    const one = `/v1/agent-testing/runs/${id}`;
    await test.call('POST', `${one}/cancel`, { body: {} });
    const status = async () => (await test.call('GET', one)).body.status;
    await expect.poll(status).not.toMatch(/PENDING|RUNNING/);
    const variables_extracted = toJson({ large: 'x'.repeat(9_000_000) });
    await db.updateTable('test_run_records').set({ variables_extracted }).where('run_id', '=', id).execute();
    const answer = await test.call('GET', one);
    expect([answer.status, answer.body.omitted]).toEqual([200, ['variables_extracted']]);
    expect(answer.body.variables_extracted).toEqual({});
  });
});

describe.runIf(onceIsEnough)('a response above the size limit', () => {
  it('is a clear error, not a crash', async () => {
    const { db } = test.control.services.database;
    const created = await test.call('GET', '/v1/agent-testing/scenarios?limit=1');
    const id = created.read(ScenarioList).scenarios[0]?.id ?? '';
    const metadata = toJson({ text: 'x'.repeat(9_000_000) });
    await db.updateTable('test_scenarios').set({ metadata }).where('id', '=', id).execute();
    const refused = await test.call('GET', `/v1/agent-testing/scenarios/${id}`);
    expect([refused.status, refused.codes]).toEqual([400, ['ANSWER_TOO_LARGE']]);
    expect(refused.errors[0]?.message).toContain('16 MiB');
    expect((await test.call('GET', '/v1/agent-testing/scenarios')).status).toBe(200);
  });
});
