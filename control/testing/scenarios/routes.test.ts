import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ScenarioAnswer, ScenarioList } from '#shared/api/agent-testing/scenarios.ts';
import { PersonaAnswer } from '#shared/api/personas.ts';
import { storeFinishedRun } from '../../../test/kit/control/agent-testing.ts';
import { startRoutes, type TestControl } from '../../../test/kit/control/harness.ts';
import {
  base,
  createPathway,
  details,
  nodeReached,
  Scenarios,
  unknownId,
} from '../../../test/kit/control/scenarios.ts';
import type { Answer } from '../../../test/kit/http/answer.ts';

let test: TestControl;
let scenarios: Scenarios;
let pathwayId: string;
beforeAll(async () => {
  test = await startRoutes();
  scenarios = await Scenarios.of(test);
  ({ pathwayId } = scenarios);
});
afterAll(() => test.close());

describe('a scenario', () => {
  it('is changed in part, and its updated_at moves', async () => {
    const { body } = await scenarios.create({ description: 'Old', metadata: { a: 1 }, max_turns: 3 });
    test.clock.advance(1000);
    const changed = await test.call('PUT', `${base}/scenarios/${body.id}`, {
      body: { description: null, enabled: false },
    });
    expect(changed.body).toMatchObject({
      description: null,
      enabled: false,
      metadata: { a: 1 },
      max_turns: 3,
      created_at: body.created_at,
      updated_at: '2030-01-01T00:00:01.000Z',
    });
  });

  it('keeps assertions sent with their ids, and deletes those not sent', async () => {
    const made = await scenarios.create({ assertions: [nodeReached('a'), nodeReached('b')] });
    const { id, assertions } = made.read(ScenarioAnswer);
    const [first, second] = assertions;
    const changed = await test.call('PUT', `${base}/scenarios/${id}`, {
      body: { assertions: [nodeReached('c'), { id: second?.id, ...nodeReached('d') }] },
    });
    const kept = changed.read(ScenarioAnswer).assertions;
    expect(kept.map(({ config }) => config.node_id)).toEqual(['c', 'd']);
    expect(kept[1]?.id).toBe(second?.id);
    expect(kept[0]?.id).not.toBe(first?.id);
  });

  it.each([
    ['an id of another scenario’s assertion', [{ id: unknownId, ...nodeReached('a') }], '/assertions/0/id'],
  ])('is not changed with %s', async (_what, assertions, path) => {
    const { body } = await scenarios.create();
    const answer = await test.call('PUT', `${base}/scenarios/${body.id}`, { body: { assertions } });
    expect([answer.status, details(answer)]).toMatchObject([400, { path }]);
  });

  it('cannot get the same assertion twice, another pathway, or a replay without words', async () => {
    const made = await scenarios.create({ assertions: [nodeReached('a')] });
    const { body } = made;
    const id = made.read(ScenarioAnswer).assertions[0]?.id;
    const put = (change: object) => test.call('PUT', `${base}/scenarios/${body.id}`, { body: change });
    const twice = [
      { id, ...nodeReached('a') },
      { id, ...nodeReached('b') },
    ];
    expect(details(await put({ assertions: twice }))).toMatchObject({ path: '/assertions/1/id' });
    expect((await put({ pathway_id: pathwayId })).codes).toEqual(['UNKNOWN_PROPERTY']);
    expect(details(await put({ scenario_type: 'REPLAY' }))).toMatchObject({ path: '/input_messages' });
    expect((await test.call('GET', `${base}/scenarios/${body.id}`)).body).toEqual(body);
  });

  it("accepts its own name again, and not another's", async () => {
    const { body } = await scenarios.create({ name: 'Mine' });
    await scenarios.create({ name: 'Yours' });
    const put = (name: string) => test.call('PUT', `${base}/scenarios/${body.id}`, { body: { name } });
    expect((await put('Mine')).status).toBe(200);
    expect((await put('Yours')).codes).toEqual(['SCENARIO_NAME_TAKEN']);
  });

  it('is deleted once; its waiting runs are canceled, its name is free', async () => {
    const { body } = await scenarios.create({ name: 'Gone' });
    const { db } = test.control.services.database;
    const run = {
      orgId: test.orgId,
      scenarioId: String(body.id),
      createdAt: '2030-01-01T00:00:00.000Z',
      pathwayId,
    };
    const waiting = await storeFinishedRun(db, { ...run, more: { status: 'PENDING' } });
    const running = await storeFinishedRun(db, run);
    const answer = await test.call('DELETE', `${base}/scenarios/${body.id}`);
    expect(answer.body).toEqual({ deleted: true, data: { deleted: true }, errors: null });
    const statuses = await db
      .selectFrom('test_runs')
      .select(['id', 'status'])
      .where('scenario_id', '=', String(body.id))
      .execute();
    expect(new Map(statuses.map(({ id, status }) => [id, status]))).toEqual(
      new Map([
        [waiting, 'CANCELLED'],
        [running, 'RUNNING'],
      ]),
    );
    expect((await test.call('GET', `${base}/scenarios/${body.id}`)).codes).toEqual(['SCENARIO_NOT_FOUND']);
    expect((await test.call('DELETE', `${base}/scenarios/${body.id}`)).status).toBe(404);
    expect((await scenarios.create({ name: 'Gone' })).status).toBe(200);
  });

  it('is deleted with its pathway', async () => {
    const own = await createPathway(test);
    const { body } = await scenarios.create({ pathway_id: own });
    expect((await test.call('DELETE', `/v1/pathway/${own}`)).status).toBe(200);
    expect((await test.call('GET', `${base}/scenarios/${body.id}`)).status).toBe(404);
    expect((await test.call('GET', `${base}/analytics/${own}`)).codes).toEqual(['PATHWAY_NOT_FOUND']);
  });

  it('is unknown to another organization, and requires a key', async () => {
    const { body } = await scenarios.create();
    const url = `${base}/scenarios/${body.id}`;
    const put = { body: { description: 'x' } };
    for (const answer of [
      await test.call('GET', url, { key: test.foreignKey }),
      await test.call('PUT', url, { key: test.foreignKey, ...put }),
      await test.call('DELETE', url, { key: test.foreignKey }),
      await test.call('GET', `${base}/scenarios/nonsense`),
    ]) {
      expect([answer.status, answer.codes]).toEqual([404, ['SCENARIO_NOT_FOUND']]);
    }
    for (const [method, path] of [
      ['GET', url],
      ['PUT', url],
      ['DELETE', url],
      ['GET', `${base}/scenarios`],
      ['POST', `${base}/scenarios`],
      ['GET', `${base}/templates`],
      ['POST', `${base}/templates/tmpl_happy_path/clone`],
      ['POST', `${base}/scenarios/generate-from-call`],
      ['GET', `${base}/analytics/${pathwayId}`],
      ['GET', `${base}/analytics/${pathwayId}/enhanced`],
    ] as const) {
      const answer = await test.call(method, path, { key: null });
      expect([path, answer.status, answer.codes]).toEqual([path, 401, ['AUTH_FAILURE']]);
      expect(answer.body.data).toBeNull();
    }
  });
});

