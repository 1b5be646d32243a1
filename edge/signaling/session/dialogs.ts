/** The dialogs that are up, by the engine's dialog id, and who takes their requests. */
import type { CallLeg, DialogIdentity } from '../../call/ports/signaling.ts';
import type { Replaces } from '../srf/replaces.ts';
import type { SrfRequest, SrfResponse } from '../srf/srf.ts';

export interface DialogOwner {
  receive(request: SrfRequest, response: SrfResponse): void;
  /** The engine is gone and the dialog with it: releases timers, sends nothing. */
  abandon(): void;
  /** The attached number that the call came in for or goes out from. */
  readonly number: string;
  /** null before the answer. */
  readonly dialog: DialogIdentity | null;
  /** Whether the engine must have the dialog: it is answered, and no BYE of ours is on its way. */
  readonly settled: boolean;
  /** Whether a BYE of ours is on its way. */
  readonly leaving: boolean;
  /** The engine does not know the dialog any more. */
  unknown(): void;
  /** An INVITE of somebody takes the dialog over. */
  replacedBy(leg: CallLeg): void;
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

  /** All of them, by id. */
  entries(): IterableIterator<[string, DialogOwner]> {
    return this.#byId.entries();
  }

  find(id: string | undefined): DialogOwner | undefined {
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** The answered dialog that a Replaces header names (RFC 3891 section 3). */
  named({ callId, toTag, fromTag }: Replaces): DialogOwner | undefined {
    // The id has the caller's tag: that of the peer where we were called, else our own.
    const candidates = [this.find(`${callId};from-tag=${fromTag}`), this.find(`${callId};from-tag=${toTag}`)];
    return candidates.find(
      (owner) => owner?.dialog?.localTag === toTag && owner.dialog.remoteTag === fromTag,
    );
  }

  abandonAll(): void {
    const owners = [...this.#byId.values()];
    this.#byId.clear();
    for (const owner of owners) owner.abandon();
  }
}
