/**
 * The states of a thread:
 *
 *     [ agent ] --handoff--> [ live agent ]
 *         |                        |
 *         +--end, time-out, limit--+--> [ ended ]
 *         +--the agent's own end--------^
 *
 * Messages of one thread are handled one after the other. A hand-off or an end does not wait: it aborts the answer in
 * progress, which then leaves no trace.
 */
import { setImmediate } from 'node:timers/promises';
import type { SenderType, WidgetConfig } from '#shared/api/widgets.ts';
import type { Clock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { type Db, type Replica, SharedTurns, type WidgetMessageRow, type WidgetRow } from '../db/index.ts';
import type { Quotas } from '../organizations/index.ts';
import type { Live } from './live.ts';
import { clean, PieceMask } from './masking.ts';
import { endOf, unansweredText } from './rules.ts';
import {
  deleteThreadsOf,
  deleteWidget,
  findAgent,
  findThread,
  insertMessage,
  insertThread,
  keepAgent,
  messagesOf,
  type StoredThread,
  updateThread,
} from './store.ts';
import type { Answered, ThreadAgent } from './thread-agent.ts';
import { ThreadQueue } from './thread-queue.ts';
import { configOf } from './views.ts';

/** Threads of a deleted widget per transaction, with up to `mostMessages` messages each. */
const deletedAtOnce = 50;

export interface ThreadsParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly live: Live;
  readonly agent: ThreadAgent;
  readonly replica: Replica;
  readonly quotas: Pick<Quotas, 'threadRoom'>;
  readonly log: { error(facts: object, message: string): void };
  /** A thread ends with its message of this number. */
  readonly mostMessages: number;
  /** Most messages of one thread being answered or waiting. */
  readonly mostWaiting: number;
  /** Called for each rejected message. */
  readonly onRefused: () => void;
  /** Called for every answer of an agent. */
  readonly onAnswer: (outcome: 'answered' | 'broken_off' | 'failed', ms: number) => void;
}

export interface NewThread {
  readonly visitorId?: string | null;
  /** The client that starts it (visitors.ts). */
  readonly clientHash?: string | null;
  readonly variables?: Readonly<Record<string, unknown>>;
}

export interface Posted {
  readonly messages: readonly WidgetMessageRow[];
  readonly thread: StoredThread;
}

interface Draft {
  readonly id: string;
  readonly mask: PieceMask;
}

export class Threads {
  readonly #parts: ThreadsParts;
  readonly #queue: ThreadQueue;
  readonly #turns: SharedTurns;
  /** The answer in progress, by thread. */
  readonly #answering = new Map<string, AbortController>();

  constructor(parts: ThreadsParts) {
    this.#parts = parts;
    this.#queue = new ThreadQueue(parts.mostWaiting, parts.onRefused);
    this.#turns = new SharedTurns({ ...parts, kind: 'thread' });
  }

