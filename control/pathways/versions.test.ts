import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import { callRecord, connectEdge, reportFrame } from '../../test/kit/control/edge-client.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { demoEdges, demoNodes } from '../demo-pathway.ts';

let test: TestControl;
let pathway = '';
let pathwayId = '';
beforeEach(async () => {
  test = await startControl();
  const { body } = await test.call('POST', '/v1/pathway/create', { body: { name: 'Menu' } });
  pathwayId = String(body.pathway_id);
  pathway = `/v1/pathway/${pathwayId}`;
  await keep('first');
});
afterEach(() => test.close());

const number = '+14155550100';
const graph = { nodes: demoNodes, edges: demoEdges };
const keep = (name: string, body: object = graph) =>
  test.call('POST', `${pathway}/version`, { body: { name, ...body } });
const change = (version: number | string, body: object = { name: 'x', ...graph }) =>
  test.call('POST', `${pathway}/version/${version}`, { body });
const remove = (version: number | string) => test.call('DELETE', `${pathway}/version/${version}`);
const publish = (body: object) => test.call('POST', `${pathway}/publish`, { body });
const lines = async () => (await test.call('GET', `${pathway}/versions`)).body;

const agentIn = ({ numbers }: Pick<EdgeConfig, 'numbers'>) =>
  numbers.find((one) => one.number === number)?.agent;

