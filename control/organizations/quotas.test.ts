import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { order } from '../../test/kit/control/porting.ts';
import { routesOfFile } from '../../test/kit/control/routes-of-file.ts';
import { makePathway, makeWidget, origin } from '../../test/kit/control/widgets.ts';

const test = routesOfFile({
  QUOTAS:
    'pathways=2, pathwayVersions=1, graphBytes=1048576, tools=1, personas=1, widgets=1, openThreads=1, ' +
    'scenarios=1, integrationResources=1, chats=1, waitingRuns=3',
});

const node = (text: string) => ({
  nodes: [{ id: 'a', type: 'Default', data: { name: 'a', text: 'Hi', isStart: true, more: text } }],
  edges: [],
});

/** Status codes of the same request sent twice, and the second's error. */
async function twice(url: string, body: object) {
  const first = await test.call('POST', url, { body });
  const second = await test.call('POST', url, { body });
  return [first.status, second.status, second.body.errors?.[0]?.details];
}

describe('a quota', () => {
  it('applies per organization and per kind', async () => {
    const pathway_id = await makePathway(test);
    expect(await twice('/v1/pathway/create', { name: 'x' })).toEqual([
      200,
      409,
      { quota: 'pathways', limit: 2 },
    ]);
    const tool = {
      name: 't',
      description: 'd',
      integration: 'custom-code',
      action: 'run_javascript',
      body: { code: '1' },
    };
    expect(await twice('/v2/tools', tool)).toEqual([200, 409, { quota: 'tools', limit: 1 }]);
    expect(await twice('/v1/personas', { name: 'Pia' })).toEqual([200, 409, { quota: 'personas', limit: 1 }]);
    expect(await twice('/v1/widget', { name: 'w', pathway_id })).toEqual([
      200,
      409,
      { quota: 'widgets', limit: 1 },
    ]);
    expect(await twice(`/v1/pathway/${pathway_id}/version`, { name: 'v', ...node('') })).toEqual([
      200,
      409,
      { quota: 'pathwayVersions', limit: 1 },
    ]);
    const other = { key: test.foreignKey, body: { name: 'x' } };
    expect((await test.call('POST', '/v1/pathway/create', other)).status).toBe(200);
    const metrics = await test.call('GET', '/metrics', { key: test.operatorKey });
    expect(metrics.text).toContain('trunkline_control_quota_refused_total{quota="pathways"} 1');
  });

  it('of open threads of a widget is freed when one ends', async () => {
    const widget = await makeWidget(test);
    const threads = `${widget}/threads`;
    const first = await test.call('POST', threads, { body: {} });
    expect((await test.call('POST', threads, { body: {} })).codes).toEqual(['QUOTA_EXCEEDED']);
    const id = String(first.body.data?.thread?.id);
    await test.call('POST', `${threads}/${id}/end`, { body: {} });
    expect((await test.call('POST', threads, { body: {} })).status).toBe(200);
  });

  it('of graphs counts live ones and versions, and lets them shrink', async () => {
    const url = `/v1/pathway/${await makePathway(test)}`;
    const big = node('x'.repeat(9000));
    const others = Array.from({ length: 10 }, (_, index) => ({
      id: `n${index}`,
      type: 'Default',
      data: { name: 'n', text: 'Hi', rest: Array(6).fill('y'.repeat(9000)) },
    }));
    const wide = { nodes: [...big.nodes, ...others], edges: [] };
    expect((await test.call('POST', url, { body: wide })).status).toBe(200);
    const refused = await test.call('POST', `${url}/version`, { body: { name: 'v', ...wide } });
    expect([refused.status, refused.body.errors?.[0]?.details]).toEqual([
      409,
      { quota: 'graphBytes', limit: 1_048_576 },
    ]);
    expect((await test.call('POST', url, { body: big })).status).toBe(200);
  });
});

describe('a quota of numbers', () => {
  let few: TestControl;
  beforeEach(async () => {
    few = await startRoutes({ QUOTAS: 'numbers=2' });
  });
  afterEach(() => few.close());
  const attach = (numbers: readonly string[], key = few.key) =>
    few.call('POST', '/v1/sip/attach', { key, body: { phone_numbers: numbers, directions: ['inbound'] } });
  const detach = (phone_number: string) =>
    few.call('POST', '/v1/sip/detach', { body: { phone_number, directions: ['inbound'] } });
  const [one, two, three] = ['+12125550190', '+12125550191', '+12125550192'];
  const initiate = (phone_numbers: readonly string[]) =>
    few.call('POST', '/v1/sip/port/initiate', { body: order(phone_numbers) });

  it('fails the number above it alone, and accepts it once another is released', async () => {
    const { status, body } = await attach([one, two, three]);
    expect([status, body.data]).toMatchObject([
      200,
      { configured: [one, two], failed: [{ phone_number: three, error: 'QUOTA_EXCEEDED' }] },
    ]);
    expect((await attach([one, two])).body.data?.failed).toEqual([]);
    expect((await attach([three], few.foreignKey)).body.data?.failed).toEqual([]);
    await detach(two);
    expect((await attach(['+12125550193'])).body.data?.configured).toEqual(['+12125550193']);
    const metrics = await few.call('GET', '/metrics', { key: few.operatorKey });
    expect(metrics.text).toContain('trunkline_control_quota_refused_total{quota="numbers"} 1');
  });

  it('counts numbers being ported, which reserve room', async () => {
    await attach([one]);
    const tooMany = await initiate([two, three]);
    expect([tooMany.status, tooMany.codes, tooMany.body.errors?.[0]?.details]).toEqual([
      409,
      ['QUOTA_EXCEEDED'],
      { quota: 'numbers', limit: 2 },
    ]);
    const port = await initiate([two]);
    expect(port.status).toBe(200);
    expect((await attach([three])).body.data?.failed).toMatchObject([{ error: 'QUOTA_EXCEEDED' }]);
    expect((await attach([two])).body.data?.configured).toEqual([two]);
    await few.call('DELETE', `/v1/sip/port/${String(port.body.data?.port_request_id)}`);
    await detach(two);
    expect((await attach([three])).body.data?.configured).toEqual([three]);
  });
});

