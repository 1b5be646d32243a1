import { beforeEach, describe, expect, it } from 'vitest';
import { ScenarioAnswer } from '#shared/api/agent-testing/scenarios.ts';
import { WatchAnswer, WatchedList, WatchLineAnswer, WatchList } from '#shared/api/agent-testing/watches.ts';
import { AlertPage } from '#shared/api/alerts.ts';
import { callRecord, connectEdge, reportFrame } from '../../../test/kit/control/edge-client.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { bookingGraph, TestingClient } from '../../../test/kit/control/test-runs.ts';
import { type EndedCall, storeEndedCall } from '../../../test/kit/control/watched-calls.ts';
import { withdrawOrphans } from '../../alerts/store.ts';
import { look, type WatchMetrics } from './work.ts';

// The tests look themselves, and nobody looks beside them.
const test = emptiedForEach(() => startControl({}, {}, {}, { begin: false }));
let client: TestingClient;
let pathway_id = '';
let judged: string[];
const metrics: WatchMetrics = { judged: (outcome) => judged.push(outcome) };
beforeEach(async () => {
  client = new TestingClient(test);
  pathway_id = await client.pathway(bookingGraph);
  judged = [];
});

const booked = { type: 'STRING_CHECK', name: 'Books', config: { value: 'You are booked' } };
const reaches = { type: 'NODE_REACHED', name: 'Reaches the end', config: { node_id: 'done' } };

async function make(body: object = {}, asked = client) {
  const answer = await asked.call('POST', '/watches', {
    name: 'Bookings',
    pathway_id,
    assertions: [booked, reaches],
    ...body,
  });
  return answer;
}
const made = async (body: object = {}) => (await make(body)).read(WatchLineAnswer).id;
const read = async (id: string) => (await client.call('GET', `/watches/${id}`)).read(WatchAnswer);
const callsOf = async (id: string, query = '') =>
  (await client.call('GET', `/watches/${id}/calls${query}`)).read(WatchedList);

const alerts = async () => (await test.call('GET', '/v1/sip/alerts')).read(AlertPage).data.alerts;

let minute = 0;
/** A call of the pathway that ends now. */
async function call(id: string, isBooked: boolean, more: Partial<EndedCall> = {}): Promise<void> {
  test.clock.advance(1000);
  await storeEndedCall(test, {
    id,
    pathway_id,
    ended_at: new Date(test.clock.now()).toISOString(),
    said: [
      ['assistant', 'Hello, this is Green Clinic.', 'greet'],
      ['user', `My name is Jane Doe, an appointment, please, number ${++minute}`],
      ['user', 'Pressed 1'],
      ['user', 'Pressed 4711#'],
      ['assistant', isBooked ? 'You are booked. Goodbye.' : 'Goodbye.', isBooked ? 'done' : 'sorry'],
    ],
    ...more,
  });
}

/** A look of each watch, a minute later. */
async function lookAt(...ids: string[]): Promise<void> {
  test.clock.advance(61_000);
  const { services } = test.control;
  for (const id of ids) {
    const row = await services.database.db
      .selectFrom('test_watches')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    await look(services, metrics, row, new AbortController().signal);
  }
}

