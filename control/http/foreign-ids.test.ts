/**
 * One organization's objects are unknown to another. A stranger calls every route of the OpenAPI document with another
 * organization's ids in its path, query and body: a path answers as for an unknown id, and nothing is shown or changed.
 */
import { type RawBuilder, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunList } from '#shared/api/agent-testing/runs.ts';
import { TornadoAnswer } from '#shared/api/agent-testing/tornado.ts';
import { callRecord, connectEdge, reportFrame } from '../../test/kit/control/edge-client.ts';
import { noiseFile } from '../../test/kit/control/noises.ts';
import { phoneSessionRow } from '../../test/kit/control/phone-sessions.ts';
import { order, type PortTest, smallPdf, startPortTest, upload } from '../../test/kit/control/porting.ts';
import { recordingRow } from '../../test/kit/control/recordings.ts';
import { type ServedRoute, servedRoutes, unknownId } from '../../test/kit/control/routes.ts';
import { signIn } from '../../test/kit/control/sessions.ts';
import { endedDelivery } from '../../test/kit/db/delivery.ts';
import { onSqlite } from '../../test/kit/db/test-database.ts';
import type { Answer } from '../../test/kit/http/answer.ts';
import { eventually, saw } from '../../test/kit/programs/eventually.ts';
import type { Db } from '../db/index.ts';

const number = '+14155550100';
const testing = '/v1/agent-testing';
/** Part of every name and text of the owner. */
const mark = 'Zanzibar';
const words = { name: mark, text: mark };
const graph = { nodes: [{ id: 'a', type: 'End Call', data: { ...words, isStart: true } }], edges: [] };

const test: PortTest = await startPortTest({ RATE_LIMIT_PER_MINUTE: '1000000' });
const routes = (await servedRoutes(test)).filter(
  ({ access, hasEnd }) => hasEnd && (access === 'customer' || access === 'any'),
);
/** Routes with an organization's object in their path; integrations belong to the release. */
const withIds = routes.filter(({ name }) => /\{(?!integration\})/.test(name));
const others = routes.filter((route) => !withIds.includes(route));
/** The owner's objects: by the path segment before the id, and by property name. */
let byPath: Readonly<Record<string, string>> = {};
let byName: Readonly<Record<string, unknown>> = {};

async function made(url: string, body: object): Promise<Answer['body']> {
  const answer = await test.call('POST', url, { body });
  if (answer.status !== 200) throw new Error(`${url}: ${answer.text}`);
  return answer.body;
}

const lists = others.filter(({ method }) => method === 'GET');
/** What the stranger saw before the owner had anything. */
let before: readonly (readonly [string, object])[] = [];

/** What a stranger sees without using any id, without times and request ids. */
async function snapshot(): Promise<readonly (readonly [string, object])[]> {
  const answers: (readonly [string, object])[] = [];
  for (const route of lists) {
    const [, path = ''] = route.name.split(' ');
    const { status, text, headers } = await ask(route, path.replace('{integration}', 'rest_api'), {});
    const body = text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z?|\d{4}-\d\d-\d\d/g, '<time>');
    answers.push([route.name, { status, body, total: headers['x-total-count'] }]);
  }
  return answers;
}

