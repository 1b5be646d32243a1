import { randomUUID } from 'node:crypto';
import type { Clock, Timer } from '#shared/clock.ts';
import { type ConnectionFailure, connectionFailure } from '#shared/connection-faults.ts';
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
import type { TracedMessages } from './traced-messages.ts';

export interface OutgoingOwner {
  readonly clock: Clock;
  readonly messages: TracedMessages;
  response(outgoing: OutgoingRequest, response: SipResponse, bytes: Buffer): void;
  repeated(outgoing: OutgoingRequest, response: SipResponse): void;
  /** The peer did not respond; `status` is used instead. */
  failed(
    outgoing: OutgoingRequest,
    status: 408 | 487 | 503,
    reason: string,
    failure: ConnectionFailure | null,
  ): void;
  /** The request is about to be sent over `flow`. */
  started(outgoing: OutgoingRequest, flow: Flow): void;
  ended(outgoing: OutgoingRequest): void;
}

const NO_BODY = Buffer.alloc(0);

/** A request of ours with its transaction and the application that waits for the response. */
export class OutgoingRequest implements ClientUser {
  /** The application's id for the transaction. */
  readonly id = randomUUID();
  readonly request: SipRequest;
  readonly transaction: ClientTransaction;
  /** The same as `transaction` for an INVITE, else null. */
  readonly invite: InviteClientTransaction | null;
  /** Null for the engine's own requests: their response is discarded. */
  readonly client: AppClient | null;
  /** The dialog that the request belongs to or created. */
  session: Session | null;
  /** Whether the request is in that dialog. */
  readonly inDialog: boolean;
  /** Whether the application wants 100 Trying delivered. */
  readonly wantsTrying: boolean;
  flow: Flow | null = null;
  /** Checks whether the peer is silent. */
  watch: Timer | null = null;
  /** The flow's `receivedCount` when the request was sent. */
  #receivedBefore = 0;
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

  /** The connection is open: sends the request. */
  start(flow: Flow, bytes: Buffer): void {
    if (this.transaction.over) return;
    this.flow = flow;
    this.#receivedBefore = flow.receivedCount;
    this.#owner.started(this, flow);
    this.transaction.start((message, ready) => {
      if (!this.#owner.messages.send(flow, ready ?? serializeRequest(message), this.request.headers)) {
        this.transaction.transportFailed(connectionFailure('unknown', 'the connection was closed'));
      }
    }, bytes);
    // An INVITE's transaction outlives its answer by 32 s; the body is no longer needed.
    this.request.body = NO_BODY;
  }

  /** Whether nothing at all has arrived from the peer since the request was sent. */
  get flowIsSilent(): boolean {
    return this.flow?.receivedCount === this.#receivedBefore;
  }

  /** Gives up an INVITE that has not been sent yet: there is nothing to cancel at the peer. */
  withdraw(): void {
    this.#withdrawn = true;
    this.transaction.transportFailed(connectionFailure('unknown', ''));
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

  unreachable(failure: ConnectionFailure): void {
    if (this.#withdrawn) this.#owner.failed(this, 487, 'Request Terminated', null);
    else this.#owner.failed(this, 503, 'Service Unavailable', failure);
  }

  ended(): void {
    this.#owner.ended(this);
  }
}
