/** The dialogs that are up, by the engine's dialog id, and who takes their requests. */
import type { SrfRequest, SrfResponse } from './srf.ts';

export interface DialogOwner {
  receive(request: SrfRequest, response: SrfResponse): void;
  /** The engine is gone and the dialog with it: releases timers, sends nothing. */
  abandon(): void;
}

export class Dialogs {
  readonly #byId = new Map<string, DialogOwner>();

  get size(): number {
    return this.#byId.size;
  }

  add(id: string, owner: DialogOwner): void {
    this.#byId.set(id, owner);
  }

  /** Removes `id` unless it has another owner by now. */
  remove(id: string, owner: DialogOwner): void {
    if (this.#byId.get(id) === owner) this.#byId.delete(id);
  }

  find(id: string | undefined): DialogOwner | undefined {
    return id === undefined ? undefined : this.#byId.get(id);
  }

  abandonAll(): void {
    const owners = [...this.#byId.values()];
    this.#byId.clear();
    for (const owner of owners) owner.abandon();
  }
}
