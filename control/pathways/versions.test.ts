import { beforeEach, describe, expect, it } from 'vitest';
import { callRecord, connectEdge, reportFrame } from '../../test/kit/control/edge-client.ts';
import {
  graph,
  versionedNumber as number,
  versionRequests,
} from '../../test/kit/control/pathway-versions.ts';
import { numbersOfEachTest, routesOfFile } from '../../test/kit/control/routes-of-file.ts';
import { demoEdges, demoNodes } from '../demo-pathway.ts';

const test = routesOfFile();
numbersOfEachTest(test);
let pathway = '';
let pathwayId = '';
beforeEach(async () => {
  const { body } = await test.call('POST', '/v1/pathway/create', { body: { name: 'Menu' } });
  pathwayId = String(body.pathway_id);
  pathway = `/v1/pathway/${pathwayId}`;
  await keep('first');
});

const { keep, change, remove, publish, lines } = versionRequests(
  () => test,
  () => pathway,
);

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

  it('is not replaced by somebody who has read another graph, nor is the live one', async () => {
    const hashOf = async (version: number) =>
      String((await test.call('GET', `${pathway}/version/${version}`)).body.content_hash);
    for (const [version, path, name] of [
      [1, `${pathway}/version/1`, { name: 'first' }],
      [0, pathway, {}],
    ] as const) {
      const expected_hash = await hashOf(version);
      const write = (text: string) => {
        const nodes = [{ id: 'only', type: 'End Call', data: { isStart: true, text } }];
        return test.call('POST', path, { body: { ...name, nodes, edges: [], expected_hash } });
      };
      expect((await write('one')).status).toBe(200);
      const late = await write('other');
      expect([late.status, late.codes]).toEqual([409, ['GRAPH_CHANGED']]);
      expect(late.body.errors).toMatchObject([{ details: { content_hash: await hashOf(version) } }]);
      const { body } = await test.call('GET', `${pathway}/version/${version}`);
      expect(body.nodes).toMatchObject([{ data: { text: 'one' } }]);
    }
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

    /** What can use the version, how the error names it, and how the use ends. */
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
