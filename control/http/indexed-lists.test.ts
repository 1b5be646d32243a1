/**
 * Every list is read from an index, with any combination of filters: each statement of each request is explained,
 * including those of the key and its organization. SQLite reports `SCAN` for a full table scan.
 */
import SqliteFile from 'better-sqlite3';
import { DefaultQueryExecutor } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { callRecord } from '../../test/kit/control/edge-client.ts';
import { startControl } from '../../test/kit/control/harness.ts';
import { recordingRow } from '../../test/kit/control/recordings.ts';
import { servedRoutes, unknownId } from '../../test/kit/control/routes.ts';
import { makePathway, makeThread, makeWidget } from '../../test/kit/control/widgets.ts';
import { endedDelivery } from '../../test/kit/db/delivery.ts';
import { planOf } from '../../test/kit/db/driver.ts';
import { databaseQuiet, onSqlite } from '../../test/kit/db/test-database.ts';
import type { Answer } from '../../test/kit/http/answer.ts';
import { isLong } from '../../test/kit/is-long.ts';
import { toJson } from '../db/index.ts';
import type { AlertRow } from '../db/tables.ts';
import { createReportStore } from '../report-writers.ts';

const test = await startControl({ RATE_LIMIT_PER_MINUTE: '1000000' });
afterAll(() => test.close());
const { database } = test.control.services;

const routes = await servedRoutes(test);
// Its looks for background work, every two seconds, are no statements of a request.
test.control.services.replica.freeze();
const example = (name: string) => routes.find((route) => route.name === name)?.example;

const pathway = await makePathway(test);
const version = {
  name: 'v',
  nodes: [{ id: 's', type: 'End Call', data: { isStart: true, prompt: 'Bye' } }],
  edges: [],
};
await test.call('POST', `/v1/pathway/${pathway}/version`, { body: version });
const widget = await makeWidget(test, {}, pathway);
const thread = await makeThread(test, widget);
const persona = await test.call('POST', '/v1/personas', { body: { name: 'Ada' } });
const personaId = String(persona.body.data?.id);
const tool = await test.call('POST', '/v2/tools', { body: example('POST /v2/tools') });
const toolId = String(tool.body.data?.id);

const assertions = [{ type: 'NODE_REACHED', config: { node_id: 's' } }];
const watched = { name: 'w', pathway_id: pathway, assertions };
const watch = await test.call('POST', '/v1/agent-testing/watches', { body: watched });

const call = callRecord(test.orgId);
const conference = {
  id: '01234567-89ab-7def-8123-456789abcdef',
  name: 'sales',
  opened_at: call.started_at,
  joined_at: call.started_at,
  moderator: false,
  muted: false,
  speaking: false,
};
const party = callRecord(test.orgId, { id: unknownId.replace(/.$/, 'a'), ended_at: null, conference });
const line = {
  id: 'line',
  at: call.started_at,
  user: 'user',
  text: 'A refund',
  node_id: null,
  node_name: null,
} as const;
const bodies = [
  { type: 'call', call },
  { type: 'call', call: party },
  { type: 'transcript', call_id: call.id, entries: [line] },
  {
    type: 'refused',
    refused: [
      {
        org_id: test.orgId,
        number: call.number,
        source: '203.0.113.5',
        reason: 'no_agent',
        attempts: 1,
        unanswered: 0,
        first_at: call.started_at,
        last_at: call.started_at,
        sip_status: 480,
        detail: null,
        from: null,
        dialled: null,
        user_agent: null,
        sip_call_id: null,
      },
    ],
  },
  { type: 'measured', calls: [{ call_id: call.id, quality: [], marks: [[0, 'sound', 5]] }] },
];
await createReportStore(database, test.clock).store(
  { edgeId: 'edge', outboxId: 'outbox' },
  bodies.map((body, index) => ({ seq: index + 1, at: call.started_at, body })),
);
const alert: AlertRow = {
  id: '00000000-0000-4000-8000-0000000000a1',
  org_id: test.orgId,
  configuration_id: 'configuration',
  number: '+14155550100',
  direction: 'outbound',
  endpoint: null,
  kind: 'failure_rate',
  threshold: 1,
  value: 2,
  window_minutes: 5,
  calm_evaluations: 0,
  raised_at: '2030-01-01T00:00:00.000Z',
  resolved_at: null,
};
await database.db.insertInto('alerts').values(alert).execute();
const delivery = endedDelivery(test.orgId);
await database.db.insertInto('webhook_deliveries').values(delivery).execute();
await database.db
  .insertInto('test_simulation_sets')
  .values({
    id: unknownId,
    org_id: test.orgId,
    pathway_id: pathway,
    persona_id: null,
    status: 'PASSED',
    scenario_ids: toJson([unknownId]),
    simulations_per_scenario: 1,
    pass_threshold: 0.5,
    version_number: null,
    webhook_url: null,
    created_at: call.started_at,
    completed_at: call.started_at,
    matrix_id: unknownId,
    matrix_place: 0,
    matrix_cell: toJson({}),
    load_id: null,
  })
  .execute();
