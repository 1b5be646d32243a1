/**
 * Lists that the program itself fills stay within the page limit, however many rows there are and however large each
 * is.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BatchAnswer } from '#shared/api/agent-testing/batches.ts';
import { RunList } from '#shared/api/agent-testing/runs.ts';
import { ThreadListAnswer } from '#shared/api/widgets.ts';
import { newId } from '#shared/ids.ts';
import { storeFinishedRun } from '../../test/kit/control/agent-testing.ts';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { makeThread, makeWidget } from '../../test/kit/control/widgets.ts';
import { type Db, toJson } from '../db/index.ts';
import { pageBytes } from './pages.ts';

const at = '2030-01-01T00:00:00.000Z';
const words = (length: number) => 'é"'.repeat(length / 2);

let test: TestControl;
let pathway_id: string;
let scenario_id: string;
const batch = newId();
const session = newId();
let widget: string;

beforeAll(async () => {
  test = await startRoutes({ RATE_LIMIT_PER_MINUTE: '1000000' });
  pathway_id = String(
    (await test.call('POST', '/v1/pathway/create', { body: { name: 'p' } })).body.pathway_id,
  );
  const made = await test.call('POST', '/v1/agent-testing/scenarios', { body: { pathway_id, name: 's' } });
  scenario_id = String(made.body.id);
  widget = await makeWidget(test);
  await makeThread(test, widget);
  await test.control.services.database.db.transaction().execute(async (db) => {
    await fillRuns(db);
    await fillTornado(db);
    await fillThreads(db);
  });
});
afterAll(() => test.close());

/** 110 runs with 5 results each, 6 MB of evidence; a batch has 100 of them. */
async function fillRuns(db: Db): Promise<void> {
  const { orgId: org_id } = test;
  await db
    .insertInto('test_batches')
    .values({
      id: batch,
      org_id,
      pathway_id,
      persona_id: null,
      status: 'FAILED',
      trigger_source: 'api',
      version_number: 1,
      content_hash: 'h',
      total_scenarios: 100,
      publish_on_pass: 0,
      published: 0,
      webhook_url: null,
      created_at: at,
      completed_at: at,
    })
    .execute();
  for (let run = 0; run < 110; run++) {
    const id = await storeFinishedRun(db, {
      orgId: org_id,
      scenarioId: scenario_id,
      pathwayId: pathway_id,
      createdAt: at,
      status: 'FAILED',
      more: { batch_id: run < 100 ? batch : null },
    });
    const results = Array.from({ length: 5 }, (_, place) => ({
      run_id: id,
      place,
      assertion_id: newId(),
      type: 'CONTAINS',
      name: words(200),
      status: 'FAILED' as const,
      passed: 0 as const,
      score: 0,
      weight: 1,
      is_required: 1 as const,
      reasoning: words(2000),
      evidence: toJson([words(2000)]),
      target: null,
      expected: words(1000),
    }));
    await db.insertInto('test_assertion_results').values(results).execute();
  }
}

/** 20 iterations, each with 250 KB of plans and differences. */
async function fillTornado(db: Db): Promise<void> {
  await db
    .insertInto('test_tornado_sessions')
    .values({
      id: session,
      org_id: test.orgId,
      pathway_id,
      persona_id: null,
      status: 'COMPLETED_PARTIAL',
      scenario_ids: toJson([scenario_id]),
      unfixable_ids: toJson([]),
      base_version: 1,
      forked_version: 2,
      current_iteration: 20,
      max_iterations: 20,
      timeout_ms: 1,
      seed: 1,
      passed_scenarios: 0,
      failed_scenarios: 1,
      webhook_url: null,
      error_message: null,
      state: null,
      worker: null,
      lease_until: null,
      cancel_requested_at: null,
      created_at: at,
      completed_at: at,
    })
    .execute();
  const diff = toJson([
    { op: 'changed', path: 'nodes/n/data/text', before: words(60_000), after: words(60_000) },
  ]);
  for (let iteration = 1; iteration <= 20; iteration++) {
    await db
      .insertInto('test_tornado_iterations')
      .values({
        session_id: session,
        iteration,
        batch_id: batch,
        version_number: 1,
        started_at: at,
        completed_at: at,
        passed_ids: toJson([]),
        failed_ids: toJson([scenario_id]),
        newly_unfixable_ids: toJson([]),
        avg_score: 0,
        fix_plan: null,
        prompt_excerpt: words(20_000),
        diff,
      })
      .execute();
  }
}

/** 100 threads of 50 messages of 1 KB each. */
async function fillThreads(db: Db): Promise<void> {
  const { ordinal, ...thread } = await db.selectFrom('widget_threads').selectAll().executeTakeFirstOrThrow();
  for (let more = 0; more < 100; more++) {
    const id = more === 0 ? thread.id : newId();
    if (more > 0)
      await db
        .insertInto('widget_threads')
        .values({ ...thread, id })
        .execute();
    await db.deleteFrom('widget_messages').where('thread_id', '=', id).execute();
    const messages = Array.from({ length: 50 }, (_, index) => ({
      thread_id: id,
      number: index + 1,
      id: newId(),
      sender_type: 'USER' as const,
      content: index === 49 ? 'last' : words(1000),
      original_content: null,
      created_at: at,
    }));
    await db.insertInto('widget_messages').values(messages).execute();
    await db.updateTable('widget_threads').set({ message_count: 50 }).where('id', '=', id).execute();
  }
}

/** The testing group includes its content twice. */
async function small(url: string) {
  const answer = await test.call('GET', url);
  expect([url, answer.status]).toEqual([url, 200]);
  expect(answer.bytes.length).toBeLessThan(2 * pageBytes + 65_536);
  return answer;
}

it.each([
  ['/v1/agent-testing/runs?limit=100', RunList],
  [`/v1/agent-testing/batches/${batch}`, BatchAnswer],
])('the runs of %s omit their results, and say so', async (url, schema) => {
  const { runs } = (await small(url)).read(schema);
  expect(runs).toHaveLength(100);
  for (const { omitted, assertion_results } of runs) {
    expect(omitted).toEqual(['assertion_results']);
    expect(assertion_results).toEqual([]);
  }
});

it('the batches of an organization omit their runs', async () => {
  const { batches } = (await small('/v1/agent-testing/batches')).body;
  expect(batches).toMatchObject([{ id: batch, total_scenarios: 100 }]);
  expect(batches).not.toHaveProperty('0.runs');
});

it('the iterations of a tornado session omit their largest parts, and say so', async () => {
  const { iterations } = (await small(`/v1/agent-testing/tornado/${session}/status`)).body;
  expect(iterations).toHaveLength(20);
  expect(iterations).toMatchObject(Array(20).fill({ diff: null, omitted: ['diff'] }));
  await small('/v1/agent-testing/tornado');
});

it('the threads of a widget have only their newest messages, and say so', async () => {
  const { threads, total } = (await small(`${widget}/threads?limit=100`)).read(ThreadListAnswer).data;
  expect(total).toBe(100);
  expect(threads).toHaveLength(100);
  for (const { omitted, messages } of threads) {
    expect(omitted).toEqual(['messages']);
    expect(messages.at(-1)?.content).toMatch(/^last/);
  }
});
