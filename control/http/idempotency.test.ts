import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectEdge } from '../testing/edge-client.ts';
import { startControl, type TestControl } from '../testing/harness.ts';

let test: TestControl;
beforeEach(async () => {
  test = await startControl();
});
afterEach(() => test.close());

const keyed = (key: string) => ({ 'idempotency-key': key });
const create = (body: object, key: string) =>
  test.call('POST', '/v1/pathway/create', { body, headers: keyed(key) });
const pathways = async () => (await test.call('GET', '/v1/pathway')).body as unknown as { id: string }[];

/** The database as a crash leaves it between the work under `key` and its answer. */
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
  it('is found again by a body with its properties in another order', async () => {
    const first = await create({ name: 'Menu', description: 'One' }, 'k');
    const again = await create({ description: 'One', name: 'Menu' }, 'k');
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body).toEqual(first.body);
  });

  it('is never an answer that a later moment would change: 429 and 503', async () => {
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

describe('work that a crash cut off from its answer', () => {
  it('is not done twice where its row is found by the key', async () => {
    const first = await create({ name: 'Menu' }, 'k');
    await cutOff('/v1/pathway/create', 'k', String(first.body.pathway_id));
    const again = await create({ name: 'Menu' }, 'k');
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.headers['idempotent-replayed']).toBeUndefined();
    expect(await pathways()).toHaveLength(1);
    expect((await create({ name: 'Menu' }, 'k')).headers['idempotent-replayed']).toBe('true');
    expect(await begun()).toEqual([]);
  });

  it('is done when it had not come as far as its row', async () => {
    const first = await create({ name: 'Menu' }, 'k');
    const id = String(first.body.pathway_id);
    await test.call('DELETE', `/v1/pathway/${id}`);
    await cutOff('/v1/pathway/create', 'k', id);
    expect((await create({ name: 'Menu' }, 'k')).body).toEqual(first.body);
    expect(await pathways()).toHaveLength(1);
  });

  it('is a conflict for another body, and where nobody knows how far the work came', async () => {
    const make = (name: string) => test.call('POST', '/v1/personas', { body: { name }, headers: keyed('k') });
    await make('Ann');
    await cutOff('/v1/personas', 'k', 'some-id');
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

  it('never calls anybody a second time', async () => {
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
