import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startControl, type TestControl } from '../testing/harness.ts';
import { makePathway, makeWidget } from '../widgets/testing.ts';

let test: TestControl;
beforeEach(async () => {
  test = await startControl({
    QUOTA_PATHWAYS: '2',
    QUOTA_PATHWAY_VERSIONS: '1',
    QUOTA_GRAPH_MB: '1',
    QUOTA_TOOLS: '1',
    QUOTA_PERSONAS: '1',
    QUOTA_WIDGETS: '1',
    QUOTA_WIDGET_THREADS: '1',
  });
});
afterEach(() => test.close());

const node = (text: string) => ({
  nodes: [{ id: 'a', type: 'Default', data: { name: 'a', text: 'Hi', isStart: true, more: text } }],
  edges: [],
});

/** Statuses of the same request twice, and what the second is refused for. */
async function twice(url: string, body: object) {
  const first = await test.call('POST', url, { body });
  const second = await test.call('POST', url, { body });
  return [first.status, second.status, second.body.errors?.[0]?.details];
}

describe('a quota', () => {
  it('is of one organization, and of each kind by itself', async () => {
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

  it('of open threads of a widget is free again when one ends', async () => {
    const widget = await makeWidget(test);
    const threads = `${widget}/threads`;
    const first = await test.call('POST', threads, { body: {} });
    expect((await test.call('POST', threads, { body: {} })).codes).toEqual(['QUOTA_EXCEEDED']);
    const id = String(first.body.data?.thread?.id);
    await test.call('POST', `${threads}/${id}/end`, { body: {} });
    expect((await test.call('POST', threads, { body: {} })).status).toBe(200);
  });

  it('of graphs counts the live ones and the versions, and lets them shrink', async () => {
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

describe('lists without pages', () => {
  it('are streamed, and are the whole list in its order', async () => {
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
    const held = (await test.call('GET', '/v1/inbound')).body.inbound_numbers as unknown;
    expect((held as { phone_number: string }[]).map((row) => row.phone_number)).toEqual(numbers);
  });
});