beforeAll(async () => {
  // Edges belong to the operator, and every customer sees their addresses for a week.
  await (await connectEdge(test)).close();
  before = await snapshot();
  const pathway_id = String((await made('/v1/pathway/create', { name: mark })).pathway_id);
  await made(`/v1/pathway/${pathway_id}`, graph);
  await made(`/v1/pathway/${pathway_id}/version`, { name: mark, ...graph });
  const persona_id = String((await made('/v1/personas', { name: mark })).data?.id);
  const tool = {
    description: mark,
    integration: 'custom-code',
    action: 'run_javascript',
    body: { code: '1' },
  };
  const tool_id = String((await made('/v2/tools', { name: mark, ...tool })).data?.id);
  const kept = await made('/v1/integrations/rest_api/resources', { name: mark, credentials: {} });
  const widget_id = String((await made('/v1/widget', { name: mark, pathway_id })).data?.widget?.id);
  const thread_id = String((await made(`/v1/widget/${widget_id}/threads`, {})).data?.thread?.id);
  const input_messages = [{ role: 'user', content: mark }];
  const replay = { pathway_id, name: mark, scenario_type: 'REPLAY', input_messages };
  const theirs = { name: mark, url: 'https://chat.example.com/', format: 'openai', model: 'm' };
  const agent_id = String((await made(`${testing}/agents`, theirs)).id);
  const scenario_id = String((await made(`${testing}/scenarios`, replay)).id);
  const scenarios = { scenario_ids: [scenario_id], pathway_id };
  const run_id = String((await made(`${testing}/scenarios/${scenario_id}/run`, {})).run_id);
  const batch_id = String((await made(`${testing}/batch-run`, { scenario_ids: [scenario_id] })).batch_id);
  const set = await made(`${testing}/simulation-sets`, { ...scenarios, simulations_per_scenario: 2 });
  const matrix = await made(`${testing}/matrices`, { scenario_id, repeats: 1 });
  const load = { scenario_ids: [scenario_id], concurrency: 1, runs_per_level: 1, transport: 'text' };
  const load_id = String((await made(`${testing}/loads`, load)).load_id);
  const assertions = [{ type: 'NODE_REACHED', config: { node_id: 'a' } }];
  const watch = await made(`${testing}/watches`, { name: mark, pathway_id, assertions });
  const noise = await made(`${testing}/noises`, { name: mark, wav: noiseFile() });
  const tornado = `${testing}/tornado/${String((await made(`${testing}/tornado/start`, scenarios)).session_id)}`;
  const chat_id = String((await made('/v1/pathway/chat/create', { pathway_id })).data?.chat_id);
  await made('/v1/sip/attach', { phone_number: number, directions: ['inbound'] });
  const document_sid = String((await upload(test, smallPdf)).body.data?.document_sid);
  const port = await made('/v1/sip/port/initiate', order(['+14155550190']));
  const port_request_id = String(port.data?.port_request_id);
  const key_id = String((await made('/v1/org/keys', { name: mark, role: 'read' })).data?.key?.id);
  const browser = await signIn(test, test.key, { 'user-agent': mark });
  const edge = await connectEdge(test);
  const call = callRecord(test.orgId, { from: mark });
  const message = {
    at: call.started_at,
    direction: 'received' as const,
    transport: 'tls' as const,
    local: '198.51.100.7:5061',
    remote: '198.51.100.9:5061',
    start_line: `INVITE sip:${mark}@x SIP/2.0`,
    raw: `INVITE sip:${mark}@x SIP/2.0\r\n\r\n`,
  };
  const at = call.started_at;
  const conference = {
    id: '01234567-89ab-7def-8123-456789abcdef',
    name: mark,
    opened_at: at,
    joined_at: at,
    moderator: false,
    muted: false,
    speaking: false,
  };
  const party = { ...call, id: call.id.replace(/.$/, 'a'), sip_call_id: 'party', ended_at: null, conference };
  edge.send(
    reportFrame(1, [
      { type: 'call', call },
      { type: 'call', call: party },
      { type: 'trace', call_id: call.id, messages: [message], truncated: false },
    ]),
  );
  await edge.next('ack');
  await edge.kill();
  const { db } = test.control.services.database;
  await db.insertInto('recordings').values(recordingRow(test.orgId, call.id)).execute();
  const phone = { ...phoneSessionRow(test.orgId), caller: mark };
  const supervisor = { ...phone, id: phone.id.replace(/1$/, '2'), supervises: call.id };
  await db.insertInto('phone_sessions').values([phone, supervisor]).execute();
  await db.insertInto('webhook_deliveries').values(endedDelivery(test.orgId)).execute();
  // Background work finishes first.
  await eventually('the end of the background work', async () => {
    const { runs } = (await test.call('GET', `${testing}/runs?limit=100`)).read(RunList);
    const session = await test.call('GET', `${tornado}/status`);
    const states = saw([...runs.map(({ status }) => status), session.read(TornadoAnswer).status]);
    return states.some((state) => /PENDING|QUEUED|RUNNING/.test(state)) ? null : states;
  });
  byPath = {
    '/v2/tools': tool_id,
    '/v1/widget': widget_id,
    threads: thread_id,
    '/v1/sip/port/document': document_sid,
    '/v1/sip/port': port_request_id,
    [`${testing}/agents`]: agent_id,
    [`${testing}/scenarios`]: scenario_id,
    [`${testing}/runs`]: run_id,
    [`${testing}/batches`]: batch_id,
    [`${testing}/simulation-sets`]: String(set.simulation_set_id),
    [`${testing}/matrices`]: String(matrix.matrix_id),
    [`${testing}/loads`]: load_id,
    [`${testing}/noises`]: String(noise.id),
    [`${testing}/watches`]: String(watch.id),
    calls: call.id,
    [`${testing}/tornado`]: tornado.split('/').at(-1) ?? '',
    [`${testing}/analytics`]: pathway_id,
    // Available to everyone, with the owner's pathway in the body.
    [`${testing}/templates`]: 'tmpl_happy_path',
    '/v1/sip/calls': call.id,
    '/v1/calls': call.id,
    '/v1/conferences': conference.id,
    parties: party.id,
    supervisors: supervisor.id,
    '/v1/inbound': number,
    '/v1/pathway': pathway_id,
    version: '1',
    '/v1/personas': persona_id,
    '/v1/pathway/chat': chat_id,
    resources: String(kept.data?.resource?.id),
    '/v1/org/keys': key_id,
    '/v1/sessions': browser.id,
    '/v1/phone-sessions': phone.id,
    '/v1/org/webhook-deliveries': endedDelivery(test.orgId).id,
  };
  byName = {
    pathway_id,
    persona_id,
    tool_id,
    widget_id,
    thread_id,
    scenario_id,
    scenario_ids: [scenario_id],
    run_id,
    run_ids: [run_id],
    batch_id,
    chat_id,
    call_id: call.id,
    phone_number: number,
    phone_numbers: [number],
    inbound_numbers: [number],
    from: number,
    document_sid,
    port_request_id,
    tools: [tool_id],
    default_tools: [tool_id],
  };
});
afterAll(() => test.close());