const recording = recordingRow(test.orgId, call.id);
await database.db.insertInto('recordings').values(recording).execute();
const entry = await database.db
  .selectFrom('audit_entries')
  .select('id')
  .where('org_id', '=', test.orgId)
  .limit(1)
  .executeTakeFirstOrThrow();

const times = ['from_date=2030-01-01', 'to_date=2030-02-01'];
const audit = [`before=${entry.id}`, 'area=pathways', 'subject_id=x', 'actor=x', ...times];
const runs = ['scenario_id', 'pathway_id', 'persona_id', 'batch_id'].map((name) => `${name}=${unknownId}`);
const number = 'phone_number=%2B14155550100';

const refused = [`before=2030-02-01T00%3A00%3A00.000Z%20${unknownId}`, 'source=203.0.113.5', ...times];

/** Every list with its filters, each with a value that matches something where a cursor must. */
const lists: Readonly<Record<string, readonly string[]>> = {
  'GET /v1/sip/calls': [
    number,
    'direction=inbound',
    'status=busy',
    'status=486',
    `before=${call.id}`,
    ...times,
    'other_party=x',
    'termination=api_stop',
    'max_mos=3',
    'max_mos=4',
  ],
  'GET /v1/calls': [
    number,
    'direction=inbound',
    'status=busy',
    'status=ringing',
    `before=${call.id}`,
    ...times,
    'other_party=x',
    'termination=api_stop',
    `pathway_id=${unknownId}`,
    `persona_id=${unknownId}`,
  ],
  'GET /v1/sip/calls/aggregates': [
    'by=day',
    'per=all',
    'after=2030-01-01T00%20x',
    'trunk_id=x',
    'direction=inbound',
    ...times,
  ],
  'GET /v1/sip/calls/{call_id}/timeline': ['after=0', 'limit=5'],
  'GET /v1/calls/recordings': [`before=${recording.id}`],
  'GET /v1/conferences': [`before=${conference.id}`],
  'GET /v1/calls/transcripts': [`before=${call.id}:line`, 'limit=5'],
  'GET /v1/sip/alerts': [number, 'state=open', 'kind=failure_rate', `before=${alert.id}`],
  'GET /v1/sip/refused': [number, 'reason=no_agent', ...refused],
  'GET /v1/admin/refused': [`org_id=${test.orgId}`, ...refused],
  'GET /v1/sip/port': ['status=submitted', 'offset=5'],
  'GET /v1/admin/ports': ['status=submitted', `org_id=${unknownId}`, 'offset=5'],
  'GET /v1/org/audit': audit,
  'GET /v1/admin/audit': [`org_id=${test.orgId}`, ...audit],
  'GET /v1/agent-testing/runs': [...runs, `agent_id=${unknownId}`, 'status=FAILED', 'offset=5'],
  'GET /v1/agent-testing/agents': ['offset=5'],
  'GET /v1/agent-testing/scenarios': [
    `pathway_id=${pathway}`,
    `persona_id=${personaId}`,
    `agent_id=${unknownId}`,
    'category=CUSTOM',
    'enabled=true',
    'offset=5',
  ],
  'GET /v1/widget/{id}/threads': [`thread_id=${thread.split('/').at(-1)}`, 'page=2'],
  'GET /v2/tools': ['search=a', 'orderDirection=asc', 'page=2'],
  'GET /v2/tools/{id}/logs': ['page=2'],
  'GET /v1/personas': ['page=2'],
  'GET /v1/personas/{id}/versions': ['offset=5'],
  'GET /v1/pathway': ['graphs=false', 'offset=5'],
  'GET /v1/pathway/{id}/versions': ['offset=5'],
  'GET /v1/sip/numbers': ['offset=5'],
  'GET /v1/inbound': ['offset=5'],
  'GET /v1/integrations/{integration}/resources': ['offset=5'],
  'GET /v1/agent-testing/batches': ['offset=5'],
  'GET /v1/agent-testing/simulation-sets': ['offset=5'],
  'GET /v1/agent-testing/matrices': [refused[0] ?? ''],
  'GET /v1/agent-testing/loads': ['offset=5'],
  'GET /v1/agent-testing/watches/{id}/calls': ['status=FAILED', 'version=1', 'offset=5'],
  'GET /v1/agent-testing/tornado': [`pathway_id=${pathway}`, 'offset=5'],
  'GET /v1/agent-testing/analytics/{pathwayId}/versions': ['days=7', 'offset=1'],
  'GET /v1/pathway/chat': ['offset=5'],
  'GET /v1/sip/port/document': ['offset=5'],
  'GET /v1/widget': ['page=2'],
  'GET /v1/admin/edges': ['offset=5'],
  'GET /v1/org/webhook-deliveries': ['state=waiting', 'state=given_up', `before=${delivery.id}`],
  'GET /v1/org/keys': ['state=active', 'offset=5'],
  'GET /v1/sessions': ['offset=5'],
  'GET /v1/calls/{call_id}/supervisors': [],
  'GET /v1/phone-sessions': ['state=open', 'state=ended', 'offset=5'],
};