describe('a watch', () => {
  it('judges each call of its agent once, after its end, and shows the share that passed', async () => {
    const id = await made({ name: 'One' });
    await call('before', true, { ended_at: '2029-01-01T00:00:00.000Z' });
    await call('a', true);
    await call('b', false);
    await call('of a test', false, { test_run_id: '00000000-0000-4000-8000-000000000009' });
    await call('of another', false, { pathway_id: null });
    await lookAt(id);
    await lookAt(id);
    const { calls, total_count } = await callsOf(id);
    expect([total_count, calls.map((one) => [one.call_id, one.status])]).toEqual([
      2,
      [
        ['b', 'FAILED'],
        ['a', 'PASSED'],
      ],
    ]);
    expect(calls[0]?.assertion_results.map(({ name, passed }) => [name, passed])).toEqual([
      ['Books', false],
      ['Reaches the end', false],
    ]);
    expect((await callsOf(id, '?status=PASSED')).total_count).toBe(1);
    expect((await callsOf(id, '?version=7')).total_count).toBe(0);
    expect(await read(id)).toMatchObject({
      today: { judged: 2, skipped: 0, model_tokens: 0 },
      versions: [{ version: 0, calls: 2, passed: 1, pass_rate: 0.5 }],
      drift: { state: 'unknown' },
      alarm: null,
    });
  });

  it('does not pass what must not happen in a node that its pathway has not', async () => {
    const never = (node_id: string) => ({
      type: 'NODE_REACHED',
      name: node_id,
      config: { node_id, not: true },
    });
    const id = await made({ assertions: [never('sorry'), never('sory')] });
    await call('a', true);
    await lookAt(id);
    const [judgedCall] = (await callsOf(id)).calls;
    expect(judgedCall?.assertion_results.map(({ name, status }) => [name, status])).toEqual([
      ['sorry', 'PASSED'],
      ['sory', 'INCONCLUSIVE'],
    ]);
  });

  it('judges within its budget of a day, and counts what it skips', async () => {
    const id = await made({ calls_per_day: 1 });
    await call('a', true);
    await call('b', true);
    await lookAt(id);
    expect((await read(id)).today).toMatchObject({ judged: 1, skipped: 1 });
    test.clock.advance(24 * 3_600_000);
    await call('c', true);
    await lookAt(id);
    expect((await read(id)).today).toMatchObject({ judged: 1, skipped: 0 });
    expect(judged).toEqual(['PASSED', 'skipped', 'PASSED']);
  });

  it('raises an alarm when a version drifts, and ends it when the good one is back; both are sent', async () => {
    const url = 'https://hooks.example.com/events';
    await test.call('PATCH', '/v1/org/settings', { body: { event_webhook_url: url } });
    const id = await made({ drift_min_calls: 5 });
    for (let n = 0; n < 8; n++) await call(`good ${n}`, true, { version: 1 });
    for (let n = 0; n < 8; n++) await call(`bad ${n}`, false, { version: 2 });
    await lookAt(id);
    const alarmed = await read(id);
    expect(alarmed).toMatchObject({
      drift: { state: 'drifted', compared: { version: 2, good_version: 1, difference: -1 } },
      alarm: { version: 2, good_version: 1 },
      versions: [
        { version: 2, failed: 8 },
        { version: 1, passed: 8 },
      ],
    });
    await lookAt(id);
    const { db } = test.control.services.database;
    // What is evaluated of trunks does not end it.
    await withdrawOrphans(db, new Date(test.clock.now()).toISOString());
    const alert = { kind: 'watch_drift', watch_id: id, value: 0, threshold: 100, phone_number: null };
    expect(await alerts()).toMatchObject([
      { ...alert, state: 'open', configuration_id: null, direction: null },
    ]);
    await call('back', true, { version: 1 });
    await lookAt(id);
    expect((await read(id)).alarm).toBeNull();
    expect(await alerts()).toMatchObject([{ ...alert, state: 'resolved' }]);
    const sent = await db
      .selectFrom('webhook_deliveries')
      .select(['type', 'subject_id'])
      .where('type', 'like', 'test_watch%')
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    expect(sent).toEqual([
      { type: 'test_watch.drift_raised', subject_id: id },
      { type: 'test_watch.drift_resolved', subject_id: id },
    ]);
  });

  it('judges a call that is reported hours after its end, once, and one of an earlier version by its end', async () => {
    const id = await made();
    const early = new Date(test.clock.now() + 1000).toISOString();
    await lookAt(id);
    test.clock.advance(4 * 3_600_000);
    await lookAt(id);
    const stored = new Date(test.clock.now()).toISOString();
    await call('late', true, { ended_at: early, end_stored_at: stored });
    await call('of an earlier version', true, { end_stored_at: null });
    // Its edge had nothing to say of it while the watch was not there.
    await call('before', true, { ended_at: '2029-01-01T00:00:00.000Z', end_stored_at: stored });
    await lookAt(id);
    const ids = async () => (await callsOf(id)).calls.map(({ call_id }) => call_id);
    expect(await ids()).toEqual(['of an earlier version', 'late']);
    const again = new Date(test.clock.now()).toISOString();
    await test.control.services.database.db
      .updateTable('calls')
      .set({ end_stored_at: again })
      .where('id', '=', 'late')
      .execute();
    await lookAt(id);
    expect([await ids(), judged.length]).toEqual([['of an earlier version', 'late'], 2]);
  });

  it('judges what an edge reports after an outage', async () => {
    const id = await made();
    test.clock.advance(1000);
    const ended_at = new Date(test.clock.now()).toISOString();
    test.clock.advance(4 * 3_600_000);
    await lookAt(id);
    const edge = await connectEdge(test);
    const times = { started_at: ended_at, answered_at: ended_at, ended_at };
    const call = callRecord(test.orgId, { ...times, pathway_id, pathway_version: 0, status: 'completed' });
    const line = { id: 'l', at: ended_at, user: 'assistant' as const, node_id: 'done', node_name: 'Done' };
    const entries = [{ ...line, text: 'You are booked.' }];
    edge.send(
      reportFrame(1, [
        { type: 'call', call },
        { type: 'transcript', call_id: call.id, entries },
      ]),
    );
    await edge.next('ack');
    await lookAt(id);
    expect((await callsOf(id)).calls).toMatchObject([{ call_id: call.id, status: 'PASSED', ended_at }]);
    await edge.kill();
  });

  it('judges nothing that ended while it was off, whenever that is reported', async () => {
    const id = await made();
    await client.call('PUT', `/watches/${id}`, { enabled: false });
    test.clock.advance(1000);
    const off = new Date(test.clock.now()).toISOString();
    test.clock.advance(1000);
    await client.call('PUT', `/watches/${id}`, { enabled: true });
    test.clock.advance(1000);
    const stored = new Date(test.clock.now()).toISOString();
    await call('off', true, { ended_at: off, end_stored_at: stored });
    await call('on', true);
    await lookAt(id);
    expect((await callsOf(id)).calls.map(({ call_id }) => call_id)).toEqual(['on']);
  });

  it('is judged in the background', async () => {
    await test.control.begin();
    const id = await made();
    await call('a', true);
    const { announcements } = test.control.services;
    while ((await callsOf(id)).total_count === 0) {
      test.clock.advance(60_000);
      announcements.announce('watches');
      await new Promise(setImmediate);
    }
    expect((await read(id)).versions[0]?.passed).toBe(1);
  });

  it('is changed and deleted by its organization alone; other assertions reset its figures', async () => {
    const id = await made();
    await call('a', true);
    await lookAt(id);
    const other = new TestingClient(test, test.foreignKey);
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['GET', '/calls'],
      ['POST', '/calls/a/scenario'],
    ] as const) {
      const body = method === 'PUT' || method === 'POST' ? {} : undefined;
      expect((await other.call(method, `/watches/${id}${path}`, body)).codes).toEqual([
        'TEST_WATCH_NOT_FOUND',
      ]);
    }
    expect((await make({}, other)).codes).toEqual(['PATHWAY_NOT_FOUND']);
    expect((await other.call('GET', '/watches')).read(WatchList).watches).toEqual([]);
    const changed = await client.call('PUT', `/watches/${id}`, { name: 'New', assertions: [reaches] });
    expect(changed.body).toMatchObject({ name: 'New', assertions: [{ type: 'NODE_REACHED' }] });
    expect((await read(id)).versions).toEqual([]);
    expect((await client.call('DELETE', `/watches/${id}`)).status).toBe(200);
    expect((await client.call('GET', `/watches/${id}`)).codes).toEqual(['TEST_WATCH_NOT_FOUND']);
  });

  it('is refused without an agent, with two, and with assertions that only test runs can decide', async () => {
    const path = async (body: object) => (await make(body)).errors[0]?.details?.path;
    expect(await path({ pathway_id: undefined })).toBe('/pathway_id');
    expect(await path({ persona_id: pathway_id })).toBe('/persona_id');
    const unread = { type: 'TOOL_CALLED', config: { name: 'book', input_match: { day: 'Monday' } } };
    expect(await path({ assertions: [unread] })).toBe('/assertions/0/config/input_match');
    expect((await make({ phone_number: '+14155550188' })).codes).toEqual(['NUMBER_NOT_FOUND']);
  });
});