/** The path of a route with ids. @param idOf the id after this path segment */
function pathOf({ name }: ServedRoute, idOf: (before: string) => string): string {
  const [, path = ''] = name.split(' ');
  let url = '';
  for (const part of path.split('/').slice(1)) {
    const before =
      ['threads', 'version', 'resources', 'parties', 'supervisors', 'calls'].find((last) =>
        url.endsWith(`/${last}`),
      ) ?? url;
    if (part === '{integration}') url += '/rest_api';
    else url += part.startsWith('{') ? `/${idOf(before)}` : `/${part}`;
  }
  return url;
}

/** A valid body for the route, with the owner's ids wherever they fit. */
function bodyOf({ body, example }: ServedRoute): object {
  const { properties = {} } = (body ?? {}) as { properties?: object };
  const known = Object.entries(byName).filter(([name]) => name in properties);
  return { ...example, ...Object.fromEntries(known) };
}

/** A valid body for a path with ids; a new scenario uses the owner's pathway, too. */
function plainBodyOf({ name, example }: ServedRoute): object {
  if (name.includes('/version/')) return { name: 'v', ...graph };
  return name.endsWith('/clone') ? { pathway_id: byName.pathway_id } : example;
}

function ask({ method }: ServedRoute, url: string, body: object): Promise<Answer> {
  const isRead = method === 'GET' || method === 'DELETE';
  return test.call(method, url, { key: test.foreignKey, ...(isRead ? {} : { body }) });
}

/** Rows without an owner, written by any request or by time. */
const ofRequests = /^(api_keys|counters|idempotency_keys|leases)$/;

/** Statements that read the rows of many tables, or name those that have some, prepared: to plan one takes longest. */
let reads: readonly RawBuilder<{ row: string }>[] | null = null;
/** As many as fit in the text of a prepared statement. */
const tablesOfRead = 60;

async function rows(): Promise<ReadonlyMap<string, number>> {
  const { db } = test.control.services.database;
  const found = new Map<string, number>();
  const note = (text: string) => found.set(text, (found.get(text) ?? 0) + 1);
  reads ??= await readsOfTables(db);
  for (const read of reads) {
    for (const { row } of (await read.execute(db)).rows) {
      if (!onSqlite) note(row);
      else {
        const { rows: all } = await sql<object>`select * from ${sql.table(row)}`.execute(db);
        for (const one of all) note(`${row} ${JSON.stringify(one)}`);
      }
    }
  }
  return found;
}

