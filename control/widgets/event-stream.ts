/**
 * A thread as a stream of server-sent events (HTML standard, section 9.2). Messages are read from the database one page
 * at a time, after the last one sent; so a stream is complete and in order, whatever was missed, and a slow reader
 * costs only its connection.
 */
import type { Clock } from '#shared/clock.ts';
import type { Db } from '../db/index.ts';
import { serverSentEvent as event, retryMs } from '../http/index.ts';
import type { Watcher } from './live.ts';
import { endOf } from './rules.ts';
import { findThread, messagesOf } from './store.ts';
import { messageView } from './views.ts';

export interface ThreadEventsParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly watcher: Watcher;
  readonly widgetId: string;
  readonly threadId: string;
  /** Number of the reader's last message; 0: none. */
  readonly after: number;
  readonly toVisitor: boolean;
  /** Aborted when the stream is to end. */
  readonly signal: AbortSignal;
  readonly heartbeatMs: number;
}

const perPage = 50;

/** Ends with the thread, or when `signal` is aborted. */
export async function* threadEvents(parts: ThreadEventsParts): AsyncGenerator<string> {
  const { watcher, signal } = parts;
  const state: Sent = { number: parts.after, handedOff: false, drafts: new Set() };
  yield `retry: ${retryMs}\n\n`;
  if (yield* changes(parts, state)) return;
  for (;;) {
    if (signal.aborted) return;
    const notices = watcher.take();
    for (const notice of notices) {
      if (notice.type === 'changed') {
        if (yield* changes(parts, state)) return;
      } else if (!state.drafts.has(notice.id)) {
        yield event('delta', { id: notice.id, text: notice.text });
      }
    }
    if (notices.length === 0 && (await quiet(parts))) yield ':\n\n';
  }
}

interface Sent {
  number: number;
  handedOff: boolean;
  /** Answers sent completely: their pieces no longer need to be sent. */
  readonly drafts: Set<string>;
}

/** What was stored since the last time. Returns whether the thread has ended. */
async function* changes(parts: ThreadEventsParts, sent: Sent): AsyncGenerator<string, boolean> {
  const { clock, db, signal, threadId, toVisitor, widgetId } = parts;
  // Read before the messages, so that no message of an ended thread is missed.
  const thread = await findThread(db, widgetId, threadId);
  if (!thread) return true;
  for (let more = true; more && !signal.aborted; ) {
    const rows = await messagesOf(db, threadId, sent.number, perPage);
    for (const row of rows) {
      sent.number = row.number;
      if (row.sender_type === 'ASSISTANT') sent.drafts.add(row.id);
      yield event('message', messageView(row, toVisitor), row.number);
    }
    more = rows.length === perPage;
  }
  const { live_agent_handoff_at } = thread;
  if (live_agent_handoff_at !== null && !sent.handedOff) {
    sent.handedOff = true;
    yield event('handoff', { live_agent_handoff_at });
  }
  const ended_at = endOf(thread, new Date(clock.now()).toISOString());
  if (ended_at === null) return false;
  yield event('ended', { ended_at });
  return true;
}

/** Waits for something new. Returns true when nothing came within a heartbeat interval. */
async function quiet({ clock, heartbeatMs, watcher }: ThreadEventsParts): Promise<boolean> {
  let tooLong = false;
  const timer = clock.after(heartbeatMs, () => {
    tooLong = true;
    watcher.wake();
  });
  await watcher.somethingNew();
  timer.cancel();
  return tooLong;
}