describe('a version', () => {
  it('is replaced whole, with a new hash', async () => {
    const before = await lines();
    const nodes = [{ id: 'only', type: 'End Call', data: { isStart: true, text: 'Bye' }, own: 1 }];
    const answer = await change(1, { name: 'renamed', nodes, edges: [] });
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: 'success', message: 'Version updated', warnings: [] },
    ]);
    const after = await lines();
    expect(after).toMatchObject([{ id: 1, name: 'renamed', is_latest: true }]);
    expect(after[0]?.content_hash).not.toEqual(before[0]?.content_hash);
    expect((await test.call('GET', `${pathway}/version/1`)).body).toMatchObject({ nodes, edges: [] });
  });

  it('is deleted, and its number is not reused', async () => {
    await keep('second');
    expect((await remove(2)).body).toEqual({ status: 'success', message: 'Version deleted' });
    expect(await lines()).toMatchObject([{ id: 1, is_latest: true }]);
    expect((await keep('third')).body.data).toMatchObject({ id: 3 });
  });

  it('cannot be changed or deleted as number 0, which is the live graph', async () => {
    for (const answer of [await change(0), await remove(0)]) {
      expect([answer.status, answer.codes]).toEqual([400, ['INVALID_PARAMETER']]);
    }
  });

  it('cannot be changed or deleted in production, until another one is there', async () => {
    await keep('second');
    await publish({ version_id: 1 });
    for (const answer of [await change(1), await remove(1)]) {
      expect([answer.status, answer.codes]).toEqual([409, ['VERSION_IN_PRODUCTION']]);
    }
    await publish({ version_id: 2 });
    expect((await change(1)).status).toBe(200);
    expect((await remove(1)).status).toBe(200);
  });

  describe('that somebody names by its number', () => {
    type Users = Readonly<Record<string, readonly unknown[]>>;
    const conditions = (pathway_version?: string) => ({
      pathway_conditions: [{ name: 'c', prompt: 'p', pathway_id: pathwayId, pathway_version }],
    });
    const transferring = (version?: number) => ({
      nodes: [
        {
          id: 'go',
          type: 'Transfer Pathway',
          data: { isStart: true, transferPathwayId: pathwayId, transferPathwayVersion: version },
        },
      ],
      edges: [],
    });
    const send = async (method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) => {
      const answer = await test.call(method, path, body && { body });
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body;
    };
    const persona = async () => {
      const { data } = await send('POST', '/v1/personas', { name: 'Pia', ...conditions('1') });
      return String((data?.persona as { id?: unknown } | undefined)?.id ?? data?.id);
    };

    /** Who comes to name it, how that is told, and how it is over. */
    const users: readonly [string, () => Promise<{ users: Users; end: () => Promise<unknown> }>][] = [
      [
        'a number',
        async () => {
          await send('POST', '/v1/sip/attach', { phone_number: number, directions: ['inbound'] });
          const inbound = '/v1/inbound/14155550100';
          await send('POST', inbound, { pathway_id: pathwayId, pathway_version: 1 });
          return {
            users: { phone_numbers: [number] },
            end: () => send('POST', inbound, { pathway_version: 'production' }),
          };
        },
      ],
      [
        'a widget',
        async () => {
          const body = { name: 'w', pathway_id: pathwayId, pathway_version: 1 };
          const id = String((await send('POST', '/v1/widget', body)).data?.widget?.id);
          return {
            users: { widget_ids: [id] },
            end: () => send('PATCH', `/v1/widget/${id}`, { pathway_version: 'production' }),
          };
        },
      ],
      [
        'a condition of a persona, first of its draft',
        async () => {
          const id = await persona();
          return {
            users: { persona_ids: [id] },
            end: async () => {
              await send('PATCH', `/v1/personas/${id}`, conditions());
              // In production it names the version still.
              expect((await remove(1)).body.errors).toMatchObject([{ details: { persona_ids: [id] } }]);
              await send('POST', `/v1/personas/${id}/versions/promote`, {});
            },
          };
        },
      ],
      [
        'a Transfer Pathway node',
        async () => {
          const other = String((await send('POST', '/v1/pathway/create', { name: 'Other' })).pathway_id);
          await send('POST', `/v1/pathway/${other}`, transferring(1));
          return {
            users: { pathway_ids: [other] },
            end: () => send('POST', `/v1/pathway/${other}`, transferring()),
          };
        },
      ],
      [
        'a call that waits for its edge',
        async () => {
          const directions = [{ type: 'outbound', sip_endpoint: 'trunk.example.com' }];
          await send('POST', '/v1/sip/attach', { phone_number: number, directions });
          const edge = await connectEdge(test);
          const order = { phone_number: '+14155550123', pathway_id: pathwayId, pathway_version: 1 };
          const placed = test.call('POST', '/v1/calls', { body: order });
          const { id } = await edge.next('command');
          edge.send({ type: 'result', id, ok: true });
          const call_id = String((await placed).body.call_id);
          return {
            users: { call_ids: [call_id] },
            end: async () => {
              const call = callRecord(test.orgId, { id: call_id, direction: 'outbound' });
              edge.send(reportFrame(1, [{ type: 'call', call }]));
              await edge.next('ack');
              await edge.kill();
            },
          };
        },
      ],
    ];

    it.each(users)('is deleted only when it is over: %s', async (_, begin) => {
      const { end, users: named } = await begin();
      const refused = await remove(1);
      expect([refused.status, refused.codes]).toEqual([409, ['VERSION_IN_PRODUCTION']]);
      const none = { phone_numbers: [], pathway_ids: [], widget_ids: [], persona_ids: [], call_ids: [] };
      expect(refused.body.errors).toMatchObject([{ details: { ...none, ...named } }]);
      await keep('second');
      expect((await remove(2)).status).toBe(200);
      await end();
      expect((await remove(1)).status).toBe(200);
    });

    it('is deleted when only its own graph leads to it', async () => {
      await change(1, { name: 'circle', ...transferring(1) });
      expect((await remove(1)).status).toBe(200);
    });
  });

  it('leaves staging when it is deleted', async () => {
    await publish({ version_id: 1, environment: 'staging' });
    expect((await remove(1)).status).toBe(200);
    expect((await test.call('GET', pathway)).body.staging_version).toBe(null);
  });

  it.each([
    { nodes: demoNodes, edges: demoEdges },
    { name: 'x', nodes: demoNodes },
    { name: 'x', nodes: [], edges: [] },
    { name: 'x', nodes: demoNodes, edges: [], more: 1 },
  ])('is rejected as %j', async (body) => {
    expect((await change(1, body)).status).toBe(400);
  });

  it('is rejected with the invalid node and edge', async () => {
    const nodes = [
      { id: 'a', type: 'Default', data: { isStart: true } },
      { id: 'a', type: 'Default', data: { isStart: true } },
      { id: 'b', type: 'Fly', data: {} },
    ];
    const { body, codes } = await change(1, { name: 'x', nodes, edges: [{ source: 'a', target: 'c' }] });
    expect(new Set(codes)).toEqual(new Set(['INVALID_GRAPH']));
    expect(body.errors).toMatchObject([
      { details: { path: '/nodes/1/id', rule: 'unique_node_id' } },
      { details: { path: '/nodes/2/type', rule: 'node_type' } },
      { details: { path: '/nodes/1/data/isStart', rule: 'one_start' } },
      { details: { path: '/edges/0/target', rule: 'edge_node' } },
    ]);
  });

  it('is accepted with a warning for each unreachable node', async () => {
    const nodes = [...demoNodes, { id: 'lost', type: 'End Call', data: { name: 'Lost', text: 'Bye' } }];
    const { body } = await keep('second', { nodes, edges: demoEdges });
    expect(body.warnings).toEqual([
      {
        path: `/nodes/${demoNodes.length}`,
        rule: 'unreachable_node',
        message: '"Lost" cannot be reached from the start node',
      },
    ]);
  });
});

