import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { PathwayList } from '#shared/api/pathways.ts';
import { AdminPortOne } from '#shared/api/porting.ts';
import { connectEdge } from '../../test/kit/control/edge-client.ts';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { initiate, order, sign } from '../../test/kit/control/porting.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { makePathway, makeWidget } from '../../test/kit/control/widgets.ts';
import { failInserts } from '../../test/kit/db/failing-writes.ts';
import { createApiKey } from '../organizations/store.ts';

const test = emptiedForEach(startRoutes);

const keyed = (key: string) => ({ 'idempotency-key': key });
const create = (body: object, key: string) =>
  test.call('POST', '/v1/pathway/create', { body, headers: keyed(key) });
const pathways = async () => (await test.call('GET', '/v1/pathway')).read(PathwayList);

/** The database as a crash leaves it between the work under `key` and its response. */
async function cutOff(path: string, key: string, workId: string): Promise<void> {
  const { db } = test.control.services.database;
  const answer = await db
    .deleteFrom('idempotent_answers')
    .where('key', '=', key)
    .returningAll()
    .executeTakeFirstOrThrow();
  await db
    .insertInto('idempotent_work')
    .values({
      org_id: test.orgId,
      path,
      key,
      body_hash: answer.body_hash,
      work_id: workId,
      instance: 'ended',
      created_at: answer.created_at,
    })
    .execute();
}

const begun = () => test.control.services.database.db.selectFrom('idempotent_work').selectAll().execute();

describe('what is kept under an Idempotency-Key', () => {
  it('matches a body with its properties in another order', async () => {
    const first = await create({ name: 'Menu', description: 'One' }, 'k');
    const again = await create({ description: 'One', name: 'Menu' }, 'k');
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body).toEqual(first.body);
  });

  it('is never a temporary response: 429 and 503', async () => {
    await test.call('POST', '/v1/sip/attach', {
      body: {
        phone_number: '+14155550100',
        directions: [{ type: 'outbound', sip_endpoint: 'trunk.example.com' }],
      },
    });
    const order = { phone_number: '+14155550123', task: 'Say hello.' };
    const call = (key: string) => test.call('POST', '/v1/calls', { body: order, headers: keyed(key) });
    expect((await call('first')).status).toBe(503);
    const edge = await connectEdge(test);
    await edge.next('config');
    const placed = call('first');
    const { id } = await edge.next('command');
    edge.send({ type: 'result', id, ok: true });
    expect((await placed).status).toBe(200);
    expect((await call('second')).status).toBe(429);
    test.clock.advance(10_000);
    const later = call('second');
    const { id: laterId } = await edge.next('command');
    edge.send({ type: 'result', id: laterId, ok: true });
    expect((await later).status).toBe(200);
    expect((await later).headers['idempotent-replayed']).toBeUndefined();
    expect(await begun()).toEqual([]);
    await edge.kill();
  });
});

