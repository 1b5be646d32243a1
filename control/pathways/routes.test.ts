import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { AuditPage } from '#shared/api/audit.ts';
import { Pathway } from '#shared/api/pathways.ts';
import { routesOfFile } from '../../test/kit/control/routes-of-file.ts';
import { type PathwayRow, toJson } from '../db/index.ts';
import { demoEdges, demoNodes } from '../demo-pathway.ts';
import { contentHash, sortedHash } from './rules.ts';

const test = routesOfFile();
let pathway = '';
beforeEach(async () => {
  const { body } = await test.call('POST', '/v1/pathway/create', {
    body: { name: 'Menu', description: 'Keys' },
  });
  pathway = `/v1/pathway/${String(body.pathway_id)}`;
});

const graph = { nodes: demoNodes, edges: demoEdges };
const unknown = '/v1/pathway/00000000-0000-4000-8000-000000000000';

describe('a new pathway', () => {
  it('has one start node, and is listed newest first', async () => {
    const { body } = await test.call('GET', pathway);
    expect(body).toMatchObject({
      name: 'Menu',
      description: 'Keys',
      nodes: [{ type: 'Default', data: { isStart: true } }],
      edges: [],
      production_version: null,
      staging_version: null,
    });
    test.clock.advance(1);
    await test.call('POST', '/v1/pathway/create', { body: { name: 'Second' } });
    expect((await test.call('GET', '/v1/pathway')).body).toMatchObject([
      { name: 'Second', description: null },
      { name: 'Menu' },
    ]);
    const light = await test.call('GET', '/v1/pathway?graphs=false');
    expect(light.body).toMatchObject([
      { name: 'Second', nodes: [], edges: [], omitted: ['edges', 'nodes'] },
      { name: 'Menu', description: 'Keys', nodes: [], production_version: null },
    ]);
    expect((await test.call('GET', '/v1/pathway', { key: test.foreignKey })).body).toEqual([]);
  });

  it.each([{}, { name: '' }, { name: 'x'.repeat(201) }, { name: 5 }, { name: 'a', other: 1 }])(
    'is rejected as %j',
    async (body) => {
      expect((await test.call('POST', '/v1/pathway/create', { body })).status).toBe(400);
    },
  );
});

describe('the live graph', () => {
  it('is written whole, keeps unknown keys and returns labels in both places', async () => {
    const nodes = [
      ...demoNodes,
      { id: 'more', type: 'End Call', data: { name: 'More', text: 'Bye', own: { key: 1 } } },
    ];
    const edges = [...demoEdges, { source: 'repeat', target: 'more', data: { name: 'Pressed 9' } }];
    const answer = await test.call('POST', pathway, { body: { name: 'Renamed', nodes, edges } });
    expect(answer.body).toMatchObject({
      status: 'success',
      pathway_data: { name: 'Renamed', description: 'Keys' },
    });
    const stored = (await test.call('GET', pathway)).read(Pathway);
    expect(stored.nodes).toEqual(nodes);
    expect(stored.edges.at(-1)).toEqual({
      source: 'repeat',
      target: 'more',
      label: 'Pressed 9',
      data: { name: 'Pressed 9', label: 'Pressed 9' },
    });
  });

  it('is rejected with every rule that it breaks', async () => {
    const answer = await test.call('POST', pathway, {
      body: {
        nodes: [{ id: 'a', type: 'Nonsense', data: {} }],
        edges: [{ source: 'a', target: 'b', data: { label: 'x' } }],
      },
    });
    expect(answer.status).toBe(400);
    expect(new Set(answer.codes)).toEqual(new Set(['INVALID_GRAPH']));
    expect(answer.text).toContain('"path":"/edges/0/target"');
  });

  it('may not call private addresses', async () => {
    const webhook = {
      id: 'w',
      type: 'Webhook',
      data: { name: 'W', url: 'https://169.254.169.254/', method: 'GET' },
    };
    const answer = await test.call('POST', pathway, {
      body: { nodes: [...demoNodes, webhook], edges: demoEdges },
    });
    expect([answer.status, answer.codes]).toEqual([400, ['TARGET_NOT_ALLOWED']]);
    expect(answer.body.errors?.[0]?.details).toEqual({
      path: `/nodes/${demoNodes.length}/data/url`,
      address: '169.254.169.254',
    });
  });

  it('is rejected in part, and when a node is not an object or too large', async () => {
    expect((await test.call('POST', pathway, { body: { nodes: demoNodes } })).codes).toEqual([
      'INVALID_PARAMETER',
    ]);
    expect((await test.call('POST', pathway, { body: { nodes: [1], edges: [] } })).codes).toEqual([
      'INVALID_PARAMETER',
    ]);
    const large = { id: 'a', type: 'Default', data: { isStart: true, name: 'A', text: 'x'.repeat(70_000) } };
    expect((await test.call('POST', pathway, { body: { nodes: [large], edges: [] } })).codes).toEqual([
      'INVALID_PARAMETER',
    ]);
  });
});

