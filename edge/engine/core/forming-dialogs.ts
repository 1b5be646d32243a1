import { RoomyMap } from '#shared/roomy-map.ts';
import { dialogId } from '../dialog/dialog.ts';
import type { Headers } from '../message/message.ts';
import type { Flow } from '../transport/flow.ts';
import type { IncomingRequest } from './incoming-request.ts';

/** Requests from peers that may create a dialog (INVITE, SUBSCRIBE) and have no final response yet. */
export class FormingDialogs {
  readonly #byId = new RoomyMap<string, IncomingRequest>();

  get size(): number {
    return this.#byId.size;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** @param id that its dialog will have */
  add(id: string, incoming: IncomingRequest): void {
    incoming.formingId = id;
    this.#byId.set(id, incoming);
  }

  remove(incoming: IncomingRequest): void {
    if (incoming.formingId !== null) this.#byId.delete(incoming.formingId);
    incoming.formingId = null;
  }

  /** INVITEs that arrived over a connection. */
  invitesOn(flow: Flow): IncomingRequest[] {
    const invites: IncomingRequest[] = [];
    for (const incoming of this.#byId.values())
      if (incoming.flow === flow && incoming.invite) invites.push(incoming);
    return invites;
  }
}

/** The id of the dialog that a request may create, of the peer or ours; null when it creates none. */
export function idOf(method: string, headers: Headers): string | null {
  if (method !== 'INVITE' && method !== 'SUBSCRIBE') return null;
  return dialogId(headers.get('call-id') ?? '', headers.fromTag ?? '');
}
