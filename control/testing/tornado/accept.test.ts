/** Some fixes of a session are accepted, the others refused. */
import { beforeEach, describe, expect, it } from 'vitest';
import { TornadoAccepted, TornadoList } from '#shared/api/agent-testing/tornado.ts';
import { VersionGraph } from '#shared/api/pathways.ts';
import { faultyGraph, missingEdge, wrongTransfer } from '../../../test/kit/control/dental.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { TornadoClient } from '../../../test/kit/control/tornado.ts';
import type { GraphEdit } from '../analysis/edits.ts';
import type { Fix } from './fixes.ts';
import { keptFixes, withFixes } from './kept.ts';

const test = emptiedForEach(startControl);
let client: TornadoClient;
let pathway = '';
beforeEach(async () => {
  client = new TornadoClient(test);
  pathway = await client.pathway(faultyGraph);
});

/** A session that found two faults. */
async function ended() {
  await client.scenario({ pathway_id: pathway, ...missingEdge });
  await client.scenario({ pathway_id: pathway, ...wrongTransfer });
  return client.endedSession(await client.tornado(pathway, { version_number: 1 }));
}
const accept = (id: string, body: object) => client.call('POST', `/tornado/${id}/accept`, body);
const version = async (number: number) =>
  (await test.call('GET', `/v1/pathway/${pathway}/version/${number}`)).read(VersionGraph);

describe('the fixes of an ended session', () => {
  it('are shown each with what it changes, and those that are accepted become a version', async () => {
    const session = await ended();
    const [edge, number] = ['flow_change', 'config_change'].map((type) =>
      session.fixes.find((fix) => fix.type === type),
    );
    expect(session.fixes).toHaveLength(2);
    expect(edge).toMatchObject({ target_node: 'greet', diff: [{ op: 'added', path: 'edges/greet-hours' }] });
    expect(number).toMatchObject({
      target_node: 'billing',
      diff: [{ op: 'changed', path: 'nodes/billing/data/transferNumber' }],
    });
    expect(edge).not.toHaveProperty('edit');
    const answer = await accept(session.session_id, { fix_ids: [edge?.id] });
    const made = answer.read(TornadoAccepted);
    expect(made).toMatchObject({
      pathway_id: pathway,
      // 3 and 4 were tried without one of the two fixes.
      version_number: 5,
      name: `Tornado: version 1 with ${edge?.id}`,
    });
    const [before, after] = [await version(1), await version(5)];
    expect(after.nodes).toEqual(before.nodes);
    expect(after.edges.slice(0, -1)).toEqual(before.edges);
    expect(after.edges.at(-1)).toMatchObject({ id: 'greet-hours' });
    const changes = await test.call('GET', '/v1/org/audit?area=agent_testing');
    expect(changes.text).toContain('"tornado_accept"');
    // All together are the version of the session.
    await accept(session.session_id, { fix_ids: session.fixes.map(({ id }) => id), name: 'All' });
    const [fork, all] = [await version(2), await version(6)];
    expect([all.name, all.content_hash]).toEqual(['All', fork.content_hash]);
  });

  it('are not applied to content that they were not tested on', async () => {
    const session = await ended();
    const fix_ids = session.fixes.map(({ id }) => id);
    expect((await accept(session.session_id, { fix_ids: ['fix-009'] })).body.errors).toMatchObject([
      { code: 'INVALID_PARAMETER', details: { path: '/fix_ids/0' } },
    ]);
    expect((await accept(session.session_id, { fix_ids: [] })).codes).toEqual(['INVALID_PARAMETER']);
    const changed = { name: 'v', nodes: faultyGraph.nodes, edges: faultyGraph.edges.slice(1) };
    await test.call('POST', `/v1/pathway/${pathway}/version/1`, { body: changed });
    expect((await accept(session.session_id, { fix_ids })).codes).toEqual(['TORNADO_BASE_CHANGED']);
    await test.call('DELETE', `/v1/pathway/${pathway}/version/1`);
    expect((await accept(session.session_id, { fix_ids })).codes).toEqual(['VERSION_NOT_FOUND']);
    const foreign = { key: test.foreignKey, body: { fix_ids } };
    const path = `/v1/agent-testing/tornado/${session.session_id}/accept`;
    expect((await test.call('POST', path, foreign)).codes).toEqual(['TORNADO_NOT_FOUND']);
  });
});

it('a fix that needs another one does not fit without it', () => {
  const base = { nodes: [{ id: 'a' }, { id: 'b' }], edges: [] };
  const fix = (id: string, edit: GraphEdit): Fix => ({
    id,
    edit,
    description: id,
    confidence: 1,
    scenarios: [],
  });
  const edge = { source: 'a', target: 'b', description: 'x' };
  const [first, second] = keptFixes(base, [
    fix('fix-001', { kind: 'add_edge', ...edge, label: 'on' }),
    fix('fix-002', { kind: 'describe_edge', ...edge, description: 'x y' }),
  ]);
  if (!first || !second) throw new Error('two fixes fit');
  expect(second.diff).toEqual([
    { op: 'changed', path: 'edges/a-b/data/description', before: 'x', after: 'x y' },
  ]);
  expect(withFixes(base, [second])).toEqual({ misfit: second });
  expect(withFixes(base, [first, second])).toMatchObject({
    graph: { edges: [{ data: { description: 'x y' } }] },
  });
});

it('the list of sessions is that of one pathway', async () => {
  const session = await ended();
  const other = await client.pathway(faultyGraph);
  const list = async (id: string) =>
    (await client.call('GET', `/tornado?pathway_id=${id}`)).read(TornadoList).sessions;
  expect(await list(pathway)).toMatchObject([{ session_id: session.session_id }]);
  expect(await list(other)).toEqual([]);
});