describe('versions', () => {
  it('count from 1, keep their graph and are listed newest first', async () => {
    for (const name of ['first', 'second']) {
      await test.call('POST', `${pathway}/version`, { body: { name, ...graph } });
    }
    const list = (await test.call('GET', `${pathway}/versions`)).body;
    expect(list).toMatchObject([
      { id: 2, version_number: 2, name: 'second', is_latest: true, environments: [] },
      { id: 1, version_number: 1, name: 'first', is_latest: false },
    ]);
    const one = (await test.call('GET', `${pathway}/version/1`)).body;
    expect(one).toMatchObject({ name: 'first', version_number: 1, is_latest: false });
    expect((await test.call('GET', `${pathway}/version/0`)).body).toMatchObject({
      name: 'Menu',
      version_number: 0,
    });
  });

  it('have a hash that is independent of key order and positions', () => {
    const hash = (nodes: object[]) =>
      contentHash({ nodes: toJson(nodes) as PathwayRow['nodes'], edges: toJson([]) });
    const plain = hash([{ id: 'a', data: { x: 1, y: 2 } }]);
    expect(hash([{ data: { y: 2, x: 1 }, id: 'a', position: { x: 9 } }])).toBe(plain);
    expect(hash([{ id: 'a', data: { x: 1, y: 3 } }])).not.toBe(plain);
    expect(hash([{ id: 'a', data: { x: 1, y: 2, position: 'chef' } }])).not.toBe(plain);
    expect(sortedHash({ b: [null, 'x'], 10: 1, 9: { z: true, a: 0.5 } })).toBe(
      createHash('sha256').update('{"10":1,"9":{"a":0.5,"z":true},"b":[null,"x"]}').digest('hex'),
    );
    expect(plain).toMatch(/^[0-9a-f]{64}$/);
  });

  it('are rejected without a name or with an invalid graph', async () => {
    expect((await test.call('POST', `${pathway}/version`, { body: graph })).codes).toEqual([
      'INVALID_PARAMETER',
    ]);
    expect(
      (await test.call('POST', `${pathway}/version`, { body: { name: 'x', nodes: [{}], edges: [] } }))
        .codes[0],
    ).toBe('INVALID_GRAPH');
  });
});

describe('deleting', () => {
  it('is rejected while a number uses the pathway, and also deletes its versions', async () => {
    await test.call('POST', '/v1/sip/attach', {
      body: { phone_number: '+14155550100', directions: ['inbound'] },
    });
    await test.call('POST', `${pathway}/version`, { body: { name: 'first', ...graph } });
    const pathwayId = pathway.split('/').at(-1);
    await test.call('POST', '/v1/inbound/14155550100', { body: { pathway_id: pathwayId } });
    const refused = await test.call('DELETE', pathway);
    expect(refused.status).toBe(409);
    expect(refused.body.errors).toMatchObject([
      { code: 'PATHWAY_IN_USE', details: { phone_numbers: ['+14155550100'], widget_ids: [] } },
    ]);
    await test.call('POST', '/v1/inbound/14155550100', { body: { pathway_id: '' } });
    const other = await test.call('POST', '/v1/pathway/create', { body: { name: 'Other' } });
    const widget = await test.call('POST', '/v1/widget', {
      body: { name: 'Chat', pathway_id: other.body.pathway_id },
    });
    const used = await test.call('DELETE', `/v1/pathway/${String(other.body.pathway_id)}`);
    expect(used.body.errors).toMatchObject([
      {
        code: 'PATHWAY_IN_USE',
        details: { phone_numbers: [], widget_ids: [widget.body.data?.widget?.id] },
      },
    ]);
    await test.call('POST', '/v1/agent-testing/scenarios', { body: { name: 'Calm', pathway_id: pathwayId } });
    expect((await test.call('DELETE', pathway)).body).toEqual({ status: 'success', pathway_id: pathwayId });
    const { db } = test.control.services.database;
    expect(await db.selectFrom('test_scenarios').select(['name', 'deleted_at']).execute()).toEqual([
      { name: 'Calm', deleted_at: new Date(test.clock.now()).toISOString() },
    ]);
  });
});