describe('work that a crash cut off from its response', () => {
  it('is not repeated where its row is found by the key', async () => {
    const first = await create({ name: 'Menu' }, 'k');
    await cutOff('/v1/pathway/create', 'k', String(first.body.pathway_id));
    const again = await create({ name: 'Menu' }, 'k');
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.headers['idempotent-replayed']).toBeUndefined();
    expect(await pathways()).toHaveLength(1);
    expect((await create({ name: 'Menu' }, 'k')).headers['idempotent-replayed']).toBe('true');
    expect(await begun()).toEqual([]);
  });

  it('is done when its row was not yet written', async () => {
    const first = await create({ name: 'Menu' }, 'k');
    const id = String(first.body.pathway_id);
    await test.call('DELETE', `/v1/pathway/${id}`);
    await cutOff('/v1/pathway/create', 'k', id);
    expect((await create({ name: 'Menu' }, 'k')).body).toEqual(first.body);
    expect(await pathways()).toHaveLength(1);
  });

  it('is a conflict for another body, and where its progress is unknown', async () => {
    const pathway_id = String((await create({ name: 'Menu' }, 'menu')).body.pathway_id);
    const make = (name: string) =>
      test.call('POST', '/v1/pathway/chat/create', {
        body: { pathway_id, request_data: { name } },
        headers: keyed('k'),
      });
    await make('Ann');
    await cutOff('/v1/pathway/chat/create', 'k', 'some-id');
    const unknown = await make('Ann');
    expect([unknown.status, unknown.codes]).toEqual([409, ['IDEMPOTENCY_CONFLICT']]);
    expect(unknown.body.errors).toMatchObject([
      {
        details: { outcome: 'unknown', begun_at: new Date(test.clock.now()).toISOString() },
        message: expect.stringContaining('may or may not'),
      },
    ]);
    expect((await make('Bob')).body.errors).toMatchObject([
      { code: 'IDEMPOTENCY_CONFLICT', message: expect.stringContaining('another body') },
    ]);
    test.clock.advance(24 * 60 * 60 * 1000);
    expect((await make('Ann')).status).toBe(200);
  });

  it('is done where nothing was done: the response is kept with the work or not at all', async () => {
    const make = (body: object) => test.call('POST', '/v1/personas', { body, headers: keyed('k') });
    const first = await make({ name: 'Ann' });
    expect((await make({ name: 'Ann' })).headers['idempotent-replayed']).toBe('true');
    await test.call('DELETE', `/v1/personas/${String(first.body.data?.id)}`);
    await cutOff('/v1/personas', 'k', 'some-id');
    const again = await make({ name: 'Ann' });
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([200, undefined]);
    expect(again.body.data?.id).not.toBe(first.body.data?.id);
    expect((await make({ name: 'Ann' })).body).toEqual(again.body);
    expect(await begun()).toEqual([]);
  });

  it('is repeated where repeating changes nothing', async () => {
    const number = { phone_number: '+14155550100', directions: ['inbound'] };
    const attach = () => test.call('POST', '/v1/sip/attach', { body: number, headers: keyed('k') });
    const first = await attach();
    await cutOff('/v1/sip/attach', 'k', 'some-id');
    const again = await attach();
    expect([again.status, again.body, again.headers['idempotent-replayed']]).toEqual([
      200,
      first.body,
      undefined,
    ]);
    const { body } = await test.call('GET', '/v1/sip?phone_number=14155550100');
    expect(body.data?.configurations).toHaveLength(1);
  });

  it('never places a call twice', async () => {
    const edge = await connectEdge(test);
    await edge.next('config');
    await test.call('POST', '/v1/sip/attach', {
      body: {
        phone_number: '+14155550100',
        directions: [{ type: 'outbound', sip_endpoint: 'trunk.example.com' }],
      },
    });
    const body = { phone_number: '+14155550123', task: 'Say hello.' };
    const call = () => test.call('POST', '/v1/calls', { body, headers: keyed('k') });
    const placed = call();
    const { id, command } = await edge.next('command');
    edge.send({ type: 'result', id, ok: true });
    const first = await placed;
    const callId = String(first.body.call_id);
    expect(command).toMatchObject({ kind: 'call.place', call_id: callId });
    await cutOff('/v1/calls', 'k', callId);
    test.clock.advance(60_000);
    expect((await call()).body).toEqual(first.body);
    const calls = await test.control.services.database.db.selectFrom('calls').select('id').execute();
    expect(calls).toEqual([{ id: callId }]);
    await edge.kill();
  });
});

const tool = {
  name: 't',
  description: 'd',
  integration: 'custom-code',
  action: 'run_javascript',
  body: { code: '1' },
};
const graph = { nodes: [{ id: 'a', type: 'Default', data: { text: 'Hi', isStart: true } }], edges: [] };

