/**
 * Messages between the replicas of a control plane:
 *
 *     publish --commit--> table --notify, or a look--> each other live replica, once and in order
 *
 * The table keeps them for a minute, so a replica whose connection broke catches up; one that was away longer learns
 * that it missed some, and then each area reads again what it knows from messages. The only control plane on an SQLite
 * file writes none: nobody would read them. It reads those of a command line.
 */
import { sql } from 'kysely';
import type { Clock, Timer } from '#shared/clock.ts';
import { type Database, type Db, FailureLog, fromJson, type Json, type Listening } from '../db/index.ts';
import type { ReplicaLimits } from './limits.ts';
import {
  type Draft,
  draft,
  insertMessages,
  lastMessage,
  lastPruned,
  messagesAfter,
  pruneMessages,
} from './messages-store.ts';
import { Posts } from './posts.ts';
import { MessageTooLarge, Transients } from './transients.ts';

/** What a message of another replica comes with. */
export interface MessageFacts {
  readonly sender: string;
  /** Since it was published. */
  readonly ageMs: number;
}

/** Messages of one kind. Bodies are JSON; every area has its own topics. */
export interface Topic<Body> {
  /**
   * Publishes in a transaction: the others get it after the commit, and not after a rollback.
   * @throws MessageTooLarge
   */
  publish(db: Db, body: Body, recipient?: string): Promise<void>;
  /**
   * Publishes soon, in a transaction of its own with others that wait. What is posted first arrives first.
   * @throws MessageTooLarge
   */
  post(body: Body, recipient?: string): void;
  /** Called for each message of others, in order. */
  on(receive: (body: Body, facts: MessageFacts) => void): void;
}

export interface BusParts {
  readonly database: Pick<Database, 'db' | 'listen'>;
  readonly clock: Clock;
  readonly limits: ReplicaLimits;
  /** The id of this replica, or of the process of a command line. */
  readonly id: string;
  readonly log: { error(facts: object, message: string): void };
}

export interface BusCounts {
  sent: number;
  received: number;
  /** Posts that found no place among those that wait. */
  dropped: number;
  /** Times that this replica was away for so long that messages were deleted. */
  missed: number;
}

/** Messages read at a time. */
const pageRows = 500;

export class Bus {
  readonly id: string;
  /** Messages that are stored nowhere. */
  readonly transients: Transients;
  readonly counts: BusCounts = { sent: 0, received: 0, dropped: 0, missed: 0 };
  readonly #parts: BusParts;
  readonly #posts: Posts;
  readonly #receivers = new Map<string, (body: Json, facts: MessageFacts) => void>();
  readonly #onMissed: (() => void)[] = [];
  #listening: Listening | null = null;
  /** Whether somebody may read what is published. */
  #hasReaders = true;
  /** The last message read, of anybody. */
  #last = 0;
  #prunedTo = 0;
  #reading: Promise<void> | null = null;
  #readAgain = false;
  #lookTimer: Timer | undefined;
  #pruneTimer: Timer | undefined;
  #isClosed = false;
  readonly #unreadable: FailureLog;

