/** The operator's endpoints for edges, and what a connected edge gets from them. */
import { beforeEach, describe, expect, it } from 'vitest';
import { EdgeList, EdgeOne, Proxies } from '#shared/api/edges.ts';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { callRecord, connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { startControl } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';

const test = emptiedForEach(() => startControl({ ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' }));

const asOperator = (method: 'GET' | 'PATCH' | 'PUT' | 'DELETE', url: string, body?: unknown) =>
  test.call(method, url, { key: test.operatorKey, ...(body !== undefined && { body }) });

const patch = async (id: string, body: unknown) =>
  (await asOperator('PATCH', `/v1/admin/edges/${id}`, body)).read(EdgeOne).data.edge;

const status = (edge: EdgeClient, metrics: Record<string, number>) => edge.send({ type: 'status', metrics });

/** The edge's view, once control has handled what the edge sent. */
async function seen(id: string, isWished: (edge: Awaited<ReturnType<typeof patch>>) => boolean) {
  return expect.poll(async () => {
    const { edge } = (await asOperator('GET', `/v1/admin/edges/${id}`)).read(EdgeOne).data;
    return isWished(edge);
  });
}

it('lists every edge that ever connected, in pages, with what it reports', async () => {
  const first = await connectEdge(test, { edge_id: 'a', outbox_id: 'oa', software: 'Trunkline/1' });
  const second = await connectEdge(test, { edge_id: 'b', outbox_id: 'ob' });
  status(first, {
    trunkline_edge_calls: 7,
    trunkline_edge_calls_most: 50,
    trunkline_edge_engine_up: 1,
    trunkline_edge_host_load: 0.4,
    trunkline_edge_rtp_ports: 1000,
    trunkline_edge_rtp_ports_in_use: 14,
    trunkline_engine_certificate_expires_seconds: 1_900_000_000,
    trunkline_engine_certificate_other_host: 1,
  });
  status(second, { trunkline_edge_engine_up: 0, trunkline_edge_storage_failing: 1 });
  await (await seen('b', ({ disk }) => disk === 'failing')).toBe(true);
  await second.close();
  await (await seen('b', ({ connected }) => !connected)).toBe(true);
  const { edges, total_count } = (await asOperator('GET', '/v1/admin/edges')).read(EdgeList).data;
  expect(total_count).toBe(2);
  expect(edges).toMatchObject([
    {
      id: 'a',
      software: 'Trunkline/1',
      region: null,
      weight: 100,
      draining: false,
      connected: true,
      takes_calls: true,
      calls: 7,
      load: { most_calls: 50, rtp_ports: 1000, rtp_ports_in_use: 14, host_load: 0.4 },
      engine: 'up',
      disk: 'ok',
      certificate: { expires_at: '2030-03-17T17:46:40.000Z', other_host: true },
      sip: { host: 'edge.example.com', port: 5061, wss_url: null },
    },
    {
      id: 'b',
      connected: false,
      connected_since: null,
      takes_calls: null,
      calls: null,
      load: null,
      engine: null,
      certificate: null,
    },
  ]);
  const page = await asOperator('GET', '/v1/admin/edges?limit=1&offset=1');
  expect(page.read(EdgeList).data.edges.map(({ id }) => id)).toEqual(['b']);
});

it.each([
  ['older', undefined],
  ['same', edgeProtocol.revision],
  ['newer', edgeProtocol.revision + 1],
] as const)('says of an edge that its version is %s', async (version, revision) => {
  const edge = await connectEdge(test, { edge_id: 'a', ...(revision !== undefined && { revision }) });
  await (await seen('a', (view) => view.version === null)).toBe(true);
  status(edge, {
    trunkline_edge_engine_up: 1,
    ...(revision !== undefined && { trunkline_edge_protocol_revision: revision }),
  });
  await (await seen('a', (view) => view.version === version)).toBe(true);
  const { edge: view } = (await asOperator('GET', '/v1/admin/edges/a')).read(EdgeOne).data;
  // Edges of earlier versions do not report it.
  expect(view.load).toEqual({ most_calls: null, rtp_ports: null, rtp_ports_in_use: null, host_load: null });
});

it('needs an operator key', async () => {
  for (const [method, url] of [
    ['GET', '/v1/admin/edges'],
    ['GET', '/v1/admin/edges/a'],
    ['PATCH', '/v1/admin/edges/a'],
    ['DELETE', '/v1/admin/edges/a'],
    ['GET', '/v1/admin/proxies'],
    ['PUT', '/v1/admin/proxies'],
  ] as const) {
    const body = method === 'GET' ? {} : { body: {} };
    expect(await test.call(method, url, body)).toMatchObject({ status: 403 });
  }
});

describe('an edge that is gone for good', () => {
  const remove = () => asOperator('DELETE', '/v1/admin/edges/a');
  const fleet = () => test.control.services.fleet.members;

  it('is removed 30 s after it was disconnected, with its running calls and its place in the fleet', async () => {
    const edge = await connectEdge(test, { edge_id: 'a', fleet: true });
    const open = { ended_at: null, termination: null, hangup_by: null, media: null, sip_code: null };
    const call = callRecord(test.orgId, { ...open, status: 'in-progress' });
    edge.send(reportFrame(1, [{ type: 'call', call }]));
    await edge.next('ack');
    await expect.poll(fleet).toEqual(['a']);
    await patch('a', { weight: 7, draining: true });
    const { db } = test.control.services.database;
    await db.updateTable('edges').set({ last_seen_at: '2020-01-01T00:00:00.000Z' }).execute();
    expect((await remove()).codes).toEqual(['EDGE_CONNECTED']);
    await edge.close();
    await (await seen('a', ({ connected }) => !connected)).toBe(true);
    const last_seen_at = new Date(test.clock.now()).toISOString();
    await db.updateTable('edges').set({ last_seen_at }).execute();
    expect((await remove()).codes).toEqual(['EDGE_CONNECTED']);
    test.clock.advance(31_000);
    expect(await remove()).toMatchObject({ status: 200, body: { data: { id: 'a' } } });
    expect((await remove()).codes).toEqual(['EDGE_NOT_FOUND']);
    expect((await asOperator('GET', '/v1/admin/edges')).body.data).toEqual({ edges: [], total_count: 0 });
    await expect.poll(fleet).toEqual([]);
    const { body } = await test.call('GET', '/v1/sip/calls');
    expect(body.data?.calls).toMatchObject([{ id: call.id, termination: 'edge_lost' }]);
  });

  it('is a new one when it comes back, and its reports from before are stored once', async () => {
    const edge = await connectEdge(test, { edge_id: 'a' });
    const frame = reportFrame(1, [{ type: 'trace', call_id: 'c', messages: [], truncated: false }]);
    edge.send(frame);
    await edge.next('ack');
    await patch('a', { weight: 7, draining: true });
    await edge.close();
    await (await seen('a', ({ connected }) => !connected)).toBe(true);
    test.clock.advance(60_000);
    expect(await remove()).toMatchObject({ status: 200 });
    const again = await connectEdge(test, { edge_id: 'a' });
    expect(await again.next('welcome')).toMatchObject({ acknowledged: 1 });
    expect((await again.next('config')).config).toMatchObject({ draining: false });
    await (await seen('a', ({ weight, draining }) => weight === 100 && !draining)).toBe(true);
    await again.close();
  });
});

describe('draining', () => {
  it('reaches the edge as a change, is confirmed, and is on record', async () => {
    const edge = await connectEdge(test, { edge_id: 'a' });
    expect((await edge.next('config')).config).toMatchObject({ draining: false, trusted_proxies: [] });
    const drained = await patch('a', { draining: true });
    // It is drained only once the edge says so.
    expect(drained).toMatchObject({ draining: true, takes_calls: null });
    expect(drained.draining_since).not.toBeNull();
    const { change } = await edge.next('change');
    expect(change).toMatchObject({ draining: true, numbers: [] });
    expect(change).not.toHaveProperty('trusted_proxies');
    edge.send({ type: 'applied', version: change.version });
    status(edge, { trunkline_edge_draining: 1, trunkline_edge_calls: 0 });
    await (await seen('a', ({ takes_calls }) => takes_calls === false)).toBe(true);
    const { edge: confirmed } = (await asOperator('GET', '/v1/admin/edges/a')).read(EdgeOne).data;
    expect(confirmed).toMatchObject({ calls: 0, config_version: change.version });
    test.clock.advance(1000);
    expect((await patch('a', { draining: true })).draining_since).toBe(drained.draining_since);
    expect(await patch('a', { draining: false })).toMatchObject({ draining: false, draining_since: null });
    expect((await edge.next('change')).change).toMatchObject({ draining: false });
    const { body } = await asOperator('GET', '/v1/admin/audit?area=edges');
    expect(body.data?.entries).toMatchObject([
      { subject_id: 'a', action: 'update', changed_fields: ['draining_since'] },
      { subject_id: 'a', action: 'update', changed_fields: ['draining_since'] },
    ]);
  });

  it('is only for that edge, and is sent again when it connects again', async () => {
    const one = await connectEdge(test, { edge_id: 'a', outbox_id: 'oa' });
    const other = await connectEdge(test, { edge_id: 'b', outbox_id: 'ob' });
    await patch('a', { draining: true });
    expect((await other.next('change')).change).not.toHaveProperty('draining');
    await one.kill();
    const again = await connectEdge(test, { edge_id: 'a', outbox_id: 'oa' });
    expect((await again.next('config')).config).toMatchObject({ draining: true });
    expect((await other.next('config')).config).toMatchObject({ draining: false });
  });

  it('keeps outbound calls and health away from the edge at once, before it reports anything', async () => {
    await connectEdge(test, { edge_id: 'a', outbox_id: 'oa' });
    await connectEdge(test, { edge_id: 'b', outbox_id: 'ob' });
    const { edges } = test.control.services;
    await patch('a', { draining: true });
    await expect.poll(() => edges.draining.map(({ edgeId }) => edgeId)).toEqual(['a']);
    expect(edges.leastLoaded().edgeId).toBe('b');
    const { body } = await test.call('GET', '/health', { key: null });
    expect(body).toMatchObject({ edge: { draining: ['a'] } });
    await patch('b', { draining: true });
    await expect.poll(() => edges.draining.length).toBe(2);
    expect(() => edges.leastLoaded()).toThrow('No edge takes calls: all connected edges are draining.');
  });

  it('of an unknown edge answers 404, and bad values 400', async () => {
    expect(await asOperator('PATCH', '/v1/admin/edges/x', { draining: true })).toMatchObject({ status: 404 });
    await connectEdge(test, { edge_id: 'a' });
    for (const body of [{ weight: 1001 }, { weight: -1 }, { region: '' }, { draining: 1 }, { x: 1 }])
      expect(await asOperator('PATCH', '/v1/admin/edges/a', body)).toMatchObject({ status: 400 });
  });
});

describe('outbound calls', () => {
  const number = '+14155550100';

  async function placeTo(to: string): Promise<number> {
    const order = { phone_number: to, from: number, task: 'Say hello' };
    return (await test.call('POST', '/v1/calls', { body: order })).status;
  }

  const isPlaced = (edge: EdgeClient) => edge.untaken.filter(({ type }) => type === 'command').length;

  beforeEach(async () => {
    await test.call('POST', '/v1/sip/attach', {
      body: { phone_number: number, directions: [{ type: 'outbound', sip_endpoint: '127.0.0.1' }] },
    });
  });

  /** Accepts every command. */
  async function answering(edge_id: string): Promise<{ readonly calls: () => number }> {
    const edge = await connectEdge(test, { edge_id, outbox_id: `outbox-${edge_id}` });
    let calls = 0;
    void (async () => {
      for (;;) {
        const command = await edge.next('command');
        calls++;
        edge.send({ type: 'result', id: command.id, ok: true });
      }
    })().catch(() => undefined);
    return { calls: () => calls };
  }

  it('go to the edges by weight, also in a burst between two reports', async () => {
    const [a, b] = [await answering('a'), await answering('b')];
    await patch('a', { weight: 300 });
    await expect
      .poll(() => test.control.services.edges.all.map(({ plan }) => plan.weight).sort())
      .toEqual([100, 300]);
    for (let call = 0; call < 8; call++) expect(await placeTo(`+1415555020${call}`)).toBe(200);
    expect([a.calls(), b.calls()]).toEqual([6, 2]);
  });

  it('leave from the region of the organization, or of the number; strictly if it says so', async () => {
    const [home, away] = [await answering('home'), await answering('away')];
    await patch('home', { region: 'test' });
    await patch('away', { region: 'far' });
    const regions = () => test.control.services.edges.all.map(({ plan }) => plan.region).sort();
    await expect.poll(regions).toEqual(['far', 'test']);
    expect(await placeTo('+14155550201')).toBe(200);
    expect(await placeTo('+14155550202')).toBe(200);
    expect([home.calls(), away.calls()]).toEqual([2, 0]);
    const config = (region_config: unknown) =>
      test.call('PATCH', '/v1/sip/config', {
        body: { phone_number: number, direction: 'outbound', region_config },
      });
    const { body } = await config({ region: 'far' });
    expect(body.data).toMatchObject({ region_config: { region: 'far', strict: false } });
    expect(await placeTo('+14155550203')).toBe(200);
    expect([home.calls(), away.calls()]).toEqual([2, 1]);
    await config({ region: 'nowhere' });
    expect(await placeTo('+14155550204')).toBe(200);
    await config({ strict: true });
    const refused = await test.call('POST', '/v1/calls', {
      body: { phone_number: '+14155550205', from: number, task: 'Say hello' },
    });
    expect(refused.status).toBe(503);
    expect(refused.text).toContain('No edge of the region \\"nowhere\\" takes calls.');
    await config(null);
    expect(await placeTo('+14155550206')).toBe(200);
    const inbound = { phone_number: number, direction: 'inbound', region_config: { region: 'far' } };
    expect(await test.call('PATCH', '/v1/sip/config', { body: inbound })).toMatchObject({ status: 400 });
  });

  it('are not sent to edges whose disk is full or that drain', async () => {
    const edge = await connectEdge(test, { edge_id: 'full' });
    status(edge, { trunkline_edge_storage_refuses_calls: 1 });
    await (await seen('full', ({ disk }) => disk === 'refusing_calls')).toBe(true);
    expect(await placeTo('+14155550207')).toBe(503);
    expect(isPlaced(edge)).toBe(0);
  });
});

it('firewall addresses are those of the edges of the region, connected or restarting', async () => {
  const rtp = (ip: string) => ({ rtp: { ip, port_min: 1, port_max: 2 } });
  const home = await connectEdge(test, { edge_id: 'a', outbox_id: 'oa', ...rtp('192.0.2.1') });
  await connectEdge(test, { edge_id: 'b', outbox_id: 'ob', ...rtp('192.0.2.2') });
  await connectEdge(test, { edge_id: 'c', outbox_id: 'oc', ...rtp('192.0.2.3') });
  await patch('a', { region: 'test' });
  await patch('b', { region: 'far' });
  await home.close();
  const addresses = async () => (await test.call('GET', '/v1/sip/firewall-ips')).body.data;
  expect(await addresses()).toMatchObject({ region: 'test', ip_addresses: ['192.0.2.1', '192.0.2.3'] });
  test.clock.advance(8 * 86_400_000);
  expect(await addresses()).toMatchObject({ ip_addresses: [] });
});

describe('trusted proxies', () => {
  it('are sent to every edge, and replaced as a whole', async () => {
    const edge = await connectEdge(test, { edge_id: 'a' });
    await edge.next('config');
    const set = async (addresses: string[]) =>
      (await asOperator('PUT', '/v1/admin/proxies', { addresses })).read(Proxies).data.addresses;
    expect(await set(['192.0.2.9', '2001:DB8::1', '192.0.2.9'])).toEqual(['192.0.2.9', '2001:db8::1']);
    const both = ['192.0.2.9', '2001:db8::1'];
    expect((await edge.next('change')).change).toMatchObject({ trusted_proxies: both });
    const later = await connectEdge(test, { edge_id: 'b', outbox_id: 'ob' });
    expect((await later.next('config')).config).toMatchObject({ trusted_proxies: both });
    expect(await set([])).toEqual([]);
    expect((await edge.next('change')).change).toMatchObject({ trusted_proxies: [] });
    expect((await asOperator('GET', '/v1/admin/proxies')).read(Proxies).data.addresses).toEqual([]);
  });

  it('are single addresses', async () => {
    for (const entry of ['192.0.2.0/24', 'proxy.example.com', '']) {
      const answer = await asOperator('PUT', '/v1/admin/proxies', { addresses: ['192.0.2.1', entry] });
      expect(answer).toMatchObject({ status: 400 });
      expect(answer.text).toContain('/addresses/1');
    }
  });
});