describe('a response kept in the transaction of its work', () => {
  const atomic: readonly (readonly [
    string,
    (test: TestControl) => Promise<[path: string, body: object, key?: string]>,
  ])[] = [
    ['a persona', async () => ['/v1/personas', { name: 'Ann' }]],
    ['a tool', async () => ['/v2/tools', tool]],
    ['a version', async (one) => [`/v1/pathway/${await makePathway(one)}/version`, { name: 'v', ...graph }]],
    ['a widget', async (one) => ['/v1/widget', { name: 'w', pathway_id: await makePathway(one) }]],
    ['a thread', async (one) => [`${await makeWidget(one)}/threads`, {}]],
    ['a port', async () => ['/v1/sip/port/initiate', order(['+12125550190'])]],
    ['a secret', async () => ['/v1/org/webhook-secret', {}]],
    [
      'a move of a port by an operator',
      async (one) => {
        const { id, path } = await initiate(one, order(['+12125550190']));
        await sign(one, path);
        return [`/v1/admin/ports/${id}/status`, { status: 'in_progress' }, one.operatorKey];
      },
    ],
  ];

  /** Every row except those that any request writes. */
  /** Their rows change with time alone. */
  const withTimes = ['api_keys', 'leases'];
  const rows = async () => {
    const { db } = test.control.services.database;
    const names = (await db.introspection.getTables()).map(({ name }) => name);
    const found: Record<string, unknown[]> = {};
    for (const name of names.filter((one) => !withTimes.includes(one))) {
      const { rows } = await sql`select * from ${sql.table(name)} order by 1, 2`.execute(db);
      if (rows.length > 0) found[name] = rows;
    }
    return found;
  };

  it.each(atomic)('is committed or rolled back with %s', async (_, prepare) => {
    const [path, body, key = test.key] = await prepare(test);
    const post = () => test.call('POST', path, { key, body, headers: keyed('k') });
    const before = await rows();
    // The disk is full, or the program ends, when the response is written: the work is rolled back too.
    const succeed = await failInserts(test.control.services.database.db, 'idempotent_answers');
    expect((await post()).status).toBe(500);
    await succeed();
    expect(await rows()).toEqual(before);
    const first = await post();
    expect([first.status, first.headers['idempotent-replayed']]).toEqual([200, undefined]);
    const done = await rows();
    expect(done).not.toEqual(before);
    const again = await post();
    expect([again.status, again.headers['idempotent-replayed'], again.body]).toEqual([
      200,
      'true',
      first.body,
    ]);
    expect(await rows()).toEqual(done);
  });
});

describe("an operator's key", () => {
  it('is accepted, and scoped to the operator who sent it', async () => {
    const { id, path } = await initiate(test, order(['+12125550190']));
    await sign(test, path);
    const { db } = test.control.services.database;
    const other = await createApiKey(db, test.clock, { kind: 'operator' }, 'another');
    const url = `/v1/admin/ports/${id}/status`;
    const post = (status: string, key = test.operatorKey) =>
      test.call('POST', url, { key, body: { status, reason: 'r' }, headers: keyed('k') });
    const first = await post('in_progress');
    expect(first.body.data?.port_request?.status).toBe('in_progress');
    const again = await post('in_progress');
    expect([again.body, again.headers['idempotent-replayed']]).toEqual([first.body, 'true']);
    expect((await post('failed')).codes).toEqual(['IDEMPOTENCY_CONFLICT']);
    expect((await post('failed', other)).body.data?.port_request?.status).toBe('failed');
    // The first response is returned, whatever has changed since.
    expect((await post('in_progress')).body).toEqual(first.body);
    const { history } = first.read(AdminPortOne).data.port_request;
    const rows = await db.selectFrom('port_history').select('id').where('request_id', '=', id).execute();
    expect(rows).toHaveLength(history.length + 1);
  });

  it('must have the same form as customers’ keys', async () => {
    const headers = keyed('x'.repeat(256));
    const url = '/v1/admin/ports/port_1/status';
    const refused = await test.call('POST', url, {
      key: test.operatorKey,
      body: { status: 'failed', reason: 'r' },
      headers,
    });
    expect([refused.status, refused.body.errors?.[0]?.details]).toMatchObject([
      400,
      { path: '@idempotency-key' },
    ]);
  });
});
