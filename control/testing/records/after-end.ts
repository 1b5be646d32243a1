/** Consequences of a run's end, in the same transaction: its batch or set may be complete, and waiters are notified. */

import type { Db, TestRunRow } from '../../db/index.ts';
import { queueEvent } from '../../webhooks/index.ts';
import { settleBatch } from './batch-store.ts';
import { findRecord, findRun, resultsOf } from './run-store.ts';
import { settleSet } from './set-store.ts';
import { sentRunView } from './views.ts';

/** @param now ISO, when it ended */
export async function afterEnd(db: Db, run: TestRunRow, now: string): Promise<void> {
  const { batch_id, simulation_set_id, tornado_session_id } = run;
  if (batch_id !== null) await settleBatch(db, batch_id, now);
  if (simulation_set_id !== null) await settleSet(db, simulation_set_id, now);
  // Runs inside a batch, set or session send no event of their own (contract 13).
  if (batch_id === null && simulation_set_id === null && tornado_session_id === null) {
    await announceRun(db, run, now);
  }
}

async function announceRun(db: Db, { id, org_id, webhook_url }: TestRunRow, now: string): Promise<void> {
  const run = await findRun(db, org_id, id);
  if (!run) return;
  const results = (await resultsOf(db, [id])).get(id) ?? [];
  await queueEvent(
    db,
    { now: () => Date.parse(now) },
    {
      orgId: org_id,
      type: 'test_run.completed',
      url: webhook_url,
      subjectId: id,
      data: sentRunView(run, await findRecord(db, id), results),
    },
  );
}