  constructor(parts: BusParts) {
    this.#parts = parts;
    this.#unreadable = new FailureLog(parts.log, 'messages of other replicas could not be read');
    this.id = parts.id;
    this.transients = new Transients({
      ...parts,
      limits: parts.limits.transient,
      listening: () => this.#listening,
    });
    this.#posts = new Posts({
      ...parts,
      mostWaiting: parts.limits.mostWaiting,
      store: async (drafts) => {
        await parts.database.db.transaction().execute((db) => insertMessages(db, drafts));
        this.counts.sent += drafts.length;
      },
    });
  }

  /** The connection that hears of messages; null before `start`, and on SQLite, where there is one replica. */
  get listening(): Listening | null {
    return this.#listening;
  }

  /** Reads messages from now on. A program that only publishes, such as a command line, never calls it. */
  async start(): Promise<void> {
    const { db, listen } = this.#parts.database;
    this.#last = await lastMessage(db);
    this.#prunedTo = await lastPruned(db);
    this.#listening = listen({
      stored: () => void this.read(),
      transient: (payload) => this.transients.heard(payload),
      opened: () => this.transients.opened(),
    });
    this.#hasReaders = this.#listening !== null;
    await this.#openListening();
    this.#look();
    this.#pruneLater();
  }

  topic<Body>(name: string): Topic<Body> {
    return {
      publish: async (db, body, recipient) => {
        if (!this.#hasReaders) return;
        await insertMessages(db, [this.#draft(name, body, recipient)]);
        this.counts.sent++;
      },
      post: (body, recipient) => {
        if (!this.#hasReaders) return;
        if (!this.#posts.add(this.#draft(name, body, recipient))) this.counts.dropped++;
      },
      on: (receive) => {
        if (this.#receivers.has(name)) throw new Error(`the topic ${name} has a receiver already`);
        this.#receivers.set(name, (body, facts) => receive(fromJson<Body>(body), facts));
      },
    };
  }

  /** Calls `act` when messages may have been missed: what is known from messages has to be read again. */
  onMissed(act: () => void): void {
    this.#onMissed.push(act);
  }

  /** Reads what is there. Resolves when everything stored before the call was received. */
  read(): Promise<void> {
    this.#readAgain = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** Stores what was posted, and reads no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#lookTimer?.cancel();
    this.#pruneTimer?.cancel();
    await this.#posts.close();
    await this.transients.close();
    await this.#reading;
    await this.#listening?.close();
  }

  #draft(topic: string, body: unknown, recipient: string | undefined): Draft {
    const made = draft(topic, this.id, recipient ?? null, body);
    const bytes = Buffer.byteLength(made.body);
    if (bytes <= this.#parts.limits.mostMessageBytes) return made;
    throw new MessageTooLarge(`a message ${topic} to other replicas has ${bytes} octets, which is too large`);
  }

  /** For what no notification announced: on SQLite, and while the connection is broken. */
  #look(): void {
    this.#lookTimer = this.#parts.clock.after(this.#parts.limits.lookMs, () => {
      void this.#openListening();
      void this.read().then(() => {
        if (!this.#isClosed) this.#look();
      });
    });
  }

  async #openListening(): Promise<void> {
    if (this.#listening === null || this.#listening.isOpen) return;
    // Any statement opens the connection; it stays broken while the server is away.
    await sql`select 1`.execute(this.#listening.db).catch(() => undefined);
  }

  async #readAll(): Promise<void> {
    while (this.#readAgain && !this.#isClosed) {
      this.#readAgain = false;
      try {
        while (!this.#isClosed && (await this.#readPage()) === pageRows);
      } catch (error) {
        if (!this.#isClosed) this.#unreadable.failed(error);
        return;
      }
      this.#unreadable.worked();
    }
  }

  async #readPage(): Promise<number> {
    const { db } = this.#parts.database;
    const messages = await messagesAfter(db, this.id, this.#last, pageRows);
    // After the messages: what is deleted between the two was among them, and only counts as missed too.
    const pruned = this.#listening === null ? 0 : await lastPruned(db);
    if (pruned > this.#last) {
      this.#last = pruned;
      this.counts.missed++;
      for (const act of this.#onMissed) this.#guarded('missed messages', act);
    }
    for (const { body, id, topic, ...facts } of messages) {
      this.#last = id;
      const receive = this.#receivers.get(topic);
      // A topic without a receiver is one of another version of the program.
      if (body === null || !receive) continue;
      this.counts.received++;
      this.#guarded(topic, () => receive(body, facts));
    }
    return messages.length;
  }

  #guarded(topic: string, act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#parts.log.error({ err: error, topic }, 'a message of another replica could not be handled');
    }
  }

  #pruneLater(): void {
    const { clock, database, limits, log } = this.#parts;
    this.#pruneTimer = clock.after(limits.keptMs / 2, () => {
      const hasOlder = this.#last > this.#prunedTo;
      (hasOlder ? pruneMessages(database.db, limits.keptMs, limits.mostMessages) : Promise.resolve(0))
        .then(
          (pruned) => {
            this.#prunedTo = Math.max(this.#prunedTo, pruned);
          },
          (error: unknown) => log.error({ err: error }, 'old messages to replicas could not be deleted'),
        )
        .then(() => {
          if (!this.#isClosed) this.#pruneLater();
        });
    });
  }
}
