/**
 * Who watches what on which replica, such as the thread of an event stream: a replica tells another only what that one
 * watches.
 *
 *     first watcher here --watch--> the others know --last one leaves: stop--> the others forget
 */
import type { Hearing } from './shared-counts.ts';

interface Told {
  readonly kind: 'watch' | 'stop' | 'ask';
  readonly keys: readonly string[];
}

/** Keys in one message. */
const keysAtOnce = 100;

export class Interests {
  readonly #transients: Hearing;
  readonly #topic;
  /** Watchers here, by key. */
  readonly #own = new Map<string, number>();
  /** Other replicas that watch a key. */
  readonly #others = new Map<string, Set<string>>();
  #begun: (key: string, replica: string) => void = () => undefined;

  /** @param name unique */
  constructor(transients: Hearing, name: string) {
    this.#transients = transients;
    this.#topic = transients.topic<Told>(`interest in ${name}`);
    this.#topic.on(({ keys, kind }, sender) => {
      if (kind === 'ask') this.#sendAll(sender);
      else for (const key of keys) this.#set(key, sender, kind === 'watch');
    });
    transients.onArrival((replica) => this.#sendAll(replica));
    transients.onLeft((replica) => this.#forget(replica));
    transients.onGap((sender) => {
      for (const replica of sender === null ? transients.peers : [sender]) this.#forget(replica);
      this.#send({ kind: 'ask', keys: [] }, sender ?? undefined);
      // What this replica has said may be lost, too.
      if (sender === null) this.renew();
    });
  }

  /** Keys of at most some hundred characters. @returns what ends it; to be called once */
  watch(key: string): () => void {
    const watching = (this.#own.get(key) ?? 0) + 1;
    this.#own.set(key, watching);
    if (watching === 1) this.#send({ kind: 'watch', keys: [key] });
    return () => {
      const left = (this.#own.get(key) ?? 1) - 1;
      if (left > 0) this.#own.set(key, left);
      else {
        this.#own.delete(key);
        this.#send({ kind: 'stop', keys: [key] });
      }
    };
  }

  /** Whether another replica watches anything. */
  get isAny(): boolean {
    return this.#others.size > 0;
  }

  isWatchedHere(key: string): boolean {
    return this.#own.has(key);
  }

  /** The other replicas that watch it. */
  watching(key: string): readonly string[] {
    return [...(this.#others.get(key) ?? [])];
  }

  /** Calls `act` when another replica watches a key, and again when it renews what it watches. */
  onWatch(act: (key: string, replica: string) => void): void {
    this.#begun = act;
  }

  /** Has the others tell once more what is going on in what is watched here. */
  renew(): void {
    this.#sendAll();
  }

  #sendAll(recipient?: string): void {
    const keys = [...this.#own.keys()];
    for (let begin = 0; begin < keys.length; begin += keysAtOnce)
      this.#send({ kind: 'watch', keys: keys.slice(begin, begin + keysAtOnce) }, recipient);
  }

  #send(told: Told, recipient?: string): void {
    if (this.#transients.peers.size > 0) void this.#topic.send(told, recipient);
  }

  #set(key: string, replica: string, watches: boolean): void {
    const others = this.#others.get(key) ?? new Set<string>();
    if (watches) this.#others.set(key, others.add(replica));
    else if (others.delete(replica) && others.size === 0) this.#others.delete(key);
    if (watches) this.#begun(key, replica);
  }

  #forget(replica: string): void {
    for (const key of [...this.#others.keys()]) this.#set(key, replica, false);
  }
}
