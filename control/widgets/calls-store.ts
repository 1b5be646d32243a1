/** Calls of visitors, and the lines that were spoken in them. */
import type { Db, WidgetCallRow, WidgetMessageRow } from '../db/index.ts';

/** A call that has begun, as far as its edge has reported it. */
export interface BegunCall
  extends Pick<WidgetCallRow, 'session_id' | 'thread_id' | 'widget_id' | 'copied_part'> {
  readonly call_id: string;
  /** null: it runs. */
  readonly ended_at: string | null;
}

export async function insertCall(db: Db, row: WidgetCallRow): Promise<void> {
  await db.insertInto('widget_calls').values(row).execute();
}

/** Calls of a widget that run, or may still begin. @param now ISO */
export async function countCalls(db: Db, widgetId: string, now: string): Promise<number> {
  const { count } = await db
    .selectFrom('widget_calls')
    .leftJoin('phone_sessions', 'phone_sessions.id', 'widget_calls.session_id')
    .leftJoin('calls', 'calls.id', 'phone_sessions.last_call_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('widget_calls.widget_id', '=', widgetId)
    .where('calls.ended_at', 'is', null)
    .where((eb) =>
      eb.or([eb('phone_sessions.last_call_id', 'is not', null), eb('widget_calls.expires_at', '>', now)]),
    )
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Those whose lines are not all copied yet. @param now ISO: of a call whose record is gone */
export async function begunCalls(db: Db, now: string, limit: number): Promise<BegunCall[]> {
  const rows = await db
    .selectFrom('widget_calls')
    .innerJoin('phone_sessions', 'phone_sessions.id', 'widget_calls.session_id')
    .leftJoin('calls', 'calls.id', 'phone_sessions.last_call_id')
    .select([
      'widget_calls.session_id',
      'widget_calls.thread_id',
      'widget_calls.widget_id',
      'widget_calls.copied_part',
      'phone_sessions.last_call_id',
      'calls.id as known',
      'calls.ended_at',
    ])
    .where('phone_sessions.last_call_id', 'is not', null)
    .orderBy('widget_calls.expires_at')
    .limit(limit)
    .execute();
  return rows.flatMap(({ last_call_id: call_id, known, ended_at, ...row }) =>
    call_id === null ? [] : [{ ...row, call_id, ended_at: known === null ? now : ended_at }],
  );
}

export async function moveCopied(db: Db, sessionId: string, copied_part: number): Promise<void> {
  await db.updateTable('widget_calls').set({ copied_part }).where('session_id', '=', sessionId).execute();
}

export async function deleteCall(db: Db, sessionId: string): Promise<void> {
  await db.deleteFrom('widget_calls').where('session_id', '=', sessionId).execute();
}

/** Deletes those of which no call was reported. @param before ISO: when they expired */
export async function pruneCalls(db: Db, before: string): Promise<void> {
  await db
    .deleteFrom('widget_calls')
    .where('expires_at', '<=', before)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('phone_sessions')
            .select('id')
            .whereRef('phone_sessions.id', '=', 'widget_calls.session_id')
            .where('last_call_id', 'is not', null),
        ),
      ),
    )
    .execute();
}

/** The messages that were spoken in a call. */
export async function spokenIds(db: Db, threadId: string, callId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('widget_messages')
    .select('id')
    .where('thread_id', '=', threadId)
    .where('call_id', '=', callId)
    .execute();
  return rows.map(({ id }) => id);
}

/** Replaces the text of a message that was not heard to its end. */
export async function reviseMessage(
  db: Db,
  { thread_id, id, ...text }: Pick<WidgetMessageRow, 'thread_id' | 'id' | 'content' | 'original_content'>,
): Promise<void> {
  await db
    .updateTable('widget_messages')
    .set(text)
    .where('thread_id', '=', thread_id)
    .where('id', '=', id)
    .execute();
}
