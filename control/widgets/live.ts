/**
 * Watchers of threads and their notices. Messages are not kept here: watchers are notified that something changed and read
 * it from the database, so a slow one costs no memory and none misses anything. Only the pieces of an unfinished answer
 * are passed on, and they may be dropped.
 */

export type Notice =
  /** Something was stored in the thread. */
  { readonly type: 'changed' } | { readonly type: 'delta'; readonly id: string; text: string };

interface Writing {
  readonly threadId: string;
  text: string;
}

export class Live {
  readonly #watchers = new Map<string, Set<Watcher>>();
  /** Unfinished answers, by message id. */
  readonly #writing = new Map<string, Writing>();

  /** @param mostPending most characters of pieces waiting for a slow watcher */
  watch(threadId: string, mostPending: number): Watcher {
    const watcher = new Watcher(mostPending, () => {
      const set = this.#watchers.get(threadId);
      set?.delete(watcher);
      if (set?.size === 0) this.#watchers.delete(threadId);
    });
    const watchers = this.#watchers.get(threadId) ?? new Set();
    this.#watchers.set(threadId, watchers.add(watcher));
    for (const [id, writing] of this.#writing) {
      if (writing.threadId === threadId) watcher.send({ type: 'delta', id, text: writing.text });
    }
    return watcher;
  }

  changed(threadId: string): void {
    for (const watcher of this.#watchers.get(threadId) ?? []) watcher.send({ type: 'changed' });
  }

  /** A piece of the message `id`, which is not stored yet. */
  wrote(threadId: string, id: string, text: string): void {
    if (text === '') return;
    const writing = this.#writing.get(id) ?? { threadId, text: '' };
    writing.text += text;
    this.#writing.set(id, writing);
    for (const watcher of this.#watchers.get(threadId) ?? []) watcher.send({ type: 'delta', id, text });
  }

  /** The message was stored, or abandoned. */
  written(threadId: string, id: string): void {
    this.#writing.delete(id);
    for (const watcher of this.#watchers.get(threadId) ?? []) watcher.drop(id);
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
