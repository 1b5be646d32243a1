/**
 * Messages between replicas that are stored nowhere:
 *
 *     send --notify--> every replica that listens now, in one order for all
 *
 * For facts that are out of date soon: counts, pieces of an unfinished answer. Whoever is not there hears nothing; what has
 * to be known again after that is announced again (`onGap`). They cost no write, wait for no writer, and do nothing at all
 * while this replica is alone.
 */
import { asJson, fromJson, type Listening, outsideFences, toJson } from '../db/index.ts';
import type { TransientLimits } from './limits.ts';

export interface TransientTopic<Body> {
  /**
   * Resolves with whether every replica that listens has heard it or will, before anything that is sent later; this one
   * has then heard all that was sent before. False: it may be lost.
   * @throws MessageTooLarge
   */
  send(body: Body, recipient?: string): Promise<boolean>;
  /** Called for each message of others, in order. */
  on(receive: (body: Body, sender: string) => void): void;
}

export interface TransientsParts {
  readonly id: string;
  readonly limits: TransientLimits;
  readonly log: { error(facts: object, message: string): void };
  /** Null: this is the only control plane, or it does not listen yet. */
  readonly listening: () => Listening | null;
}

export interface TransientCounts {
  sent: number;
  received: number;
  /** Messages that were not sent: too many waited, or the server could not be reached. */
  dropped: number;
}

/** A defect of the program that sends: nothing is sent. */
export class MessageTooLarge extends Error {}

/** [recipient or null, topic, body as JSON] */
type Item = readonly [string | null, string, string];

interface Payload {
  readonly sender: string;
  /** Distinguishes notifications with equal items, of which PostgreSQL would deliver one. */
  readonly number: number;
  readonly items: readonly Item[];
}

interface Waiting {
  readonly item: Item;
  readonly bytes: number;
  readonly end: (heard: boolean) => void;
}

/** Of the payload around its items; ids of replicas have 36. */
const frameBytes = 150;

export class Transients {
  readonly counts: TransientCounts = { sent: 0, received: 0, dropped: 0 };
  readonly #parts: TransientsParts;
  readonly #receivers = new Map<string, (body: string, sender: string) => void>();
  readonly #onGap: ((sender: string | null) => void)[] = [];
  readonly #onArrival: ((replica: string) => void)[] = [];
  readonly #onLeft: ((replica: string) => void)[] = [];
  readonly #peers = new Set<string>();
  readonly #left = new Set<string>();
  readonly #queue: Waiting[] = [];
  /** Says that this replica is there now; answered by none. */
  readonly #presence: TransientTopic<'here' | 'left' | 'lost'>;
  #sending: Promise<void> | null = null;
  #numbers = 0;
  #hasLost = false;
  #isClosed = false;

