/**
 * The retention of tests. Verdicts of runs stay up to the run limit (delete-store.ts), and their counts in analytics
 * stay; the content of a run is deleted, and so is a tornado session with its fix plans and diffs. The versions that it
 * created stay.
 */
import { type Db, deleteInBatches, emptiedList, type TestRunRecordRow, toJson } from '../../db/index.ts';
import { deleteSessions } from './tornado-sessions.ts';

/**
 * Empties the records of runs that ended before then, including quotes in their assertions.
 * @param before ISO
 * @param now ISO
 * @returns how many runs
 */
export function emptyRecordsBefore(db: Db, before: string, now: string): Promise<number> {
  return deleteInBatches((limit) =>
    db.transaction().execute(async (trx) => {
      const old = await trx
        .selectFrom('test_run_records')
        .select('run_id')
        .where('ended_at', '<', before)
        .orderBy('ended_at')
        .limit(limit)
        .execute();
      const ids = old.map(({ run_id }) => run_id);
      if (ids.length === 0) return { numDeletedRows: 0n };
      await trx
        .updateTable('test_assertion_results')
        .set({ evidence: toJson([]) })
        .where('run_id', 'in', ids)
        .execute();
      const { numUpdatedRows } = await trx
        .updateTable('test_run_records')
        .set({
          // Nothing reads it anymore.
          scenario: toJson({}) as TestRunRecordRow['scenario'],
          chat_history: toJson([]),
          variables_extracted: toJson({}),
          webhook_calls: toJson([]),
          tool_calls: toJson([]),
          log: toJson([]),
          ending: null,
          // Scores stay; examples are quotes.
          service_tone_score: emptiedList(trx, 'service_tone_score', 'examples'),
          voice: null,
          ended_at: null,
          deleted_at: now,
        })
        .where('run_id', 'in', ids)
        .executeTakeFirst();
      return { numDeletedRows: numUpdatedRows };
    }),
  );
}

/** @param before ISO @returns how many sessions were deleted */
export function deleteTornadoBefore(db: Db, before: string): Promise<number> {
  return deleteInBatches((limit) =>
    db.transaction().execute(async (trx) => {
      const old = await trx
        .selectFrom('test_tornado_sessions')
        .select('id')
        .where('completed_at', '<', before)
        .orderBy('completed_at')
        .limit(limit)
        .execute();
      const gone = await deleteSessions(
        trx,
        old.map(({ id }) => id),
      );
      return { numDeletedRows: BigInt(gone) };
    }),
  );
}
