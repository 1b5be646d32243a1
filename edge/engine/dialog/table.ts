import { RoomyMap } from '#shared/roomy-map.ts';
import type { Headers } from '../message/message.ts';
import { type Dialog, type DialogRole, dialogId } from './dialog.ts';

/**
 * Live dialogs and the data that their user keeps with them. Each role has its own table: when the engine calls
 * itself, both ends have the same id.
 */
export class DialogTable<Entry extends { readonly dialog: Dialog }> {
  readonly #entries: { readonly [Role in DialogRole]: RoomyMap<string, Entry> } = {
    uac: new RoomyMap(),
    uas: new RoomyMap(),
  };

  get size(): number {
    return this.#entries.uac.size + this.#entries.uas.size;
  }

  add(entry: Entry): void {
    this.#entries[entry.dialog.role].set(entry.dialog.id, entry);
  }

  /** Removes exactly this entry: a retried INVITE may have stored another one under the same id. */
  remove(entry: Entry): void {
    const entries = this.#entries[entry.dialog.role];
    if (entries.get(entry.dialog.id) === entry) entries.delete(entry.dialog.id);
  }

  get(role: DialogRole, id: string): Entry | undefined {
    return this.#entries[role].get(id);
  }

  /** The dialog of a request from the peer, by Call-ID and both tags (RFC 3261 section 12.2.2). */
  forRequest(headers: Headers): Entry | undefined {
    const callId = headers.get('call-id') ?? '';
    const fromTag = headers.fromTag ?? '';
    const asServer = this.#entries.uas.get(dialogId(callId, fromTag));
    if (asServer?.dialog.matches(headers)) return asServer;
    const toTag = headers.toTag ?? '';
    const asClient = this.#entries.uac.get(dialogId(callId, toTag));
    return asClient?.dialog.matches(headers) ? asClient : undefined;
  }

  *[Symbol.iterator](): Iterator<Entry> {
    yield* this.#entries.uas.values();
    yield* this.#entries.uac.values();
  }
}