describe('a judged call', () => {
  it('becomes a scenario with its lines and keys, without personal numbers, and the assertions that failed', async () => {
    const id = await made();
    await call('a', false);
    await lookAt(id);
    const answer = await client.call('POST', `/watches/${id}/calls/a/scenario`, {});
    const scenario = answer.read(ScenarioAnswer);
    expect(scenario).toMatchObject({ pathway_id, scenario_type: 'REPLAY', enabled: true });
    const said = (scenario.input_messages ?? []).flatMap(({ content, role }) =>
      role === 'user' ? [content] : [],
    );
    expect(said).toEqual([
      expect.stringContaining('My name is [name], an appointment'),
      'Pressed 1',
      'Pressed 1234#',
    ]);
    expect(JSON.stringify({ ...scenario, id: '', data: null })).not.toMatch(/Jane|Doe|4711/);
    expect(scenario.assertions.map(({ name }) => name)).toEqual(['Books', 'Reaches the end']);
    expect(scenario.metadata).toMatchObject({
      watch_id: id,
      call_id: 'a',
      removed: expect.arrayContaining([expect.objectContaining({ kind: 'keys', count: 1 })]),
    });
    const goal = await client.call('POST', `/watches/${id}/calls/a/scenario`, { scenario_type: 'AGENT' });
    expect(goal.read(ScenarioAnswer)).toMatchObject({
      scenario_type: 'AGENT',
      input_messages: null,
      tester_persona_prompt: expect.stringContaining('Goal:'),
    });
    expect((await client.call('POST', `/watches/${id}/calls/b/scenario`, {})).codes).toEqual([
      'CALL_NOT_FOUND',
    ]);
    await test.control.begin();
    const run = await client.run(scenario.id);
    expect(run.status).toBe('FAILED');
  });
});
