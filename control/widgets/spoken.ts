/** Copies what is said in calls of visitors into their threads, as it is said. */
import type { Clock, Timer } from '#shared/clock.ts';
import { findTranscriptParts } from '../calls/index.ts';
import type { Db, WidgetRow } from '../db/index.ts';
import {
  type BegunCall,
  begunCalls,
  deleteCall,
  moveCopied,
  reviseMessage,
  spokenIds,
} from './calls-store.ts';
import type { Live } from './live.ts';
import { clean } from './masking.ts';
import { PendingLines, type SpokenLine } from './pending-lines.ts';
import { endOf } from './rules.ts';
import { findThread, findWidget, insertMessage, updateThread } from './store.ts';
import { configOf } from './views.ts';

export interface SpokenParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly live: Live;
  readonly log: { error(facts: object, message: string): void };
  /** A thread ends with its message of this number. */
  readonly mostMessages: number;
  readonly onLines: (count: number) => void;
}

/** Between two looks for new lines, ms: while there are calls, and while there are none. */
const [busyMs, idleMs] = [300, 1000];
/** Calls of one look; each is over within hours, so that all have their turn. */
const mostCalls = 500;
/** Reports of a call that has ended may come a moment after that of its end, ms. */
const lateMs = 10_000;

/** Returns a function that stops this and resolves when nothing is running. */
export function startSpoken(parts: SpokenParts): () => Promise<void> {
  const spoken = new Spoken(parts);
  const { clock, log } = parts;
  let running: Promise<void> = Promise.resolve();
  let timer: Timer;
  let stopped = false;
  const look = () => {
    running = spoken
      .round()
      .catch((error: unknown) => {
        log.error({ err: error }, 'what visitors said could not be copied into their threads');
        return 0;
      })
      .then((calls) => {
        if (!stopped) timer = clock.after(calls > 0 ? busyMs : idleMs, look);
      });
  };
  timer = clock.after(0, look);
  return async () => {
    stopped = true;
    timer.cancel();
    await running;
    spoken.close();
  };
}

class Spoken {
  readonly #parts: SpokenParts;
  /** Of each call, by its phone session. */
  readonly #calls = new Map<string, { readonly threadId: string; readonly lines: PendingLines }>();
  /** Lines that are shown as being written: those that are not settled. */
  readonly #shown = new Map<string, string>();

  constructor(parts: SpokenParts) {
    this.#parts = parts;
  }

  /** @returns how many calls there are */
  async round(): Promise<number> {
    const { clock, db } = this.#parts;
    const calls = await begunCalls(db, new Date(clock.now()).toISOString(), mostCalls);
    for (const call of calls) await this.#copy(call);
    const present = new Set(calls.map(({ session_id }) => session_id));
    for (const id of this.#calls.keys()) if (!present.has(id)) this.#forget(id);
    return calls.length;
  }

  close(): void {
    for (const id of this.#calls.keys()) this.#forget(id);
  }

  async #copy(call: BegunCall): Promise<void> {
    const { clock, db, live } = this.#parts;
    const { session_id, thread_id } = call;
    const widget = await findWidget(db, null, call.widget_id);
    if (!widget) return;
    const lines = await this.#linesOf(call);
    const now = clock.now();
    const revised: SpokenLine[] = [];
    for (const part of await findTranscriptParts(db, call.call_id, lines.lastPart))
      revised.push(...lines.add(part.id, part.entries, now));
    const settled = lines.settle(now, call.ended_at !== null);
    if (settled.length + revised.length > 0) {
      try {
        await this.#store(call, widget, settled, revised, lines.copiedPart);
      } catch (error) {
        // All of it comes again from the last part that is copied.
        this.#forget(session_id);
        throw error;
      }
      for (const { id } of settled) this.#written(thread_id, id);
      live.changed(thread_id);
    }
    for (const line of lines.waiting) this.#show(widget, thread_id, line);
    if (call.ended_at === null || now - Date.parse(call.ended_at) < lateMs) return;
    await deleteCall(db, session_id);
    this.#forget(session_id);
  }

  async #linesOf({ session_id, thread_id, call_id, copied_part }: BegunCall): Promise<PendingLines> {
    const known = this.#calls.get(session_id);
    if (known) return known.lines;
    const lines = new PendingLines(await spokenIds(this.#parts.db, thread_id, call_id), copied_part);
    this.#calls.set(session_id, { threadId: thread_id, lines });
    return lines;
  }

  /** Nothing is added to a thread that has ended. */
  async #store(
    { session_id, thread_id, call_id }: BegunCall,
    widget: WidgetRow,
    settled: readonly SpokenLine[],
    revised: readonly SpokenLine[],
    copiedPart: number,
  ): Promise<void> {
    const { clock, db, mostMessages, onLines } = this.#parts;
    const { blockedWords, timeoutSeconds } = configOf(widget);
    const textOf = (text: string) => {
      const { content, original } = clean(text, blockedWords);
      return { content, original_content: original };
    };
    const stored = await db.transaction().execute(async (trx) => {
      await moveCopied(trx, session_id, copiedPart);
      const thread = await findThread(trx, widget.id, thread_id);
      const at = clock.now();
      if (!thread || endOf(thread, new Date(at).toISOString()) !== null) return 0;
      for (const { id, text } of revised)
        if (text !== '') await reviseMessage(trx, { thread_id, id, ...textOf(text) });
      // A replica that held this work before may still have stored some.
      const known = new Set(await spokenIds(trx, thread_id, call_id));
      const heard = settled
        .filter(({ id, text }) => text !== '' && !known.has(id))
        .slice(0, mostMessages - thread.message_count);
      if (heard.length === 0) return 0;
      for (const [index, { id, user, at: created_at, text }] of heard.entries())
        await insertMessage(trx, {
          thread_id,
          number: thread.message_count + index + 1,
          id,
          sender_type: user === 'user' ? 'USER' : 'ASSISTANT',
          ...textOf(text),
          created_at,
          call_id,
        });
      const message_count = thread.message_count + heard.length;
      await updateThread(trx, thread_id, {
        message_count,
        ends_at: new Date(at + timeoutSeconds * 1000).toISOString(),
        ...(message_count >= mostMessages && { ended_at: new Date(at).toISOString() }),
      });
      return heard.length;
    });
    onLines(stored);
  }

  /** The agent's line as it is being said; a stream shows it until it is a message. */
  #show(widget: WidgetRow, threadId: string, { id, user, text }: SpokenLine): void {
    if (user !== 'assistant' || this.#shown.has(id)) return;
    this.#shown.set(id, threadId);
    this.#parts.live.wrote(threadId, id, clean(text, configOf(widget).blockedWords).content);
  }

  #written(threadId: string, id: string): void {
    if (this.#shown.delete(id)) this.#parts.live.written(threadId, id);
  }

  #forget(sessionId: string): void {
    const { threadId, lines } = this.#calls.get(sessionId) ?? {};
    if (threadId === undefined || !lines) return;
    this.#calls.delete(sessionId);
    for (const { id } of lines.waiting) this.#written(threadId, id);
  }
}