describe('publishing', () => {
  it('puts a version into an environment, and may be repeated', async () => {
    await keep('second');
    for (let time = 0; time < 2; time++) {
      const answer = await publish({ version_id: 1 });
      expect([answer.status, answer.body]).toEqual([
        200,
        { status: 'success', message: 'Published', version_id: 1, environment: 'production' },
      ]);
    }
    expect((await publish({ version_id: 2, environment: 'staging' })).body.environment).toBe('staging');
    expect((await test.call('GET', pathway)).body).toMatchObject({
      production_version: 1,
      staging_version: 2,
    });
    expect(await lines()).toMatchObject([
      { id: 2, environments: ['staging'] },
      { id: 1, environments: ['production'] },
    ]);
  });

  it.each([
    {},
    { version_id: 0 },
    { version_id: '1' },
    { version_id: 1, environment: 'moon' },
    { version_id: 1, publish_on_pass: 'yes' },
    { version_id: 1, other: 1 },
  ])('is rejected as %j', async (body) => {
    expect((await publish(body)).status).toBe(400);
  });

  it('is 404 for an unknown version', async () => {
    expect((await publish({ version_id: 7 })).codes).toEqual(['VERSION_NOT_FOUND']);
  });

  it('updates the edges, including numbers that follow an environment', async () => {
    await test.call('POST', '/v1/sip/attach', { body: { phone_number: number, directions: ['inbound'] } });
    await test.call('POST', '/v1/inbound/14155550100', { body: { pathway_id: pathwayId } });
    const edge = await connectEdge(test);
    expect(agentIn((await edge.next('config')).config)).toMatchObject({ pathway_version: 0 });
    await publish({ version_id: 1 });
    const { change } = await edge.next('change');
    expect(agentIn(change)).toMatchObject({ pathway_version: 1 });
    expect(change.pathways).toMatchObject([{ pathway_id: pathwayId, version: 1 }]);
    await edge.kill();
  });
});

describe('the versions sent to an edge', () => {
  it('include those referenced by Transfer Pathway nodes, as long as they are', async () => {
    const other = await test.call('POST', '/v1/pathway/create', { body: { name: 'Other' } });
    const transfer = (version?: number) => ({
      nodes: [
        {
          id: 'go',
          type: 'Transfer Pathway',
          data: { isStart: true, transferPathwayId: pathwayId, transferPathwayVersion: version },
        },
      ],
      edges: [],
    });
    const write = (body: object) =>
      test.call('POST', `/v1/pathway/${String(other.body.pathway_id)}`, { body });
    const sent = async () =>
      (await test.control.services.edgeConfig.snapshot()).pathways
        .filter((one) => one.pathway_id === pathwayId)
        .map((one) => one.version);
    expect(await sent()).toEqual([0]);
    await write(transfer(1));
    expect(await sent()).toEqual([0, 1]);
    await write(transfer());
    expect(await sent()).toEqual([0]);
  });
});

