import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WebhookResult } from '#shared/agent/conversation.ts';
import { RunList } from '#shared/api/agent-testing/runs.ts';
import { VersionList } from '#shared/api/pathways.ts';
import {
  faultyGraph,
  hopeless,
  missingEdge,
  replay,
  soundBooking,
} from '../../../test/kit/control/dental.ts';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { TornadoClient } from '../../../test/kit/control/tornado.ts';
import { fromJson, toJson } from '../../db/index.ts';
import { deleteForks } from './forks.ts';
import type { SessionState } from './state.ts';

let test: TestControl;
let client: TornadoClient;
let pathway = '';
/** What a held run waits for. */
let held: PromiseWithResolvers<WebhookResult>;
let asked: PromiseWithResolvers<void>;
const webhook = () => {
  asked.resolve();
  return held.promise;
};
const shared = emptiedForEach(() => startControl({}, {}, { webhook }));
beforeEach(async () => {
  held = Promise.withResolvers();
  asked = Promise.withResolvers();
  test = shared;
  client = new TornadoClient(test);
  pathway = await client.pathway(faultyGraph);
});
afterEach(() => {
  held.resolve({ status: 200, body: {}, error: null });
});

const unknown = '11111111-1111-4111-8111-111111111111';
const start = (body: object) => client.call('POST', '/tornado/start', body);
const versions = async (id: string) =>
  (await test.call('GET', `/v1/pathway/${id}/versions`))
    .read(VersionList)
    .map(({ version_number }) => version_number);

/** A pathway whose first node calls an outside service that does not answer yet. */
const slow = () =>
  client.pathway({
    nodes: [
      {
        id: 'lookup',
        type: 'Webhook',
        data: { name: 'Lookup', isStart: true, method: 'GET', url: 'https://crm.example.com/caller' },
      },
      { id: 'hello', type: 'End Call', data: { name: 'Hello', text: 'Hello.' } },
    ],
    edges: [{ source: 'lookup', target: 'hello', data: { label: 'success' } }],
  });
const caller = replay('Says hello', ['Hello'], [{ type: 'NODE_REACHED', config: { node_id: 'hello' } }]);

describe('starting a session', () => {
  it('returns its parameters, and shows its state', async () => {
    const id = await slow();
    await client.scenario({ pathway_id: id, ...caller });
    const started = await start({ pathway_id: id, max_iterations: 3, timeout_ms: 60_000 });
    const created_at = '2030-01-01T00:00:00.000Z';
    const common = { status: 'RUNNING', pathway_id: id, max_iterations: 3, created_at };
    const session_id = started.body.session_id;
    expect(started.body.data).toEqual({ session_id, ...common, timeout_ms: 60_000 });
    const active = await client.call('GET', `/tornado/active?pathway_id=${id}`);
    expect(active.body.data).toEqual({
      session_id,
      ...common,
      persona_id: null,
      current_iteration: 1,
      total_scenarios: 1,
      passed_scenarios: 0,
      failed_scenarios: 0,
    });
    const again = await start({ pathway_id: id });
    expect([again.status, again.codes]).toEqual([409, ['TORNADO_ALREADY_ACTIVE']]);
    expect(again.body.errors).toMatchObject([{ details: { session_id } }]);
  });

  it.each([
    ['no scenario', {}, 400, 'NO_SCENARIOS'],
    ['an unknown pathway', { pathway_id: unknown }, 404, 'PATHWAY_NOT_FOUND'],
    ['an unknown persona', { persona_id: unknown }, 404, 'PERSONA_NOT_FOUND'],
    ['an unknown version', { version_number: 9 }, 404, 'VERSION_NOT_FOUND'],
    ['an unknown scenario', { scenario_ids: [unknown] }, 404, 'SCENARIO_NOT_FOUND'],
    ['a private webhook', { webhook_url: 'https://10.0.0.1/x' }, 400, 'TARGET_NOT_ALLOWED'],
    ['too little time', { timeout_ms: 1 }, 400, 'INVALID_PARAMETER'],
    ['too many iterations', { max_iterations: 21 }, 400, 'INVALID_PARAMETER'],
  ])('rejects %s', async (_what, body, status, code) => {
    const answer = await start({ pathway_id: pathway, ...body });
    expect([answer.status, answer.codes]).toEqual([status, [code]]);
  });

  it('accepts scenarios of the pathway only, by default the enabled ones', async () => {
    const other = await client.pathway(faultyGraph);
    const foreign = await client.scenario({ pathway_id: other, ...soundBooking });
    const answer = await start({ pathway_id: pathway, scenario_ids: [foreign] });
    expect(answer.codes).toEqual(['SCENARIO_NOT_FOUND']);
    await client.scenario({ pathway_id: pathway, ...soundBooking, enabled: false });
    expect((await start({ pathway_id: pathway })).codes).toEqual(['NO_SCENARIOS']);
    expect((await client.call('GET', `/tornado/active?pathway_id=${pathway}`)).codes).toEqual([
      'NO_ACTIVE_SESSION',
    ]);
    expect((await client.call('GET', '/tornado/active')).codes).toEqual(['INVALID_PARAMETER']);
  });
});

