import { dialogId } from '../dialog/dialog.ts';
import { tagOf } from '../message/address.ts';
import type { Headers } from '../message/message.ts';
import type { Flow } from '../transport/flow.ts';
import type { IncomingRequest } from './incoming-request.ts';

/** Requests from peers that may create a dialog and have no final response yet. */
export class FormingDialogs {
  /** INVITEs and SUBSCRIBEs by the id that their dialog will have. */
  readonly #byId = new Map<string, IncomingRequest>();
  /** The INVITEs among them, by the connection over which they arrived. */
  readonly #byFlow = new Map<Flow, Set<IncomingRequest>>();

  /** Number of entries of each kind. */
  get held(): { readonly dialogsForming: number; readonly flowsForming: number } {
    return { dialogsForming: this.#byId.size, flowsForming: this.#byFlow.size };
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  add(incoming: IncomingRequest): void {
    if (!makesDialog(incoming.request.method)) return;
    this.#byId.set(idOf(incoming.request.headers), incoming);
    if (!incoming.invite) return;
    const others = this.#byFlow.get(incoming.flow);
    if (others) others.add(incoming);
    else this.#byFlow.set(incoming.flow, new Set([incoming]));
  }

  remove(incoming: IncomingRequest): void {
    const id = idOf(incoming.request.headers);
    if (this.#byId.get(id) === incoming) this.#byId.delete(id);
    const others = this.#byFlow.get(incoming.flow);
    others?.delete(incoming);
    if (others?.size === 0) this.#byFlow.delete(incoming.flow);
  }

  /** INVITEs that arrived over a connection. */
  invitesOn(flow: Flow): IncomingRequest[] {
    return [...(this.#byFlow.get(flow) ?? [])];
  }
}

/** The id of the dialog that an INVITE or SUBSCRIBE from the peer may create. */
export function idOf(headers: Headers): string {
  return dialogId(headers.get('call-id') ?? '', tagOf(headers.get('from') ?? '') ?? '');
}

export function makesDialog(method: string): boolean {
  return method === 'INVITE' || method === 'SUBSCRIBE';
}