const ids: Readonly<Record<string, string>> = {
  'GET /v1/sip/calls/{call_id}/timeline': call.id,
  'GET /v1/calls/{call_id}/supervisors': call.id,
  'GET /v1/agent-testing/watches/{id}/calls': String(watch.body.id),
  'GET /v1/widget/{id}/threads': widget.split('/').at(-1) ?? '',
  'GET /v2/tools/{id}/logs': toolId,
  'GET /v1/personas/{id}/versions': personaId,
  'GET /v1/pathway/{id}/versions': pathway,
  'GET /v1/agent-testing/analytics/{pathwayId}/versions': pathway,
  'GET /v1/integrations/{integration}/resources': 'rest_api',
};

/** What a list cannot be read without. */
const required: Readonly<Record<string, string>> = { 'GET /v1/calls/transcripts': 'query=refund' };

const nameOf = (filter: string) => filter.slice(0, filter.indexOf('=') + 1);

/**
 * Queries for sets of filters without duplicate parameters: all of them in the long run; else those of up to three, which
 * is what an index may need to be chosen or not, and those that lack up to one.
 */
function queriesOf(filters: readonly string[]): string[] {
  const sets: string[][] = [[]];
  for (const filter of filters) {
    const without = sets.filter((set) => !set.some((one) => one.startsWith(nameOf(filter))));
    sets.push(...without.map((set) => [...set, filter]));
  }
  const most = new Set(filters.map(nameOf)).size;
  return sets
    .filter((set) => isLong || set.length <= 3 || set.length >= most - 1)
    .map((set) => set.join('&'));
}

beforeAll(() => databaseQuiet(database));

/** How a list is read. */
function requestOf(name: string): { readonly path: string; readonly key: string } {
  const route = routes.find((one) => one.name === name);
  if (!route) throw new Error(`${name} is not served`);
  const path = name.replace('GET ', '').replace(/\{[^}]*\}/, ids[name] ?? unknownId);
  return {
    path: `${path}?${required[name] ?? ''}`,
    key: route.access === 'operator' ? test.operatorKey : test.key,
  };
}