describe('the end of a session', () => {
  it('is COMPLETED_PARTIAL at the cap when some pass, and only the best fork stays', async () => {
    await client.scenario({ pathway_id: pathway, ...soundBooking });
    await client.scenario({ pathway_id: pathway, ...missingEdge });
    const session = await client.endedSession(
      await client.tornado(pathway, { version_number: 1, max_iterations: 1 }),
    );
    expect(session).toMatchObject({
      status: 'COMPLETED_PARTIAL',
      passed_scenarios: 1,
      failed_scenarios: 1,
      forked_version: null,
    });
    expect(session.iterations).toMatchObject([{ fix_plan: { fixes: [{ status: 'applied' }] } }]);
    expect(await versions(pathway)).toEqual([1]);
  });

  it('is STUCK when nothing can be fixed', async () => {
    await client.scenario({ pathway_id: pathway, ...hopeless });
    const session = await client.endedSession(await client.tornado(pathway));
    expect(session).toMatchObject({ status: 'STUCK', base_version: 0, forked_version: null });
    expect(session.iterations).toMatchObject([{ iteration: 1, version_number: 0, fix_plan: null }]);
  });

  it('is ERROR when most of the runs of an iteration are', async () => {
    await client.scenario({ pathway_id: pathway, ...soundBooking, start_node_id: 'nowhere' });
    const session = await client.endedSession(await client.tornado(pathway));
    expect(session).toMatchObject({ status: 'ERROR' });
    expect(String(session.error_message)).toContain('More than half');
  });

  it('is TIMEOUT after its timeout; running runs are canceled', async () => {
    const id = await slow();
    const scenario = await client.scenario({ pathway_id: id, ...caller });
    const session = await client.tornado(id, { timeout_ms: 60_000 });
    await asked.promise;
    test.clock.advance(60_000);
    const ended = await client.endedSession(session);
    expect(ended).toMatchObject({ status: 'TIMEOUT', elapsed_ms: 60_000 });
    expect(ended.iterations).toMatchObject([{ failed_ids: [scenario], passed_ids: [] }]);
    const { runs } = (await client.call('GET', `/runs?pathway_id=${id}`)).read(RunList);
    expect(runs.map(({ status }) => status)).toEqual(['CANCELLED']);
  });

  it('is ended by the endpoint with what has passed, when it tries to do with fewer fixes', async () => {
    const id = await slow();
    const scenario = await client.scenario({ pathway_id: id, ...caller });
    const session = await client.tornado(id);
    await asked.promise;
    const { db } = test.control.services.database;
    const row = await db
      .selectFrom('test_tornado_sessions')
      .select('state')
      .where('id', '=', session)
      .executeTakeFirstOrThrow();
    const before = fromJson<SessionState>(row.state ?? toJson(null));
    const [base] = before.forks;
    if (!base) throw new Error('the session has no base');
    const passed = [[scenario, { status: 'PASSED', score: 1, failure: null, visited: ['hello'] }]] as const;
    const state: SessionState = { ...before, forks: [base, base], outcomes: [passed] };
    await db
      .updateTable('test_tornado_sessions')
      .set({ state: toJson(state) })
      .where('id', '=', session)
      .execute();
    const cancel = () => client.call('POST', `/tornado/${session}/cancel`);
    expect((await cancel()).body.data).toEqual({ cancelled: true });
    expect(await client.status(session)).toMatchObject({ status: 'COMPLETED_ALL_PASSED' });
    expect((await cancel()).codes).toEqual(['TORNADO_NOT_ACTIVE']);
  });

  it('is CANCELLED by the endpoint, once', async () => {
    const id = await slow();
    await client.scenario({ pathway_id: id, ...caller });
    const session = await client.tornado(id);
    await asked.promise;
    const cancel = () => client.call('POST', `/tornado/${session}/cancel`);
    expect((await cancel()).body.data).toEqual({ cancelled: true });
    expect(await client.status(session)).toMatchObject({ status: 'CANCELLED' });
    expect((await cancel()).codes).toEqual(['TORNADO_NOT_ACTIVE']);
    expect((await client.call('POST', `/tornado/${unknown}/cancel`)).codes).toEqual(['TORNADO_NOT_FOUND']);
    const { runs } = (await client.call('GET', `/runs?pathway_id=${id}`)).read(RunList);
    expect(runs.map(({ status }) => status)).toEqual(['CANCELLED']);
    expect((await start({ pathway_id: id })).status).toBe(200);
  });

  it('is sent to the webhook of the session, with its status', async () => {
    await client.scenario({ pathway_id: pathway, ...soundBooking });
    const webhook_url = 'https://hooks.example.com/tornado';
    const session = await client.tornado(pathway, { webhook_url });
    const { status } = await client.endedSession(session);
    const { db } = test.control.services.database;
    const events = await db.selectFrom('webhook_deliveries').selectAll().execute();
    expect(events).toMatchObject([{ type: 'tornado.completed', url: webhook_url, subject_id: session }]);
    const body = JSON.parse(events[0]?.body ?? '{}');
    expect(body.data).toMatchObject({ session_id: session, status, current_iteration: 1 });
  });

  it('is hidden from other organizations', async () => {
    await client.scenario({ pathway_id: pathway, ...soundBooking });
    const session = await client.tornado(pathway);
    const url = `/v1/agent-testing/tornado/${session}`;
    const key = test.foreignKey;
    expect((await test.call('GET', `${url}/status`, { key })).codes).toEqual(['TORNADO_NOT_FOUND']);
    expect((await test.call('POST', `${url}/cancel`, { key })).codes).toEqual(['TORNADO_NOT_FOUND']);
    await client.endedSession(session);
  });
});

