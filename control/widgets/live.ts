/**
 * Watchers of threads and their notices. Messages are not kept here: watchers are notified that something changed and read
 * it from the database, so a slow one costs no memory and none misses anything. Only the pieces of an unfinished answer
 * are passed on, and they may be dropped.
 */

import type { Hearing } from '../replicas/index.ts';
import { LiveElsewhere, type LiveHere } from './live-elsewhere.ts';

export type Notice =
  /** Something was stored in the thread. */
  { readonly type: 'changed' } | { readonly type: 'delta'; readonly id: string; text: string };

interface Writing {
  readonly threadId: string;
  text: string;
  /** The replica that writes it; null: this one. */
  readonly replica: string | null;
}

export class Live {
  readonly #watchers = new Map<string, Set<Watcher>>();
  /** Unfinished answers, by message id; those of other replicas only while they are watched here. */
  readonly #writing = new Map<string, Writing>();
  readonly #elsewhere: LiveElsewhere | null;

  /** @param transients of replicas whose streams see what happens here, and whose threads are seen here; null: none */
  constructor(transients: Hearing | null = null) {
    this.#elsewhere = transients && new LiveElsewhere(transients, this.#here());
  }

  /** @param mostPending most characters of pieces waiting for a slow watcher */
  watch(threadId: string, mostPending: number): Watcher {
    const stop = this.#elsewhere?.watch(threadId);
    const watcher = new Watcher(mostPending, () => {
      const set = this.#watchers.get(threadId);
      if (!set?.delete(watcher)) return;
      stop?.();
      if (set.size > 0) return;
      this.#watchers.delete(threadId);
      this.#forget((writing) => writing.threadId === threadId && writing.replica !== null);
    });
    const watchers = this.#watchers.get(threadId) ?? new Set();
    this.#watchers.set(threadId, watchers.add(watcher));
    for (const [id, writing] of this.#writing) {
      if (writing.threadId === threadId) watcher.send({ type: 'delta', id, text: writing.text });
    }
    return watcher;
  }

  changed(threadId: string): void {
    this.#changedHere(threadId);
    this.#elsewhere?.changed(threadId);
  }

  /** A piece of the message `id`, which is not stored yet. */
  wrote(threadId: string, id: string, text: string): void {
    if (text === '') return;
    this.#elsewhere?.wrote(threadId, id, this.#writing.get(id)?.text.length ?? 0, text);
    this.#wroteHere(threadId, id, text, null);
  }

  /** The message was stored, or abandoned. */
  written(threadId: string, id: string): void {
    this.#writtenHere(threadId, id);
    this.#elsewhere?.written(threadId, id);
  }

  close(): void {
    this.#elsewhere?.close();
  }

  #changedHere(threadId: string): void {
    for (const watcher of this.#watchers.get(threadId) ?? []) watcher.send({ type: 'changed' });
  }

  #wroteHere(threadId: string, id: string, text: string, replica: string | null): void {
    const writing = this.#writing.get(id) ?? { threadId, text: '', replica };
    writing.text += text;
    this.#writing.set(id, writing);
    for (const watcher of this.#watchers.get(threadId) ?? []) watcher.send({ type: 'delta', id, text });
  }

  #writtenHere(threadId: string, id: string): void {
    this.#writing.delete(id);
    for (const watcher of this.#watchers.get(threadId) ?? []) watcher.drop(id);
  }

  /** What other replicas tell. */
  #here(): LiveHere {
    return {
      changed: (threadId) => this.#changedHere(threadId),
      written: (threadId, id) => this.#writtenHere(threadId, id),
      piece: (threadId, id, at, text, replica) => {
        const known = this.#writing.get(id)?.text.length ?? 0;
        if (at <= known && at + text.length > known)
          this.#wroteHere(threadId, id, text.slice(known - at), replica);
      },
      unfinished: (threadId) =>
        [...this.#writing].flatMap(([id, { replica, text, threadId: thread }]) =>
          thread === threadId && replica === null ? [{ id, text }] : [],
        ),
      missed: () => {
        for (const threadId of this.#watchers.keys()) this.#changedHere(threadId);
      },
      left: (replica) => this.#forget((writing) => writing.replica === replica),
    };
  }

  #forget(isMeant: (writing: Writing) => boolean): void {
    for (const [id, writing] of [...this.#writing])
      if (isMeant(writing)) this.#writtenHere(writing.threadId, id);
  }
}

/** One stream's view of a thread. */
export class Watcher {
  readonly #mostPending: number;
  readonly #leave: () => void;
  #notices: Notice[] = [];
  #pending = 0;
  /** Messages with a dropped piece: their later pieces would make no sense. */
  readonly #torn = new Set<string>();
  #wake: () => void = () => undefined;

  constructor(mostPending: number, leave: () => void) {
    this.#mostPending = mostPending;
    this.#leave = leave;
  }

  send(notice: Notice): void {
    if (notice.type === 'delta') this.#sendPiece(notice.id, notice.text);
    else if (this.#notices.at(-1)?.type !== 'changed') this.#notices.push(notice);
    this.#wake();
  }

  /** Drops the pieces of a message that no longer need to be sent. */
  drop(id: string): void {
    this.#torn.delete(id);
    this.#notices = this.#notices.filter((notice) => notice.type !== 'delta' || notice.id !== id);
    this.#pending = this.#notices.reduce((sum, one) => sum + (one.type === 'delta' ? one.text.length : 0), 0);
  }

  /** What has happened since the last time; empty after a spurious wake-up. */
  take(): readonly Notice[] {
    const taken = this.#notices;
    this.#notices = [];
    this.#pending = 0;
    return taken;
  }

  /** Resolves when there is something to take. One caller at a time. */
  async somethingNew(): Promise<void> {
    if (this.#notices.length > 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
  }

  /** Resolves a waiting `somethingNew`. */
  wake(): void {
    this.#wake();
  }

  close(): void {
    this.#leave();
    this.#wake();
  }

  #sendPiece(id: string, text: string): void {
    if (this.#torn.has(id)) return;
    if (this.#pending + text.length > this.#mostPending) {
      this.drop(id);
      this.#torn.add(id);
      return;
    }
    this.#pending += text.length;
    const last = this.#notices.at(-1);
    if (last?.type === 'delta' && last.id === id) last.text += text;
    else this.#notices.push({ type: 'delta', id, text });
  }
}