  /** Aborts answers in progress; resolves when nothing is running. */
  async close(): Promise<void> {
    const closed = this.#queue.close();
    for (const answering of this.#answering.values()) answering.abort(ending());
    await closed;
  }

  /**
   * @param answer builds the response, in the transaction that stores the thread
   * @throws ApiError PATHWAY_NOT_FOUND, VERSION_NOT_FOUND, PERSONA_NOT_FOUND, QUOTA_EXCEEDED
   */
  async create<T>(
    widget: WidgetRow,
    { visitorId = null, clientHash = null, variables = {} }: NewThread,
    answer: (db: Db, thread: StoredThread) => Promise<T>,
  ): Promise<T> {
    const { db, agent } = this.#parts;
    const { blockedWords, greeting, timeoutSeconds } = configOf(widget);
    const source = {
      orgId: widget.org_id,
      pathwayId: widget.pathway_id,
      pathwayVersion: widget.pathway_version,
      personaId: widget.persona_id,
    };
    const id = newId();
    const given = greeting !== null && greeting.trim() !== '' ? greeting : null;
    return db.transaction().execute(async (trx) => {
      const begun = await agent.begin(trx, { threadId: id, source, greeting: given, variables });
      const now = this.#now();
      const owners = { widget_id: widget.id, visitor_id: visitorId, client_hash: clientHash };
      await this.#parts.quotas.threadRoom(trx, owners, now);
      await insertThread(trx, {
        id,
        ...owners,
        org_id: widget.org_id,
        agent_hash: await keepAgent(trx, begun.agent),
        facts: begun.facts,
        state: null,
        message_count: 0,
        answered_count: 0,
        created_at: now,
        ends_at: later(now, timeoutSeconds),
        ended_at: null,
        live_agent_handoff_at: null,
      });
      if (begun.opening !== null) {
        const said = {
          id: newId(),
          threadId: id,
          number: 1,
          sender: 'ASSISTANT',
          text: begun.opening,
          at: now,
        } as const;
        await storeMessage(trx, said, blockedWords);
        await updateThread(trx, id, { message_count: 1 });
      }
      return answer(trx, await requireThread(trx, widget.id, id));
    });
  }

  /**
   * Stores a message and, unless a live agent has the thread, its agent's answer.
   * @throws ApiError THREAD_NOT_FOUND, THREAD_ENDED, HANDOFF_REQUIRED, MODEL_UNAVAILABLE: then the message is kept
   */
  post(widget: WidgetRow, threadId: string, content: string, sender: SenderType): Promise<Posted> {
    const answer = async (): Promise<Posted> => {
      const config = configOf(widget);
      const stored = await this.#storePosted(widget, threadId, content, sender, config);
      this.#parts.live.changed(threadId);
      const { thread } = stored;
      if (sender === 'ASSISTANT' || thread.live_agent_handoff_at !== null || thread.ended_at !== null) {
        return stored;
      }
      const answers = await this.#answer(widget, stored, config);
      return { messages: [...stored.messages, ...answers], thread: await this.#find(widget, threadId) };
    };
    return this.#queue.run(threadId, () => this.#turns.among(threadId, answer));
  }

  /** @throws ApiError THREAD_NOT_FOUND, THREAD_ENDED */
  async handOff(widget: WidgetRow, threadId: string): Promise<StoredThread> {
    const thread = await this.#parts.db.transaction().execute(async (trx) => {
      const row = await requireThread(trx, widget.id, threadId);
      const now = this.#now();
      if (endOf(row, now) !== null) throw ApiError.of('THREAD_ENDED');
      if (row.live_agent_handoff_at !== null) return row;
      await updateThread(trx, threadId, { live_agent_handoff_at: now });
      return { ...row, live_agent_handoff_at: now };
    });
    this.#altered(threadId);
    return thread;
  }

