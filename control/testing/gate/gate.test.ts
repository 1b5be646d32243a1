import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WebhookResult } from '#shared/agent/conversation.ts';
import { faultyGraph, missingEdge, soundBooking } from '../../../test/kit/control/dental.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { TestingClient } from '../../../test/kit/control/test-runs.ts';
import { releaseAll } from '../../../test/kit/fakes/release.ts';

const test = emptiedForEach(() => startControl({}, {}, { webhook: () => held.promise }));
let client: TestingClient;
let pathway = '';
let held: PromiseWithResolvers<WebhookResult>;
beforeEach(async () => {
  held = Promise.withResolvers();
  client = new TestingClient(test);
  pathway = await client.pathway(faultyGraph);
});
afterEach(() => releaseAll(() => release()));

const release = () => held.resolve({ status: 200, body: {}, error: null });
const required = (scenario: object) => {
  // Scenarios are ordered by creation time.
  test.clock.advance(1);
  return client.scenario({ pathway_id: pathway, is_required_for_promotion: true, ...scenario });
};
const publish = (more: object = {}) =>
  test.call('POST', `/v1/pathway/${pathway}/publish`, { body: { version_id: 1, ...more } });
const production = async () => (await test.call('GET', `/v1/pathway/${pathway}`)).body.production_version;
const blocked = async () => {
  const answer = await publish();
  expect([answer.status, answer.codes]).toEqual([409, ['PROMOTION_BLOCKED']]);
  return answer.errors[0]?.details ?? {};
};

/** A graph whose runs hang in their first node until released. */
const slowGraph = {
  nodes: [
    {
      id: 'lookup',
      type: 'Webhook',
      data: { name: 'Lookup', isStart: true, method: 'GET', url: 'https://crm.example.com/caller' },
    },
    ...faultyGraph.nodes.map((node) => ({ ...node, data: { ...node.data, isStart: false } })),
  ],
  edges: [{ source: 'lookup', target: 'greet', data: { label: 'success' } }, ...faultyGraph.edges],
};

describe('publishing to production', () => {
  it('is allowed without a required, enabled scenario', async () => {
    await client.scenario({ pathway_id: pathway, ...soundBooking });
    await required({ ...missingEdge, enabled: false });
    expect((await publish()).status).toBe(200);
    expect(await production()).toBe(1);
  });

  it('is blocked with the reason, starts the batch, and is allowed once the batch has passed', async () => {
    const id = await required(soundBooking);
    const details = await blocked();
    expect(details).toEqual({
      pathway_id: pathway,
      version_id: 1,
      environment: 'production',
      batch_id: details.batch_id,
      scenarios: [
        {
          scenario_id: id,
          name: 'Books and is done',
          reason: 'NO_RUN',
          latest_run_id: null,
          score: null,
          runs_required: 1,
          runs_passed: 0,
        },
      ],
    });
    const batch = await client.endedBatch(String(details.batch_id));
    expect(batch).toMatchObject({
      status: 'PASSED',
      trigger_source: 'promotion',
      publish_on_pass: false,
      version_number: 1,
    });
    expect(await production()).toBe(null);
    expect((await publish()).status).toBe(200);
  });

  it('gives the reason for each blocking scenario', async () => {
    const failing = await required(missingEdge);
    const changed = await required(soundBooking);
    const ended = await client.endedBatch(String((await blocked()).batch_id));
    const run = ended.runs.find(({ scenario_id }) => scenario_id === failing);
    test.clock.advance(1000);
    await client.call('PUT', `/scenarios/${changed}`, { description: 'Now with a description' });
    const details = await blocked();
    expect(details.scenarios).toMatchObject([
      { scenario_id: failing, reason: 'RUN_FAILED', latest_run_id: run?.id, score: 0 },
      { scenario_id: changed, reason: 'SCENARIO_CHANGED' },
    ]);
    expect(details.batch_id).not.toBe(ended.id);
  });

  it('counts only runs of exactly this content, with the scenario’s own data', async () => {
    const id = await required(soundBooking);
    await client.run(id, { version_number: 1, request_data_override: { vip: true } });
    await test.call('POST', `/v1/pathway/${pathway}/version`, {
      body: { name: 'other', nodes: slowGraph.nodes, edges: slowGraph.edges },
    });
    expect((await blocked()).scenarios).toMatchObject([{ reason: 'NO_RUN' }]);
    await client.run(id, { version_number: 1 });
    expect((await publish()).status).toBe(200);
    // The live graph has the same content as version 1, but version 2 does not.
    const second = await publish({ version_id: 2 });
    expect(second.codes).toEqual(['PROMOTION_BLOCKED']);
  });

  it('reuses a batch already running for the content', async () => {
    await test.call('POST', `/v1/pathway/${pathway}/version/1`, { body: { name: 'slow', ...slowGraph } });
    await required(soundBooking);
    const [first, second] = await Promise.all([blocked(), blocked()]);
    expect(second?.batch_id).toBe(first?.batch_id);
    expect((await blocked()).scenarios).toMatchObject([{ reason: 'RUN_IN_PROGRESS' }]);
    const third = await required({ ...soundBooking, name: 'Another' });
    const details = await blocked();
    expect(details.batch_id).not.toBe(first?.batch_id);
    expect(details.scenarios).toMatchObject([{}, { scenario_id: third, reason: 'NO_RUN' }]);
  });

  it('wants as many runs of different seeds to pass as the scenario says, and starts them', async () => {
    const id = await required({ ...soundBooking, promotion_repeats: 3 });
    await client.run(id, { version_number: 1, seed: 7 });
    await client.run(id, { version_number: 1, seed: 7 });
    const details = await blocked();
    expect(details.scenarios).toMatchObject([{ reason: 'TOO_FEW_RUNS', runs_required: 3, runs_passed: 1 }]);
    const batch = await client.endedBatch(String(details.batch_id));
    expect(batch).toMatchObject({ status: 'PASSED', total_scenarios: 3 });
    expect(new Set(batch.runs.map(({ scenario_id }) => scenario_id))).toEqual(new Set([id]));
    expect((await publish()).status).toBe(200);
  });

  it('does not block publishing to staging', async () => {
    await required(missingEdge);
    expect((await publish({ environment: 'staging' })).status).toBe(200);
  });
});