describe('a quota of open threads', () => {
  let few: TestControl;
  beforeEach(async () => {
    few = await startRoutes({
      QUOTAS: 'openThreadsOfVisitor=2, openThreadsOfAddress=3',
      TRUSTED_PROXIES: '127.0.0.0/8',
    });
  });
  afterEach(() => few.close());

  it('applies per visitor of one widget', async () => {
    const widget = await makeWidget(few);
    const begin = (visitor_id: string, at = widget) =>
      few.call('POST', `${at}/threads`, { body: { visitor_id } });
    const [ann, bob] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'];
    const first = await begin(ann);
    await begin(ann);
    const refused = await begin(ann);
    expect([refused.status, refused.codes, refused.body.errors?.[0]?.details]).toEqual([
      409,
      ['QUOTA_EXCEEDED'],
      { quota: 'openThreadsOfVisitor', limit: 2 },
    ]);
    expect((await begin(bob)).status).toBe(200);
    expect((await begin(ann, await makeWidget(few))).status).toBe(200);
    await few.call('POST', `${widget}/threads/${String(first.body.data?.thread?.id)}/end`, { body: {} });
    expect((await begin(ann)).status).toBe(200);
    const metrics = await few.call('GET', '/metrics', { key: few.operatorKey });
    expect(metrics.text).toContain('trunkline_control_quota_refused_total{quota="openThreadsOfVisitor"} 1');
  });

  it('applies per client address, an IPv6 network as a whole; the address is not stored', async () => {
    const widget = await makeWidget(few);
    const session = (address: string, at = widget) =>
      few.call('POST', `${at}/session`, {
        key: null,
        body: {},
        headers: { origin, 'x-forwarded-for': address },
      });
    const statuses: number[] = [];
    for (const host of ['1', '2', '3:4', 'ffff']) statuses.push((await session(`2001:db8::${host}`)).status);
    expect(statuses).toEqual([200, 200, 200, 409]);
    const refused = await session('2001:db8::5');
    expect(refused.body.errors?.[0]?.details).toEqual({ quota: 'openThreadsOfAddress', limit: 3 });
    expect((await session('2001:db8:0:1::1')).status).toBe(200);
    expect((await session('2001:db8::5', await makeWidget(few))).status).toBe(200);
    // The holder of the key acts for many clients.
    expect((await few.call('POST', `${widget}/threads`, { body: {} })).status).toBe(200);
    const stored = await few.control.services.database.db.selectFrom('widget_threads').selectAll().execute();
    expect(JSON.stringify(stored)).not.toContain('2001:db8');
    few.clock.advance(86_400_000);
    expect((await session('2001:db8::1')).status).toBe(200);
  });
});

describe('lists whose default page is the largest', () => {
  it('are complete and in order', async () => {
    expect((await test.call('GET', '/v1/pathway')).body).toEqual([]);
    const old = await makePathway(test);
    test.clock.advance(1000);
    const young = await makePathway(test);
    const { headers, body } = await test.call('GET', '/v1/pathway');
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    const one = await test.call('GET', `/v1/pathway/${young}`);
    const other = await test.call('GET', `/v1/pathway/${old}`);
    expect(body).toEqual([one.body, other.body]);
    expect((await test.call('GET', '/v1/inbound')).body).toEqual({ inbound_numbers: [] });
    const numbers = Array.from({ length: 205 }, (_, index) => `+1415555${1000 + index}`);
    const { db } = test.control.services.database;
    const { holdNumber } = await import('../numbers/store.ts');
    for (const number of numbers) await holdNumber(db, test.orgId, number, '2030-01-01T00:00:00.000Z');
    const page = await test.call('GET', '/v1/inbound?limit=5&offset=203');
    expect(page.headers['x-total-count']).toBe('205');
    expect(page.body.inbound_numbers).toMatchObject(
      numbers.slice(203).map((phone_number) => ({ phone_number })),
    );
    const held = (await test.call('GET', '/v1/inbound')).body.inbound_numbers as unknown;
    expect((held as { phone_number: string }[]).map((row) => row.phone_number)).toEqual(numbers);
  });
});
