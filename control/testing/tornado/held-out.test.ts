/** Held-out variants belong to the iteration whose version was tried on them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { faultyGraph, missingEdge, soundBooking } from '../../../test/kit/control/dental.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { TornadoClient } from '../../../test/kit/control/tornado.ts';
import { cancelledEnd, finishRun } from '../records/write.ts';
import type { Planner } from './planner.ts';
import { Sessions } from './sessions.ts';

const test = emptiedForEach(() => startControl({}, {}, {}, { begin: false }));
let client: TornadoClient;
let sessions: Sessions;
beforeEach(async () => {
  client = new TornadoClient(test);
  sessions = new Sessions({
    services: test.control.services,
    log: { error: () => undefined },
    planner,
    stopped: () => undefined,
    metrics: { iterated: () => undefined, ended: () => undefined },
  });
  await sessions.resume();
});
afterEach(async () => {
  await sessions.close();
});

const db = () => test.control.services.database.db;

/** One new fix for each failed scenario, each time. */
let planned = 0;
const planner: Planner = async (cases) =>
  cases.map(({ scenarioId }) => ({
    scenarioId,
    findings: [
      {
        cause: 'prompt' as const,
        type: 'prompt_change' as const,
        nodeId: 'greet',
        description: 'It says the wrong thing.',
        suggestedChange: 'Say something else.',
        confidence: 0.9,
        edit: { kind: 'set_words', node: 'greet', member: 'text', words: `Hello number ${++planned}.` },
      },
    ],
  }));

/** Ends the runs that wait, and takes the steps that follow. */
async function runsEnd(session: string, passes: (scenarioId: string) => boolean): Promise<void> {
  const waiting = await db().selectFrom('test_runs').selectAll().where('status', '=', 'PENDING').execute();
  for (const { id, scenario_id } of waiting) {
    const passed = passes(scenario_id);
    const end = {
      ...cancelledEnd('2030-01-01T00:00:01.000Z'),
      ...(passed ? { status: 'PASSED' as const, score: 1 } : { status: 'FAILED' as const, score: 0.5 }),
    };
    await db()
      .transaction()
      .execute((trx) => finishRun(trx, id, end));
  }
  await sessions.advance(session);
}

it('an iteration that is broken off has no variants of the one before', async () => {
  const pathway = await client.pathway(faultyGraph);
  const fixed = await client.scenario({ pathway_id: pathway, ...soundBooking });
  await client.scenario({ pathway_id: pathway, ...missingEdge });
  const session = await client.tornado(pathway);
  await sessions.look();
  await runsEnd(session, () => false);
  const isFixed = (id: string) => id === fixed;
  await runsEnd(session, isFixed);
  // The variants of the scenario that passes now.
  await runsEnd(session, isFixed);
  const ofSession = await db().selectFrom('test_runs').select(['trigger_source', 'as_is']).execute();
  // A variant is no run of the scenario as it is.
  for (const { as_is, trigger_source } of ofSession)
    expect(as_is).toBe(trigger_source === 'held_out' ? 0 : 1);
  expect((await client.status(session)).data).toMatchObject({ status: 'RUNNING', current_iteration: 3 });
  expect((await client.call('POST', `/tornado/${session}/cancel`)).status).toBe(200);
  await sessions.cancelled(session);
  const { data } = await client.status(session);
  expect(data).toMatchObject({ status: 'CANCELLED', held_out: { variants: 3, passed: 3 } });
  expect(data.iterations.map(({ held_out }) => held_out)).toEqual([null, { variants: 3, passed: 3 }, null]);
});