  constructor(parts: TransientsParts) {
    this.#parts = parts;
    this.#presence = this.topic('presence');
    this.#presence.on((what, sender) => {
      if (what === 'left') this.#leave(sender);
      else if (what === 'lost') for (const act of this.#onGap) act(sender);
    });
  }

  /** Other replicas that live, as far as this one knows. */
  get peers(): ReadonlySet<string> {
    return this.#peers;
  }

  /** Says that this replica is there, so that the others tell it what it has to know. */
  async begin(living: readonly string[]): Promise<void> {
    this.look(living);
    await this.#presence.send('here');
  }

  /** What the database says about who lives. */
  look(living: readonly string[]): void {
    for (const id of living) if (id !== this.#parts.id && !this.#left.has(id)) this.#arrive(id);
    for (const id of [...this.#peers]) if (!living.includes(id)) this.#leave(id);
    for (const id of [...this.#left]) if (!living.includes(id)) this.#left.delete(id);
  }

  /** Called when another replica is there that was not. */
  onArrival(act: (replica: string) => void): void {
    this.#onArrival.push(act);
  }

  /** Called when a replica has ended or died. */
  onLeft(act: (replica: string) => void): void {
    this.#onLeft.push(act);
  }

  /** Called when messages of a replica, or of all (null), may have been missed. */
  onGap(act: (sender: string | null) => void): void {
    this.#onGap.push(act);
  }

  topic<Body>(name: string): TransientTopic<Body> {
    return {
      send: (body, recipient) => this.#send([recipient ?? null, name, toJson(body)]),
      on: (receive) => {
        if (this.#receivers.has(name)) throw new Error(`the topic ${name} has a receiver already`);
        this.#receivers.set(name, (body, sender) => receive(fromJson(asJson<Body>(body)), sender));
      },
    };
  }

  /** A notification, of anybody. */
  heard(payload: string): void {
    const { sender, items } = fromJson(asJson<Payload>(payload));
    if (sender === this.#parts.id) return;
    if (!this.#left.has(sender)) this.#arrive(sender);
    for (const [recipient, topic, body] of items) {
      const receive = this.#receivers.get(topic);
      if (!receive || (recipient !== null && recipient !== this.#parts.id)) continue;
      this.counts.received++;
      this.#guarded(topic, () => receive(body, sender));
    }
  }

  /** The connection that hears is open again. */
  opened(): void {
    if (this.#hasLost) void this.#presence.send('here');
    for (const act of this.#onGap) this.#guarded('gap', () => act(null));
  }

  /** Tells the others that it leaves, and sends no more. */
  async close(): Promise<void> {
    if (this.#peers.size > 0) await this.#presence.send('left');
    this.#isClosed = true;
    await this.#sending;
  }

  #arrive(replica: string): void {
    if (this.#peers.has(replica)) return;
    this.#peers.add(replica);
    for (const act of this.#onArrival) this.#guarded('arrival', () => act(replica));
  }

  #leave(replica: string): void {
    // Its presence may be valid for some seconds more.
    this.#left.add(replica);
    if (!this.#peers.delete(replica)) return;
    for (const act of this.#onLeft) this.#guarded('left', () => act(replica));
  }

  async #send(item: Item): Promise<boolean> {
    const listening = this.#parts.listening();
    if (listening === null || this.#isClosed) return false;
    const bytes = Buffer.byteLength(JSON.stringify(item)) + 1;
    const { mostPayloadBytes, mostUnsent } = this.#parts.limits;
    if (bytes > mostPayloadBytes - frameBytes)
      throw new MessageTooLarge(`a transient message ${item[1]} has ${bytes} octets, which is too large`);
    if (this.#queue.length >= mostUnsent) {
      this.#lose(1);
      return false;
    }
    const { promise, resolve: end } = Promise.withResolvers<boolean>();
    this.#queue.push({ item, bytes, end });
    this.#sending ??= outsideFences(() => this.#sendAll(listening)).finally(() => {
      this.#sending = null;
    });
    return promise;
  }

  async #sendAll(listening: Listening): Promise<void> {
    // What the same turn sends goes along.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#next();
      const items = batch.map(({ item }) => item);
      if (this.#hasLost) items.unshift([null, 'presence', toJson('lost')]);
      const payload: Payload = { sender: this.#parts.id, number: ++this.#numbers, items };
      try {
        await listening.notify(toJson(payload));
        this.#hasLost = false;
        this.counts.sent += batch.length;
        for (const { end } of batch) end(true);
      } catch (error) {
        if (!this.#hasLost && !this.#isClosed)
          this.#parts.log.error({ err: error }, 'transient messages could not be sent to other replicas');
        this.#lose(batch.length);
        for (const { end } of batch) end(false);
      }
    }
  }

  #next(): Waiting[] {
    let bytes = frameBytes;
    let count = 0;
    for (const waiting of this.#queue) {
      bytes += waiting.bytes;
      if (count > 0 && bytes > this.#parts.limits.mostPayloadBytes) break;
      count++;
    }
    return this.#queue.splice(0, count);
  }

  #lose(messages: number): void {
    this.#hasLost = true;
    this.counts.dropped += messages;
  }

  #guarded(topic: string, act: () => void): void {
    try {
      outsideFences(act);
    } catch (error) {
      this.#parts.log.error(
        { err: error, topic },
        'a transient message of another replica could not be handled',
      );
    }
  }
}