describe('references from and to a pathway', () => {
  it('warns of tools and pathways that are not the organization’s', async () => {
    const foreign = await test.call('POST', '/v1/pathway/create', {
      body: { name: 'Other' },
      key: test.foreignKey,
    });
    const own = await test.call('POST', '/v1/pathway/create', { body: { name: 'Own' } });
    const away = (id: string, pathwayId: unknown) => ({
      id,
      type: 'Transfer Pathway',
      data: { name: id, transferPathwayId: pathwayId },
    });
    const tool = 'TL-11111111-1111-4111-8111-111111111111';
    const { body } = await test.call('POST', pathway, {
      body: {
        nodes: [
          { id: 'a', type: 'Default', data: { name: 'a', text: 'Hi', isStart: true, tools: [tool] } },
          away('b', foreign.body.pathway_id),
          away('c', own.body.pathway_id),
          { id: 'd', type: 'Realtime', data: { name: 'd', connection: 'main', prompt: 'Talk.' } },
        ],
        edges: [
          { source: 'a', target: 'b', data: { label: 'x' } },
          { source: 'a', target: 'c', data: { label: 'y' } },
          { source: 'a', target: 'd', data: { label: 'z' } },
        ],
      },
    });
    expect(body.warnings).toMatchObject([
      { path: '/nodes/0/data/tools', rule: 'unknown_tool' },
      { path: '/nodes/1/data/transferPathwayId', rule: 'unknown_pathway' },
      { path: '/nodes/3/data/connection', rule: 'unknown_connection' },
    ]);
  });

  it('rejects a transfer to a literal address that is not allowed', async () => {
    const to = (transferNumber: string) =>
      test.call('POST', pathway, {
        body: {
          nodes: [{ id: 'a', type: 'Transfer Call', data: { name: 'a', isStart: true, transferNumber } }],
          edges: [],
        },
      });
    const refused = await to('sip:{{who}}@10.0.0.1');
    expect([refused.status, refused.codes]).toEqual([400, ['TARGET_NOT_ALLOWED']]);
    expect(refused.body.errors).toMatchObject([{ details: { path: '/nodes/0/data/transferNumber' } }]);
    for (const fine of ['sip:a@pbx.example.com', 'sip:a@{{host}}', '{{target}}', '+14155550100']) {
      expect((await to(fine)).status).toBe(200);
    }
  });

  it('is rejected while a persona’s draft or production references it', async () => {
    const pathway_id = pathway.split('/').at(-1);
    const persona = await test.call('POST', '/v1/personas', {
      body: { name: 'Pia', pathway_conditions: [{ name: 'a', prompt: 'b', pathway_id }], default_tools: [] },
    });
    const refused = await test.call('DELETE', pathway);
    expect([refused.status, refused.codes]).toEqual([409, ['PATHWAY_IN_USE']]);
    expect(refused.body.errors).toMatchObject([
      { details: { phone_numbers: [], widget_ids: [], persona_ids: [persona.body.data?.id] } },
    ]);
    await test.call('DELETE', `/v1/personas/${String(persona.body.data?.id)}`);
    expect((await test.call('DELETE', pathway)).status).toBe(200);
  });
});

describe('changes of pathways', () => {
  it('are in the audit log', async () => {
    await test.call('POST', pathway, { body: { name: 'New', ...graph } });
    await test.call('POST', `${pathway}/version`, { body: { name: 'first', ...graph } });
    await test.call('POST', `${pathway}/version/1`, { body: { name: 'again', ...graph } });
    await test.call('POST', `${pathway}/publish`, { body: { version_id: 1, environment: 'staging' } });
    await test.call('DELETE', `${pathway}/version/1`);
    await test.call('DELETE', pathway);
    const answer = await test.call('GET', `/v1/org/audit?subject_id=${String(pathway.split('/').at(-1))}`);
    const { entries } = answer.read(AuditPage).data;
    expect(new Map(entries.map((entry) => [entry.action, entry.changed_fields]))).toEqual(
      new Map([
        ['create', []],
        ['update', ['edges', 'name', 'nodes']],
        ['version_create', []],
        ['version_update', []],
        ['publish', ['staging_version']],
        ['version_delete', []],
        ['delete', []],
      ]),
    );
  });
});

describe('every pathway endpoint', () => {
  const requests = (base: string) =>
    [
      ['GET', base, undefined],
      ['POST', base, { name: 'x' }],
      ['DELETE', base, undefined],
      ['GET', `${base}/versions`, undefined],
      ['POST', `${base}/version`, { name: 'x', ...graph }],
      ['GET', `${base}/version/1`, undefined],
    ] as const;

  it('is 404 for unknown, malformed and foreign ids, and requires a key', async () => {
    for (const base of [unknown, '/v1/pathway/none']) {
      for (const [method, url, body] of requests(base)) {
        expect((await test.call(method, url, { body })).codes).toEqual(['PATHWAY_NOT_FOUND']);
      }
    }
    for (const [method, url, body] of requests(pathway)) {
      expect((await test.call(method, url, { body, key: test.foreignKey })).codes).toEqual([
        'PATHWAY_NOT_FOUND',
      ]);
      expect((await test.call(method, url, { body, key: null })).status).toBe(401);
    }
    for (const version of ['7', 'x', '01', '-1']) {
      expect((await test.call('GET', `${pathway}/version/${version}`)).codes).toEqual(['VERSION_NOT_FOUND']);
    }
  });
});
