/** Publishing versions to environments, and which versions the edges get. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import { callRecord, connectEdge, reportFrame } from '../../test/kit/control/edge-client.ts';
import {
  agentIn,
  versionedNumber as number,
  versionRequests,
} from '../../test/kit/control/pathway-versions.ts';
import { routesOfFile } from '../../test/kit/control/routes-of-file.ts';

const test = routesOfFile();
let pathway = '';
let pathwayId = '';
beforeEach(async () => {
  const { body } = await test.call('POST', '/v1/pathway/create', { body: { name: 'Menu' } });
  pathwayId = String(body.pathway_id);
  pathway = `/v1/pathway/${pathwayId}`;
  await keep('first');
});

const { keep, remove, publish, lines } = versionRequests(
  () => test,
  () => pathway,
);

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
        .map((one) => one.version)
        .sort();
    expect(await sent()).toEqual([0]);
    await write(transfer(1));
    expect(await sent()).toEqual([0, 1]);
    await write(transfer());
    expect(await sent()).toEqual([0]);
  });
});

describe('the version that a Transfer Pathway node continues in', () => {
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

  it('stays on edges while calls are in progress that may still continue in it', async () => {
    const id = await made();
    await write(id, 'production');
    const sent = async () => {
      const { pathways } = await test.control.services.edgeConfig.snapshot();
      const versions = pathways.filter((one) => one.pathway_id === pathwayId).map(({ version }) => version);
      return versions.sort();
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
