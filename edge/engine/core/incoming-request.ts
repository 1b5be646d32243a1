import { randomUUID } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';
import type { AppClient } from '../drachtio-port/client.ts';
import type { SipRequest } from '../message/message.ts';
import { mergeKey } from '../transaction/matching.ts';
import {
  InviteServerTransaction,
  NonInviteServerTransaction,
  type ServerTransaction,
  type ServerUser,
} from '../transaction/server.ts';
import type { Flow } from '../transport/flow.ts';
import type { Session } from './session.ts';
import type { Wire } from './wire.ts';

export interface IncomingOwner {
  readonly clock: Clock;
  readonly wire: Wire;
  unanswered(incoming: IncomingRequest): void;
  ended(incoming: IncomingRequest): void;
}

/** Octets that an answer has of our own, about: Server, Contact, Allow and the like. */
const ownPart = 512;

/** A request of the network with its transaction and the application that answers it. */
export class IncomingRequest implements ServerUser {
  /** By which the application names the transaction. */
  readonly id = randomUUID();
  readonly request: SipRequest;
  readonly flow: Flow;
  readonly client: AppClient;
  readonly transaction: ServerTransaction;
  /** The same as `transaction` when it is one of INVITE. */
  readonly invite: InviteServerTransaction | null;
  readonly #owner: IncomingOwner;
  /** The dialog in which the request came or which it made. */
  session: Session | null;
  /** Whether the request came in that dialog. */
  readonly inDialog: boolean;
  /** Our To tag for responses to a request that came without; fixed by the first response that needs one. */
  toTag: string | null = null;
  /** The INVITE that ends with this BYE, by its id. */
  after: string | null = null;
  /** RSeq of the last reliable provisional; 0 before the first. */
  rseq = 0;
  /** Octets of the answer that is still to come, about. */
  #owed = 0;
  /** Whether the flow is kept for the final answer. */
  #pinned = false;

  constructor(
    owner: IncomingOwner,
    key: string,
    request: SipRequest,
    flow: Flow,
    client: AppClient,
    session: Session | null,
  ) {
    this.#owner = owner;
    this.request = request;
    this.flow = flow;
    this.client = client;
    this.session = session;
    this.inDialog = session !== null;
    const merge = session ? null : mergeKey(request.headers);
    if (request.method === 'INVITE') {
      this.invite = new InviteServerTransaction(key, merge, request, this, owner.clock);
      this.transaction = this.invite;
    } else {
      this.invite = null;
      this.transaction = new NonInviteServerTransaction(key, merge, request, this, owner.clock);
    }
  }

  /** The application has it. Until its answer the flow owes about as much as the request has, which that repeats. */
  delivered(bytes: number): void {
    this.#owed = bytes + ownPart;
    this.flow.owe(this.#owed);
    if (this.#pinned) return;
    this.#pinned = true;
    this.flow.pin();
  }

  #unpin(): void {
    if (this.#pinned) this.flow.unpin();
    this.#pinned = false;
  }

  #settle(): void {
    this.flow.settle(this.#owed);
    this.#owed = 0;
  }

  send(bytes: Buffer): void {
    this.#settle();
    this.#owner.wire.send(this.flow, bytes, this.request.headers);
    if (!isProvisional(bytes)) this.#unpin();
  }

  unanswered(): void {
    this.#owner.unanswered(this);
  }

  ended(): void {
    this.#settle();
    this.#unpin();
    this.#owner.ended(this);
  }
}

/** Of a response of ours, whose first line begins with "SIP/2.0 1". */
function isProvisional(bytes: Buffer): boolean {
  return bytes[8] === 0x31;
}