  /** @throws ApiError THREAD_NOT_FOUND */
  async end(widget: WidgetRow, threadId: string): Promise<StoredThread> {
    const thread = await this.#parts.db.transaction().execute(async (trx) => {
      const row = await requireThread(trx, widget.id, threadId);
      if (row.ended_at !== null) return row;
      const now = this.#now();
      const ended_at = endOf(row, now) ?? now;
      await updateThread(trx, threadId, { ended_at });
      return { ...row, ended_at };
    });
    this.#altered(threadId);
    return thread;
  }

  /**
   * Deletes a widget with its threads, in batches, so that no other request waits long for the database. A crash in
   * between leaves the widget with the remaining threads.
   * @param record in the transaction that deletes the widget
   */
  async removeWidget(widget: WidgetRow, record: (db: Db) => Promise<void>): Promise<void> {
    const { db } = this.#parts;
    for (let over = false; !over; ) {
      const gone = await db.transaction().execute(async (trx) => {
        const ids = await deleteThreadsOf(trx, widget.id, deletedAtOnce);
        over = ids.length < deletedAtOnce;
        if (over) {
          await deleteWidget(trx, widget.id);
          await record(trx);
        }
        return ids;
      });
      for (const id of gone) this.#altered(id);
      await setImmediate();
    }
  }

  /** The thread was ended or handed over elsewhere: its agent's answer is no longer needed. */
  #altered(threadId: string): void {
    this.#answering.get(threadId)?.abort(new BrokenOff());
    this.#parts.live.changed(threadId);
  }

  #find(widget: WidgetRow, threadId: string): Promise<StoredThread> {
    return requireThread(this.#parts.db, widget.id, threadId);
  }

  #storePosted(
    widget: WidgetRow,
    threadId: string,
    content: string,
    sender: SenderType,
    config: WidgetConfig,
  ): Promise<Posted> {
    return this.#parts.db.transaction().execute(async (trx) => {
      const row = await requireThread(trx, widget.id, threadId);
      const now = this.#now();
      if (endOf(row, now) !== null) throw ApiError.of('THREAD_ENDED');
      if (sender === 'ASSISTANT' && row.live_agent_handoff_at === null) throw ApiError.of('HANDOFF_REQUIRED');
      const number = row.message_count + 1;
      const said = { id: newId(), threadId, number, sender, text: content, at: now };
      const message = await storeMessage(trx, said, config.blockedWords);
      const ended_at = number >= this.#parts.mostMessages ? now : null;
      const change = { message_count: number, ends_at: later(now, config.timeoutSeconds), ended_at };
      await updateThread(trx, threadId, change);
      return { messages: [message], thread: { ...row, ...change } };
    });
  }

  async #answer(widget: WidgetRow, { thread, messages }: Posted, config: WidgetConfig) {
    const { agent, clock, db, live, log, onAnswer } = this.#parts;
    const stop = new AbortController();
    this.#answering.set(thread.id, stop);
    const drafts = new Map<number, Draft>();
    const began = clock.elapsed();
    try {
      const text = unansweredText(
        await messagesOf(db, thread.id, thread.answered_count),
        thread.answered_count,
      );
      const answering = agent.answer({
        orgId: widget.org_id,
        threadId: thread.id,
        agent: await findAgent(db, thread.agent_hash),
        facts: thread.facts,
        state: thread.state,
        text,
        signal: stop.signal,
        onPart: ({ message, text: piece }) => {
          if (stop.signal.aborted) return;
          const draft = drafts.get(message) ?? { id: newId(), mask: new PieceMask(config.blockedWords) };
          drafts.set(message, draft);
          live.wrote(thread.id, draft.id, draft.mask.add(piece));
        },
      });
      const answered = await untilAborted(answering, stop.signal);
      const ids = answered.messages.map((_, index) => drafts.get(index)?.id ?? newId());
      const rows = await this.#storeAnswers(widget, thread.id, answered, ids, config);
      onAnswer('answered', clock.elapsed() - began);
      return rows;
    } catch (error) {
      const reason: unknown = stop.signal.aborted ? stop.signal.reason : error;
      onAnswer(stop.signal.aborted ? 'broken_off' : 'failed', clock.elapsed() - began);
      if (reason instanceof BrokenOff) return [];
      if (reason instanceof ApiError) throw reason;
      log.error({ err: error, thread: thread.id }, 'a thread could not be answered');
      throw ApiError.of('MODEL_UNAVAILABLE', { message_id: messages[0]?.id });
    } finally {
      this.#answering.delete(thread.id);
      for (const { id } of drafts.values()) live.written(thread.id, id);
      live.changed(thread.id);
    }
  }

  /** Stores nothing when the thread was handed over or ended meanwhile. */
  #storeAnswers(
    widget: WidgetRow,
    threadId: string,
    answered: Answered,
    ids: readonly string[],
    config: WidgetConfig,
  ): Promise<WidgetMessageRow[]> {
    return this.#parts.db.transaction().execute(async (trx) => {
      const row = await requireThread(trx, widget.id, threadId);
      const now = this.#now();
      if (row.ended_at !== null || row.live_agent_handoff_at !== null) throw new BrokenOff();
      const rows: WidgetMessageRow[] = [];
      for (const [index, text] of answered.messages.entries()) {
        const number = row.message_count + rows.length + 1;
        const id = ids[index] ?? newId();
        const said = { id, threadId, number, sender: 'ASSISTANT', text, at: now } as const;
        rows.push(await storeMessage(trx, said, config.blockedWords));
      }
      const message_count = row.message_count + rows.length;
      await updateThread(trx, threadId, {
        state: answered.state,
        message_count,
        answered_count: message_count,
        ends_at: later(now, config.timeoutSeconds),
        ended_at: answered.ended || message_count >= this.#parts.mostMessages ? now : null,
      });
      return rows;
    });
  }

  #now(): string {
    return new Date(this.#parts.clock.now()).toISOString();
  }
}

/** The thread was taken from its agent while it was answering. */
class BrokenOff extends Error {
  override readonly name = 'BrokenOff';
}

/** Aborted work is not waited for: a webhook of the agent may take a minute. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

interface SaidMessage {
  readonly id: string;
  readonly threadId: string;
  readonly number: number;
  readonly sender: SenderType;
  readonly text: string;
  readonly at: string;
}

async function storeMessage(
  db: Db,
  { id, threadId, number, sender, text, at }: SaidMessage,
  blockedWords: readonly string[],
): Promise<WidgetMessageRow> {
  const { content, original } = clean(text, blockedWords);
  const row = {
    thread_id: threadId,
    number,
    id,
    sender_type: sender,
    content,
    original_content: original,
    created_at: at,
    call_id: null,
  };
  await insertMessage(db, row);
  return row;
}

async function requireThread(db: Db, widgetId: string, id: string): Promise<StoredThread> {
  const row = await findThread(db, widgetId, id);
  if (!row) throw ApiError.of('THREAD_NOT_FOUND');
  return row;
}

function later(now: string, seconds: number): string {
  return new Date(Date.parse(now) + seconds * 1000).toISOString();
}

function ending(): ApiError {
  return ApiError.unavailable('The control plane is shutting down; try again.', 1);
}
