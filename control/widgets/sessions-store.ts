/** Tokens that give a page's visitor access to one thread. */
import { randomBytes } from 'node:crypto';
import type { Db, WidgetSessionRow } from '../db/index.ts';
import { hashKey } from '../organizations/index.ts';

/** Prefix of tokens, so that they are not looked up as API keys. */
const mark = 'wv_';
const lifetimeMs = 24 * 60 * 60 * 1000;

export function isToken(text: string): boolean {
  return text.startsWith(mark);
}

/** Creates a token of 256 random bits for a thread; only its hash is stored. @param now ms */
export async function createSession(
  db: Db,
  session: { readonly widgetId: string; readonly threadId: string },
  now: number,
): Promise<{ token: string; expiresAt: string }> {
  const token = mark + randomBytes(32).toString('base64url');
  const expiresAt = new Date(now + lifetimeMs).toISOString();
  await db
    .insertInto('widget_sessions')
    .values({
      token_hash: hashKey(token),
      widget_id: session.widgetId,
      thread_id: session.threadId,
      expires_at: expiresAt,
    })
    .execute();
  return { token, expiresAt };
}

/** @param now ISO */
export function findSession(db: Db, token: string, now: string): Promise<WidgetSessionRow | undefined> {
  return db
    .selectFrom('widget_sessions')
    .selectAll()
    .where('token_hash', '=', hashKey(token))
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

/** @param now ISO */
export async function pruneSessions(db: Db, now: string): Promise<number> {
  const result = await db.deleteFrom('widget_sessions').where('expires_at', '<=', now).executeTakeFirst();
  return Number(result.numDeletedRows);
}
