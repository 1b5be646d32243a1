/** Established dialogs by the engine's dialog id, and the owners of their requests. */
import type { CallLeg, DialogLeg } from '../../call/ports/signaling.ts';
import { parseReplaces, type Replaces } from '../srf/replaces.ts';
import type { SrfRequest, SrfResponse } from '../srf/srf.ts';

/** What tells who may replace a dialog. */
export interface DialogAccount {
  /** The attached number that the call came in for or goes out from. */
  readonly number: string;
  readonly peerAddress: string | null;
  /** The inbound configuration that admitted the peer; null: none did. */
  readonly trunkId: string | null;
}

export interface DialogOwner extends DialogLeg {
  receive(request: SrfRequest, response: SrfResponse): void;
  /** The engine is lost and the dialog with it: releases timers, sends nothing. */
  abandon(): void;
  readonly account: DialogAccount;
  /** Whether the engine must have the dialog: it is answered, and no BYE of ours is pending. */
  readonly settled: boolean;
  /** Whether a BYE of ours is pending. */
  readonly leaving: boolean;
  /** The engine no longer knows the dialog. */
  unknown(): void;
  /** Another party's INVITE replaces the dialog. */
  replacedBy(leg: CallLeg): void;
}

export class Dialogs {
  readonly #byId = new Map<string, DialogOwner>();
  readonly #mayReplace: (replaced: DialogAccount, by: DialogAccount) => boolean;

  /** @param mayReplace whether the peer of one dialog may replace another one; absent: none may */
  constructor(mayReplace: (replaced: DialogAccount, by: DialogAccount) => boolean = () => false) {
    this.#mayReplace = mayReplace;
  }

  get size(): number {
    return this.#byId.size;
  }

  add(id: string, owner: DialogOwner): void {
    this.#byId.set(id, owner);
  }

  /** Removes `id` unless it has a new owner by now. */
  remove(id: string, owner: DialogOwner): void {
    if (this.#byId.get(id) === owner) this.#byId.delete(id);
  }

  /** All dialogs, by id. */
  entries(): IterableIterator<[string, DialogOwner]> {
    return this.#byId.entries();
  }

  find(id: string | undefined): DialogOwner | undefined {
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** The answered dialog that a Replaces header names (RFC 3891 section 3). */
  named({ callId, toTag, fromTag }: Replaces): DialogOwner | undefined {
    // The id contains the caller's tag: the peer's for an inbound call, else our own.
    const candidates = [this.find(`${callId};from-tag=${fromTag}`), this.find(`${callId};from-tag=${toTag}`)];
    return candidates.find(
      (owner) => owner?.dialog?.localTag === toTag && owner.dialog.remoteTag === fromTag,
    );
  }

  /** The dialog that a REFER of the peer of `by` names, and that this peer may replace. */
  replaceable(replaces: string, by: DialogOwner): DialogOwner | null {
    const parsed = parseReplaces(replaces);
    const owner = parsed && !parsed.earlyOnly ? this.named(parsed) : undefined;
    if (!owner?.settled) return null;
    return this.#mayReplace(owner.account, by.account) ? owner : null;
  }

  abandonAll(): void {
    const owners = [...this.#byId.values()];
    this.#byId.clear();
    for (const owner of owners) owner.abandon();
  }
}
