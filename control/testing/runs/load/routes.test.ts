import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WebhookResult } from '#shared/agent/conversation.ts';
import { LoadAnswer, LoadList, LoadStarted } from '#shared/api/agent-testing/loads.ts';
import { faultyGraph, soundBooking } from '../../../../test/kit/control/dental.ts';
import { startControl, type TestControl } from '../../../../test/kit/control/harness.ts';
import { TestingClient } from '../../../../test/kit/control/test-runs.ts';

let test: TestControl;
let client: TestingClient;
let scenario_id = '';
beforeEach(async () => {
  test = await startControl();
  client = new TestingClient(test);
  scenario_id = await client.scenario({ pathway_id: await client.pathway(faultyGraph), ...soundBooking });
});
afterEach(() => test.close());

const start = (body: object) =>
  client.call('POST', '/loads', { scenario_ids: [scenario_id], transport: 'text', ...body });
const read = async (id: string) => (await client.call('GET', `/loads/${id}`)).read(LoadAnswer);

async function ended(id: string) {
  for (;;) {
    const load = await read(id);
    if (load.status !== 'RUNNING' && load.levels.every((one) => !one.began_at || one.ended_at)) return load;
    await new Promise(setImmediate);
  }
}

describe('a load', () => {
  it('runs level after level, each with the same seeds and as many runs at once, and is deleted with them', async () => {
    const ramp = { from: 1, to: 3, step: 2 };
    const started = (await start({ ramp, runs_per_level: 4, seed: 5 })).read(LoadStarted);
    expect(started).toMatchObject({ status: 'RUNNING', levels: [1, 3] });
    const load = await ended(started.load_id);
    expect(load).toMatchObject({
      status: 'COMPLETED',
      reason: null,
      levels: [
        { concurrency: 1, figures: { calls: 4, answered: 4, passed: 4 } },
        { concurrency: 3, figures: { calls: 4, answered: 4, passed: 4 } },
      ],
      knee: { because: null },
    });
    const { db } = test.control.services.database;
    const sets = load.levels.map(({ simulation_set_id }) => simulation_set_id ?? '');
    for (const set of sets) {
      const runs = await db
        .selectFrom('test_runs')
        .select(['seed', 'trigger_source'])
        .where('simulation_set_id', '=', set)
        .orderBy('seed')
        .execute();
      expect(runs).toEqual([5, 6, 7, 8].map((seed) => ({ seed, trigger_source: 'load' })));
    }
    const listed = (await client.call('GET', '/loads')).read(LoadList);
    expect(listed).toMatchObject({ total_count: 1, loads: [{ id: load.id, status: 'COMPLETED' }] });
    const other = new TestingClient(test, test.foreignKey);
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/cancel'],
      ['DELETE', ''],
    ] as const) {
      expect((await other.call(method, `/loads/${load.id}${path}`)).codes).toEqual(['TEST_LOAD_NOT_FOUND']);
    }
    expect((await client.call('DELETE', `/loads/${load.id}`)).status).toBe(200);
    expect((await client.call('GET', `/loads/${load.id}`)).codes).toEqual(['TEST_LOAD_NOT_FOUND']);
    for (const set of sets)
      expect((await client.call('GET', `/simulation-sets/${set}`)).codes).toEqual([
        'SIMULATION_SET_NOT_FOUND',
      ]);
  });

  it('has a run after the other for some seconds of the level', async () => {
    const { load_id } = (await start({ concurrency: 1, seconds_per_level: 5 })).read(LoadStarted);
    while (((await read(load_id)).levels[0]?.figures?.calls ?? 0) < 3) await new Promise(setImmediate);
    test.clock.advance(5_000);
    const load = await ended(load_id);
    expect(load.status).toBe('COMPLETED');
    expect(load.levels[0]?.figures?.calls).toBeGreaterThan(2);
  });

  it('is refused with more calls than an organization may have, with levels that make no sense, and beside another', async () => {
    const paths = async (body: object) => (await start(body)).errors[0]?.details?.path;
    expect(await paths({})).toBe('/concurrency');
    expect(await paths({ concurrency: 2, ramp: { from: 1, to: 2, step: 1 } })).toBe('/concurrency');
    expect(await paths({ concurrency: 21 })).toBe('/concurrency');
    expect(await paths({ ramp: { from: 1, to: 21, step: 1 } })).toBe('/ramp');
    expect(await paths({ ramp: { from: 1, to: 31, step: 10 } })).toBe('/ramp/to');
    expect(await paths({ ramp: { from: 3, to: 2, step: 1 } })).toBe('/ramp/to');
    expect(await paths({ concurrency: 1, runs_per_level: 1, seconds_per_level: 5 })).toBe(
      '/seconds_per_level',
    );
    const large = { ramp: { from: 1, to: 6, step: 1 }, runs_per_level: 200 };
    // The message names members that the request has.
    expect((await start(large)).errors[0]).toMatchObject({
      code: 'SIMULATION_LIMIT',
      message: expect.stringContaining('lower runs_per_level'),
      details: { runs: 1200, limit: 1000 },
    });
    expect((await start({ concurrency: 1, transport: 'sip' })).errors[0]?.details).toEqual({
      path: '/phone_number',
      rule: 'is required with transport sip',
    });
  });
});

describe('a load that is under way', () => {
  it('is one of its organization, and ends when it is cancelled', async () => {
    const answered = Promise.withResolvers<WebhookResult>();
    await test.close();
    test = await startControl({}, {}, { webhook: () => answered.promise });
    client = new TestingClient(test);
    const held = { name: 'Lookup', isStart: true, url: 'https://crm.example.com/caller', method: 'GET' };
    const node = { id: 'lookup', type: 'Webhook', data: held };
    scenario_id = await client.scenario({ pathway_id: await client.pathway({ nodes: [node], edges: [] }) });
    const { load_id } = (await start({ ramp: { from: 2, to: 4, step: 2 } })).read(LoadStarted);
    const second = await start({ concurrency: 1 });
    expect(second.codes).toEqual(['TEST_LOAD_ACTIVE']);
    expect(second.errors[0]?.details).toEqual({ load_id });
    expect((await client.call('DELETE', `/loads/${load_id}`)).codes).toEqual(['NOT_ENDED']);
    const cancelled = await client.call('POST', `/loads/${load_id}/cancel`);
    expect(cancelled.body).toMatchObject({ id: load_id, cancelled_runs: 2 });
    answered.resolve({ status: 200, body: {}, error: null });
    expect(await ended(load_id)).toMatchObject({
      status: 'CANCELLED',
      reason: 'It was cancelled.',
      levels: [{ figures: { calls: 0 } }, { simulation_set_id: null }],
      knee: null,
    });
    expect((await client.call('POST', `/loads/${load_id}/cancel`)).body.cancelled_runs).toBe(0);
    expect((await start({ concurrency: 1, runs_per_level: 1 })).status).toBe(200);
  });
});