/** Statements that the requests run, without duplicates. */
async function statementsOf(name: string, filters: readonly string[]): Promise<Set<string>> {
  const { path, key } = requestOf(name);
  const seen = new Set<string>();
  // Kysely's statements may be cached from earlier requests; others are prepared when they run.
  const run = vi.spyOn(DefaultQueryExecutor.prototype, 'executeQuery');
  const prepare = SqliteFile.prototype.prepare;
  const spy = vi.spyOn(SqliteFile.prototype, 'prepare').mockImplementation(function (
    this: SqliteFile.Database,
    sql,
  ) {
    seen.add(sql);
    return prepare.call(this, sql);
  });
  try {
    for (const query of queriesOf(filters)) {
      const { status, text } = await test.call('GET', `${path}&${query}`, { key });
      if (status !== 200) throw new Error(`${path}&${query}: ${text}`);
    }
    for (const [{ sql }] of run.mock.calls) seen.add(sql);
  } finally {
    spy.mockRestore();
    run.mockRestore();
  }
  return seen;
}

/**
 * Steps of a statement that get slower with other organizations' rows: a filter over a whole table, and a page cut only
 * after sorting everything.
 */
async function slowSteps(sql: string): Promise<string[]> {
  // A virtual table says by M that it reads what matches; a subquery has steps of its own.
  const readsAll = / where /.test(sql)
    ? /^SCAN (?!json_each|CONSTANT|sums_of_page|newest_runs|\(subquery|\w+ VIRTUAL TABLE INDEX \d+:M)/
    : /^$/;
  const sortsAll = / limit /.test(sql) ? /B-TREE FOR ORDER BY/ : /^$/;
  const values = Array(sql.split('?').length - 1).fill(null);
  const steps = await planOf(database.db, sql, values);
  return steps.filter((step) => readsAll.test(step) || sortsAll.test(step)).map((step) => `${step}: ${sql}`);
}

describe.runIf(onSqlite)('a list', () => {
  it.each(Object.entries(lists))(
    '%s is read from indexes with every combination of its filters',
    async (name, filters) => {
      const statements = await statementsOf(name, filters);
      expect(statements.size).toBeGreaterThan(1);
      const reading = [...statements].filter((sql) => /^\s*(select|with)/i.test(sql));
      const slow = [];
      for (const sql of reading) slow.push(...(await slowSteps(sql)));
      expect(slow).toEqual([]);
    },
  );

  it('with pages is covered here', () => {
    const paged = routes.filter(({ method, queryNames }) => method === 'GET' && queryNames.includes('limit'));
    expect(Object.keys(lists)).toEqual(expect.arrayContaining(paged.map(({ name }) => name)));
  });
});

/** The items of a page, and every number in it that gives a total. */
function countsOf({ body, headers }: Answer): {
  readonly items: number;
  readonly totals: readonly unknown[];
} {
  const { data } = body as { readonly data?: object };
  const holders: object[] = [body, data ?? {}, ...Object.values(data ?? {}), ...Object.values(body)];
  const list = holders.find((holder) => Array.isArray(holder));
  const named = holders.flatMap((holder) => Object.entries(Array.isArray(holder) || !holder ? {} : holder));
  const totals = named.filter(([name]) => /^total(_count|Items)?$/.test(name)).map(([, total]) => total);
  const header = headers['x-total-count'];
  return {
    items: Array.isArray(list) ? list.length : Number.NaN,
    totals: [...new Set(totals), ...(header === undefined ? [] : [Number(header)])],
  };
}

describe('a list with pages (docs/lists.md)', () => {
  const paged = routes.filter(({ method, queryNames }) => method === 'GET' && queryNames.includes('limit'));
  const isLog = ({ queryNames }: (typeof paged)[number]) =>
    queryNames.includes('before') || queryNames.includes('after');
  const read = async (name: string, query = '') => {
    const { path, key } = requestOf(name);
    return countsOf(await test.call('GET', `${path}&${query}`, { key }));
  };

  it.each(paged.filter((route) => !isLog(route)).map(({ name }) => name))(
    '%s returns the total, in its body or in X-Total-Count',
    async (name) => {
      const { items, totals } = await read(name);
      expect(totals).toEqual([items]);
      // Not the number of items on the page.
      expect((await read(name, 'limit=1')).totals).toEqual([items]);
    },
  );

  it.each(paged.filter(isLog).map(({ name }) => name))(
    '%s is a log with a cursor: no total for each page',
    async (name) => {
      const { items, totals } = await read(name);
      expect(items).toBeGreaterThan(0);
      expect(totals).toEqual([]);
    },
  );
});