describe('a session of an organization at its quota', () => {
  /** With so many more characters. */
  const padded = (characters: number) => {
    const note = 'x'.repeat(Math.ceil(characters / faultyGraph.nodes.length));
    return { ...faultyGraph, nodes: faultyGraph.nodes.map((node) => ({ ...node, note })) };
  };

  it.each([
    ['versions', 'pathwayVersions=1', 0, 'pathwayVersions'],
    ['bytes of graphs', 'graphBytes=1048576', 360_000, 'graphBytes'],
  ])('of %s ends with the reason, and makes no fork', async (_, QUOTAS, characters, quota) => {
    test = await startControl({ QUOTAS });
    client = new TornadoClient(test);
    pathway = await client.pathway(padded(characters));
    await client.scenario({ pathway_id: pathway, ...soundBooking });
    await client.scenario({ pathway_id: pathway, ...missingEdge });
    const session = await client.endedSession(await client.tornado(pathway, { version_number: 1 }));
    expect(session).toMatchObject({ status: 'ERROR', current_iteration: 1, forked_version: null });
    expect(String(session.error_message)).toMatch(new RegExp(`no room for the next fork.*${quota}`));
    expect(await versions(pathway)).toEqual([1]);
    const metrics = await test.call('GET', '/metrics', { key: test.operatorKey });
    expect(metrics.text).toContain(`trunkline_control_quota_refused_total{quota="${quota}"} 1`);
    await test.close();
  });
});

describe('forks that are deleted', () => {
  it('are those that nobody names by their number', async () => {
    const keep = () =>
      test.call('POST', `/v1/pathway/${pathway}/version`, { body: { name: 'fork', ...faultyGraph } });
    for (let count = 0; count < 4; count++) await keep();
    const widget = { name: 'w', pathway_id: pathway, pathway_version: 2 };
    expect((await test.call('POST', '/v1/widget', { body: widget })).status).toBe(200);
    const conditions = [{ name: 'c', prompt: 'p', pathway_id: pathway, pathway_version: '3' }];
    const persona = { name: 'Pia', pathway_conditions: conditions };
    expect((await test.call('POST', '/v1/personas', { body: persona })).status).toBe(200);
    const publish = { version_id: 4, environment: 'staging' };
    expect((await test.call('POST', `/v1/pathway/${pathway}/publish`, { body: publish })).status).toBe(200);
    const { services } = test.control;
    const session = { org_id: test.orgId, pathway_id: pathway };
    await services.catalogue.change((db, altered) =>
      deleteForks(services, db, altered, session, [2, 3, 4, 5]),
    );
    expect(await versions(pathway)).toEqual([4, 3, 2, 1]);
  });
});

describe('a fix that breaks another scenario', () => {
  it('is reverted, and the base remains', async () => {
    // Callers who want a refund must reach nobody; the fix for the other scenario lets both through.
    await client.scenario({
      pathway_id: pathway,
      ...replay(
        'Asks for a refund',
        ['I was charged for an open order and want a refund'],
        [{ type: 'STRING_CHECK', config: { value: 'eight to six', target: 'agent', negate: true } }],
      ),
    });
    await client.scenario({
      pathway_id: pathway,
      ...replay(
        'Asks when',
        ['Are you open on Sunday?'],
        [{ type: 'NODE_REACHED', config: { node_id: 'hours' } }],
      ),
    });
    const ended = await client.endedSession(await client.tornado(pathway, { version_number: 1 }));
    const [first, second] = ended.iterations;
    expect(first?.fix_plan).toMatchObject({ fixes: [{ target_node: 'greet', status: 'reverted' }] });
    expect(second).toMatchObject({ version_number: 2 });
    expect(ended).toMatchObject({ passed_scenarios: 1, failed_scenarios: 1, forked_version: null });
    expect(await versions(pathway)).toEqual([1]);
  });
});