async function readsOfTables(db: Db) {
  const names = (await db.introspection.getTables())
    .map(({ name }) => name)
    .filter((name) => !ofRequests.test(name));
  const rowsOf = (name: string) =>
    onSqlite
      ? `select '${name}' as row where exists (select 1 from "${name}")`
      : `select '${name} ' || one::text as row from "${name}" as one`;
  const parts = Array.from({ length: Math.ceil(names.length / tablesOfRead) }, (_, index) =>
    names.slice(index * tablesOfRead, (index + 1) * tablesOfRead),
  );
  return parts.map((of) => {
    const all = sql.raw(of.map(rowsOf).join(' union all '));
    // Statements without a parameter are not prepared.
    return sql<{ row: string }>`select row from (${all}) as every_row where 1 = ${1}`;
  });
}

/** All rows after the test before: nobody else writes. */
let present: ReadonlyMap<string, number> | null = null;

/** Rows in one set but not in the other. */
function missing(from: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): string[] {
  return [...from].filter(([row, count]) => (other.get(row) ?? 0) < count).map(([row]) => row);
}

/** Unknown ids, where they are not UUIDs. */
const nobodys: Readonly<Record<string, string>> = {
  '/v1/inbound': '+14155550111',
  [`${testing}/templates`]: 'tmpl_happy_path',
  version: '1',
};

/** Lists of an object's parts: empty for an unknown object. */
const empty = new Set(['GET /v1/widget/{id}/threads']);

const names = (list: readonly ServedRoute[]) => list.map((route) => [route.name, route] as const);

describe("a path with the id of another organization's object", () => {
  it('is tried on every route that takes an id', () => {
    expect(withIds.length).toBeGreaterThan(50);
    const unnamed = withIds.map((route) => pathOf(route, (before) => byPath[before] ?? `?${before}`));
    expect(unnamed.filter((url) => url.includes('?'))).toEqual([]);
  });

  it('works for its owner', async () => {
    const gets = withIds.filter(
      ({ method, name }) => method === 'GET' && !/events$|letter$|pcap$|recording$/.test(name),
    );
    const answers = await Promise.all(
      gets.map(async ({ name }, index) => {
        const route = gets[index] as ServedRoute;
        return [
          name,
          (
            await test.call(
              'GET',
              pathOf(route, (before) => byPath[before] ?? ''),
            )
          ).status,
        ];
      }),
    );
    expect(answers.filter(([, status]) => status !== 200)).toEqual([]);
  });

  it.each(names(withIds))('%s answers as for an unknown id, and changes nothing', async (_, route) => {
    const before = present ?? (await rows());
    const owners = pathOf(route, (last) => byPath[last] ?? '');
    const answer = await ask(route, owners, plainBodyOf(route));
    const nobodysPath = pathOf(route, (last) => nobodys[last] ?? unknownId);
    const unknown = await ask(route, nobodysPath, plainBodyOf(route));
    expect([answer.status, answer.codes]).toEqual([empty.has(route.name) ? 200 : 404, unknown.codes]);
    if (empty.has(route.name)) expect(answer.text).toBe(unknown.text);
    expect(answer.text).not.toContain(mark);
    const after = await rows();
    present = after;
    expect([missing(before, after), missing(after, before)]).toEqual([[], []]);
  });
});

describe('a list without any id', () => {
  it('looks the same to a stranger whatever the owner has, counts included', {
    timeout: 30_000,
  }, async () => {
    expect(lists.length).toBeGreaterThan(20);
    // The edge's disconnection may still show.
    await expect.poll(() => snapshot()).toEqual(before);
  });
});

describe("a query or a body with another organization's ids", () => {
  it.each(names(others))('%s shows and changes nothing of it', async (_, route) => {
    const before = present ?? (await rows());
    const query = route.queryNames.flatMap((name) => {
      const value = byName[name];
      return value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`];
    });
    const [, path = ''] = route.name.split(' ');
    const url = path.replace('{integration}', 'rest_api');
    const asked = query.length > 0 ? `${url}?${query.join('&')}` : url;
    const answer = await ask(route, asked, bodyOf(route));
    // No edge is connected.
    if (answer.status !== 503) expect(answer.status).toBeLessThan(500);
    expect(answer.text).not.toContain(mark);
    const after = await rows();
    present = after;
    expect(missing(before, after).filter((row) => !row.includes(test.foreignOrgId))).toEqual([]);
    expect(missing(after, before).filter((row) => row.includes(test.orgId))).toEqual([]);
  });
});