describe('asking what keeps a version from production', () => {
  const gate = async (version: number | string = 1, key = test.key) =>
    test.call('GET', `/v1/pathway/${pathway}/version/${version}/gate`, { key });

  it('names what blocks it, and starts nothing', async () => {
    const open = { version_id: 1, in_production: false, passed: true, blocking: 0, scenarios: [] };
    expect((await gate()).body).toEqual({ ...open, waiting_batch_id: null });
    const id = await required(soundBooking);
    expect((await gate()).body).toEqual({
      ...open,
      passed: false,
      blocking: 1,
      scenarios: [
        {
          scenario_id: id,
          name: 'Books and is done',
          reason: 'NO_RUN',
          latest_run_id: null,
          score: null,
          runs_required: 1,
          runs_passed: 0,
        },
      ],
      waiting_batch_id: null,
    });
    expect((await client.call('GET', '/runs')).body.total_count).toBe(0);
    await client.run(id, { version_number: 1 });
    expect((await gate()).body).toMatchObject({ passed: true, in_production: false });
    await publish();
    expect((await gate()).body).toMatchObject({ passed: true, in_production: true });
  });

  it('names the batch after which it is published', async () => {
    await test.call('POST', `/v1/pathway/${pathway}/version/1`, { body: { name: 'slow', ...slowGraph } });
    await required(soundBooking);
    const { batch_id } = (await publish({ publish_on_pass: true })).body;
    expect((await gate()).body).toMatchObject({
      scenarios: [{ reason: 'RUN_IN_PROGRESS' }],
      waiting_batch_id: batch_id,
    });
  });

  it('knows no live graph, and nothing of others', async () => {
    expect((await gate(0)).codes).toEqual(['VERSION_NOT_FOUND']);
    expect((await gate('x')).codes).toEqual(['VERSION_NOT_FOUND']);
    expect((await gate(1, test.foreignKey)).codes).toEqual(['PATHWAY_NOT_FOUND']);
  });
});

describe('publish_on_pass', () => {
  const wait = async () => {
    const answer = await publish({ publish_on_pass: true });
    expect(answer.status).toBe(202);
    return String(answer.body.batch_id);
  };
  /** After the batch's listeners have run. */
  const settled = async (batchId: string) => {
    await client.endedBatch(batchId);
    for (;;) {
      const { db } = test.control.services.database;
      const waiting = await db.selectFrom('pending_promotions').selectAll().execute();
      if (waiting.length === 0) return (await client.call('GET', `/batches/${batchId}`)).body.data;
      await new Promise(setImmediate);
    }
  };

  it('publishes when the batch passes', async () => {
    await test.call('POST', `/v1/pathway/${pathway}/version/1`, { body: { name: 'slow', ...slowGraph } });
    await required(soundBooking);
    const batch = await wait();
    expect(await wait()).toBe(batch);
    expect(await production()).toBe(null);
    release();
    expect(await settled(batch)).toMatchObject({ status: 'PASSED', publish_on_pass: true, published: true });
    expect(await production()).toBe(1);
  });

  it('publishes even when the batch finishes before the response', async () => {
    await required(soundBooking);
    expect(await settled(await wait())).toMatchObject({ published: true });
    expect(await production()).toBe(1);
  });

  it('publishes nothing when the batch fails', async () => {
    await required(missingEdge);
    expect(await settled(await wait())).toMatchObject({ status: 'FAILED', published: false });
    expect(await production()).toBe(null);
  });
});

describe('the draft of a persona', () => {
  it('is promoted when its required scenario passes on exactly this draft', async () => {
    const created = await test.call('POST', '/v1/personas', {
      body: { name: 'Ann', personality_prompt: 'Say "Hello, this is Ann. How can I help you?"' },
    });
    const persona = created.body.data?.id;
    await client.scenario({
      persona_id: persona,
      is_required_for_promotion: true,
      name: 'Greets',
      scenario_type: 'REPLAY',
      input_messages: [{ role: 'user', content: 'Goodbye' }],
      assertions: [{ type: 'STRING_CHECK', config: { value: 'Goodbye', target: 'agent' } }],
    });
    const promote = (body: object = {}) =>
      test.call('POST', `/v1/personas/${String(persona)}/versions/promote`, { body });
    const refused = await promote();
    expect(refused.codes).toEqual(['PROMOTION_BLOCKED']);
    const batch = await client.endedBatch(String(refused.errors[0]?.details?.batch_id));
    expect(batch).toMatchObject({ status: 'PASSED', trigger_source: 'promotion' });
    expect((await promote()).status).toBe(200);
  });
});
