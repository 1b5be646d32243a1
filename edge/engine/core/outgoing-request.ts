import { randomUUID } from 'node:crypto';
import type { Clock, Timer } from '#shared/clock.ts';
import type { AppClient } from '../drachtio-port/client.ts';
import type { SipRequest, SipResponse } from '../message/message.ts';
import { serializeRequest } from '../message/serialize.ts';
import {
  type ClientTransaction,
  type ClientUser,
  InviteClientTransaction,
  NonInviteClientTransaction,
} from '../transaction/client.ts';
import type { Flow } from '../transport/flow.ts';
import type { Session } from './session.ts';
import type { Wire } from './wire.ts';

export interface OutgoingOwner {
  readonly clock: Clock;
  readonly wire: Wire;
  response(outgoing: OutgoingRequest, response: SipResponse, bytes: Buffer): void;
  repeated(outgoing: OutgoingRequest, response: SipResponse): void;
  /** No response of the peer: `status` takes its place. `cause` is for a person. */
  failed(outgoing: OutgoingRequest, status: 408 | 487 | 503, reason: string, cause: string | null): void;
  /** The request is about to leave over `flow`. */
  started(outgoing: OutgoingRequest, flow: Flow): void;
  ended(outgoing: OutgoingRequest): void;
}

const NO_BODY = Buffer.alloc(0);

/** A request of ours with its transaction and the application that waits for the response. */
export class OutgoingRequest implements ClientUser {
  /** By which the application names the transaction. */
  readonly id = randomUUID();
  readonly request: SipRequest;
  readonly transaction: ClientTransaction;
  /** The same as `transaction` when it is one of INVITE. */
  readonly invite: InviteClientTransaction | null;
  /** Null for a request of the engine's own, whose response interests nobody. */
  readonly client: AppClient | null;
  /** The dialog in which the request is or which it has made. */
  session: Session | null;
  /** Whether the request is in that dialog. */
  readonly inDialog: boolean;
  /** Whether the application wants to hear of 100 Trying. */
  readonly wantsTrying: boolean;
  flow: Flow | null = null;
  /** Looks whether the peer is silent. */
  watch: Timer | null = null;
  /** What the flow had heard when the request left. */
  #heardBefore = 0;
  readonly #owner: OutgoingOwner;
  #withdrawn = false;

  constructor(
    owner: OutgoingOwner,
    branch: string,
    request: SipRequest,
    client: AppClient | null,
    session: Session | null,
    wantsTrying = false,
  ) {
    this.#owner = owner;
    this.wantsTrying = wantsTrying;
    this.request = request;
    this.client = client;
    this.session = session;
    this.inDialog = session !== null;
    if (request.method === 'INVITE') {
      this.invite = new InviteClientTransaction(branch, request, this, owner.clock);
      this.transaction = this.invite;
    } else {
      this.invite = null;
      this.transaction = new NonInviteClientTransaction(branch, request, this, owner.clock);
    }
  }

  /** There is a connection: the request leaves. */
  start(flow: Flow, bytes: Buffer): void {
    if (this.transaction.over) return;
    this.flow = flow;
    this.#heardBefore = flow.heard;
    this.#owner.started(this, flow);
    this.transaction.start((message, ready) => {
      if (!this.#owner.wire.send(flow, ready ?? serializeRequest(message), this.request.headers)) {
        this.transaction.transportFailed('the connection was closed');
      }
    }, bytes);
    // An INVITE's transaction outlives its answer by 32 s; nothing needs the body any more.
    this.request.body = NO_BODY;
  }

  /** Whether the peer has said nothing, to this request or anything else, since it left. */
  get unheard(): boolean {
    return this.flow?.heard === this.#heardBefore;
  }

  /** Gives an INVITE up that has not left yet: there is nothing to cancel at the peer. */
  withdraw(): void {
    this.#withdrawn = true;
    this.transaction.transportFailed('');
  }

  response(response: SipResponse, bytes: Buffer): void {
    this.#owner.response(this, response, bytes);
  }

  repeated(response: SipResponse): void {
    this.#owner.repeated(this, response);
  }

  timeout(): void {
    this.#owner.failed(this, 408, 'Request Timeout', null);
  }

  unreachable(cause: string): void {
    if (this.#withdrawn) this.#owner.failed(this, 487, 'Request Terminated', null);
    else this.#owner.failed(this, 503, 'Service Unavailable', cause);
  }

  ended(): void {
    this.#owner.ended(this);
  }
}