describe('the list of scenarios', () => {
  it('is filtered, newest first, and shows the newest run of each', async () => {
    const own = await createPathway(test);
    const first = (await scenarios.create({ pathway_id: own, name: 'A', category: 'CALL_SCREENER' })).body;
    test.clock.advance(1000);
    const second = (
      await scenarios.create({ pathway_id: own, name: 'B', enabled: false, assertions: [nodeReached('x')] })
    ).body;
    const { db } = test.control.services.database;
    const run = { orgId: test.orgId, scenarioId: String(first.id), pathwayId: own };
    await storeFinishedRun(db, { ...run, createdAt: '2030-01-01T00:00:05.000Z', status: 'PASSED', score: 1 });
    const newest = await storeFinishedRun(db, {
      ...run,
      createdAt: '2030-01-01T00:00:06.000Z',
      status: 'FAILED',
      score: 1 / 3,
    });
    const list = async (query: string) => {
      const answer = await test.call('GET', `${base}/scenarios?${query}`);
      return answer.read(ScenarioList).scenarios;
    };
    expect(await list(`pathway_id=${own}`)).toEqual([
      { ...bare(second), most_recent_run: null },
      {
        ...bare(first),
        most_recent_run: {
          id: newest,
          status: 'FAILED',
          score: 0.3333,
          completed_at: '2030-01-01T00:00:06.000Z',
        },
      },
    ]);
    const names = async (query: string) => (await list(query)).map(({ name }) => name);
    expect(await names(`pathway_id=${own}&enabled=true`)).toEqual(['A']);
    expect(await names(`pathway_id=${own}&category=VOICEMAIL_SCREENER`)).toEqual(['A']);
    const persona = await test.call('POST', '/v1/personas', { body: { name: 'Patient' } });
    const persona_id = persona.read(PersonaAnswer).data.id;
    await scenarios.create({ pathway_id: undefined, persona_id, name: 'C' });
    expect(await names(`persona_id=${persona_id}`)).toEqual(['C']);
    expect(await names(`persona_id=${unknownId}`)).toEqual([]);
    expect(
      (await test.call('GET', `${base}/scenarios?pathway_id=${own}`, { key: test.foreignKey })).body,
    ).toEqual({
      scenarios: [],
      data: { scenarios: [] },
      errors: null,
    });
    expect((await test.call('GET', `${base}/scenarios?pathway_id=x`)).status).toBe(400);
    expect((await test.call('GET', `${base}/scenarios?enabled=maybe`)).status).toBe(400);
  });
});

function bare({ data: _data, errors: _errors, ...rest }: Answer['body']): Record<string, unknown> {
  return rest;
}