describe('the version that a Transfer Pathway node goes on in', () => {
  const go = (version: unknown) => ({
    nodes: [
      {
        id: 'go',
        type: 'Transfer Pathway',
        data: { isStart: true, transferPathwayId: pathwayId, transferPathwayVersion: version },
      },
    ],
    edges: [],
  });
  const versionNamedBy = ([node]: EdgeConfig['pathways'][number]['nodes']) =>
    Object.entries(node?.data ?? {}).find(([name]) => name === 'transferPathwayVersion')?.[1];
  const made = async () =>
    String((await test.call('POST', '/v1/pathway/create', { body: { name: 'Other' } })).body.pathway_id);
  const write = (id: string, version: unknown) =>
    test.call('POST', `/v1/pathway/${id}`, { body: go(version) });

  it.each(['production', 'staging'])(
    'follows %s, in what edges are sent of each graph',
    async (environment) => {
      const id = await made();
      await write(id, environment);
      await test.call('POST', `/v1/pathway/${id}/version`, { body: { name: 'kept', ...go(environment) } });
      await test.call('POST', `/v1/pathway/${id}/publish`, { body: { version_id: 1 } });
      const edge = await connectEdge(test);
      const meant = ({ pathways }: Pick<EdgeConfig, 'pathways'>) =>
        pathways.filter((one) => one.pathway_id === id).map(({ nodes }) => versionNamedBy(nodes));
      expect(meant((await edge.next('config')).config)).toEqual([0, 0]);
      await publish({ version_id: 1, environment });
      expect(meant((await edge.next('change')).change)).toEqual([1, 1]);
      await keep('second');
      await publish({ version_id: 2, environment });
      const { change } = await edge.next('change');
      expect(meant(change)).toEqual([2, 2]);
      expect(change.pathways).toContainEqual(expect.objectContaining({ pathway_id: pathwayId, version: 2 }));
      // What the author wrote is what the author reads.
      expect((await test.call('GET', `/v1/pathway/${id}`)).body).toMatchObject(go(environment));
      await edge.kill();
    },
  );

  it('stays on edges while calls are in progress that may still go on in it', async () => {
    const id = await made();
    await write(id, 'production');
    const sent = async () => {
      const { pathways } = await test.control.services.edgeConfig.snapshot();
      return pathways.filter((one) => one.pathway_id === pathwayId).map(({ version }) => version);
    };
    await keep('second');
    await keep('third');
    await publish({ version_id: 1 });
    const edge = await connectEdge(test);
    const report = async (seq: number, ended_at: string | null) => {
      const call = callRecord(test.orgId, {
        pathway_id: id,
        ended_at,
        status: ended_at ? 'completed' : 'in-progress',
      });
      edge.send(reportFrame(seq, [{ type: 'call', call }]));
      await edge.next('ack');
    };
    await report(1, null);
    await publish({ version_id: 2 });
    expect(await sent()).toEqual([0, 1, 2]);
    await report(2, '2030-01-01T00:01:00.000Z');
    await publish({ version_id: 3 });
    expect(await sent()).toEqual([0, 3]);
    await edge.kill();
  });

  it('is production while nothing is in staging, also after its version there is deleted', async () => {
    const id = await made();
    await write(id, 'staging');
    const meant = async () => {
      const { pathways } = await test.control.services.edgeConfig.snapshot();
      return versionNamedBy(pathways.find((one) => one.pathway_id === id)?.nodes ?? []);
    };
    await keep('second');
    await publish({ version_id: 1 });
    expect(await meant()).toBe(1);
    await publish({ version_id: 2, environment: 'staging' });
    expect(await meant()).toBe(2);
    expect((await remove(2)).status).toBe(200);
    expect(await meant()).toBe(1);
  });

  it.each([undefined, null, '', 0, 3, '3', 'production', 'staging'])('may be %j', async (version) => {
    expect((await write(await made(), version)).status).toBe(200);
  });

  it.each(['latest', 'Production', '01', '-1', -1, 1.5, 1e9, true, {}, '{{version}}'])(
    'is not %j, which the graph is refused for',
    async (version) => {
      const id = await made();
      const kept = test.call('POST', `/v1/pathway/${id}/version`, { body: { name: 'x', ...go(version) } });
      for (const { status, body } of [await write(id, version), await kept]) {
        expect([status, body.errors]).toMatchObject([
          400,
          [
            {
              code: 'INVALID_GRAPH',
              message: expect.stringContaining('production or staging'),
              details: { path: '/nodes/0/data/transferPathwayVersion', rule: 'value' },
            },
          ],
        ]);
      }
    },
  );
});

describe('every version endpoint', () => {
  it('is 404 for unknown and foreign ids, and requires a key', async () => {
    const requests = (base: string) =>
      [
        ['POST', `${base}/version/1`, { name: 'x', ...graph }],
        ['DELETE', `${base}/version/1`, undefined],
        ['POST', `${base}/publish`, { version_id: 1 }],
      ] as const;
    for (const [method, url, body] of requests('/v1/pathway/none')) {
      expect((await test.call(method, url, { body })).codes).toEqual(['PATHWAY_NOT_FOUND']);
    }
    for (const [method, url, body] of requests(pathway)) {
      const foreign = await test.call(method, url, { body, key: test.foreignKey });
      expect(foreign.codes).toEqual(['PATHWAY_NOT_FOUND']);
      expect((await test.call(method, url, { body, key: null })).status).toBe(401);
    }
    for (const version of ['7', 'x', '01']) {
      expect((await change(version)).codes).toEqual(['VERSION_NOT_FOUND']);
      expect((await remove(version)).codes).toEqual(['VERSION_NOT_FOUND']);
    }
  });
});
