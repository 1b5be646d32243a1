import { randomUUID } from 'node:crypto';
import type { Clock, Timer } from '#shared/clock.ts';
import type { AppClient } from '../drachtio-port/client.ts';
import type { SipRequest } from '../message/message.ts';
import { requires100rel } from '../message/options.ts';
import {
  InviteServerTransaction,
  NonInviteServerTransaction,
  type ServerTransaction,
  type ServerUser,
} from '../transaction/server.ts';
import type { Flow } from '../transport/flow.ts';
import type { Session } from './session.ts';
import type { TracedMessages } from './traced-messages.ts';

export interface IncomingOwner {
  readonly clock: Clock;
  readonly messages: TracedMessages;
  unanswered(incoming: IncomingRequest): void;
  /** The application has said nothing about a new INVITE. */
  silent(incoming: IncomingRequest): void;
  ended(incoming: IncomingRequest): void;
}

/** Octets that we add to an answer, roughly: Server, Contact, Allow and the like. */
const ownPart = 512;

/**
 * An application that lives says within a fraction of a second that a call rings, or what else becomes of it. One that
 * hangs would keep its callers until it goes on, because the engine has answered 100.
 */
const silentMs = 5_000;

/** A request from the network with its transaction and the application that answers it. */
export class IncomingRequest implements ServerUser {
  /** The application's id for the transaction. */
  readonly id = randomUUID();
  readonly request: SipRequest;
  readonly flow: Flow;
  readonly client: AppClient;
  readonly transaction: ServerTransaction;
  /** The same as `transaction` for an INVITE, else null. */
  readonly invite: InviteServerTransaction | null;
  readonly #owner: IncomingOwner;
  /** The dialog that the request belongs to or created. */
  session: Session | null;
  /** Whether the request arrived in that dialog. */
  readonly inDialog: boolean;
  /** Our To tag for responses to a request without one; set by the first response that needs it. */
  toTag: string | null = null;
  /** Id of the dialog that it may create, until its final response. Set by FormingDialogs. */
  formingId: string | null = null;
  /** Id of the INVITE that this BYE ends. */
  after: string | null = null;
  /** RSeq of the last reliable provisional; 0 before the first. */
  rseq = 0;
  /** Approximate size of the pending answer, in octets. */
  #owed = 0;
  /** Whether the flow is pinned for the final answer. */
  #pinned = false;
  /** Until the application says something about a new INVITE. */
  #silence: Timer | null = null;
  #deliveredAt = 0;

  constructor(
    owner: IncomingOwner,
    key: string,
    merge: string | null,
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
    if (request.method === 'INVITE') {
      this.invite = new InviteServerTransaction(key, merge, request, this, owner.clock);
      this.transaction = this.invite;
    } else {
      this.invite = null;
      this.transaction = new NonInviteServerTransaction(key, merge, request, this, owner.clock);
    }
  }

  /**
   * The application has the request. Until the answer, the flow is charged about the size of the request, most of
   * which the answer repeats.
   */
  delivered(bytes: number): void {
    this.#owed = bytes + ownPart;
    this.flow.owe(this.#owed);
    if (this.invite && !this.inDialog && mayRing(this.request)) this.#awaitWord();
    if (this.#pinned) return;
    this.#pinned = true;
    this.flow.pin();
  }

  #awaitWord(): void {
    const { clock } = this.#owner;
    this.#silence = clock.after(silentMs, () => this.#owner.silent(this));
    this.#deliveredAt = clock.elapsed();
    this.client.firstWords.asked(this.flow.group);
  }

  #hasWord(): void {
    if (!this.#silence) return;
    this.#silence.cancel();
    this.#silence = null;
    this.client.firstWords.said(this.flow.group, this.#owner.clock.elapsed() - this.#deliveredAt);
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
    this.#hasWord();
    this.#transmit(bytes);
  }

  /**
   * Sends another copy of a response. Not to a peer that has not read the first one: while a busy peer is slow, the
   * copies of thousands of calls would fill its queue, and it would be cut.
   */
  resend(bytes: Buffer): void {
    if (!this.flow.backlogged) this.#transmit(bytes);
  }

  #transmit(bytes: Buffer): void {
    this.#settle();
    this.#owner.messages.send(this.flow, bytes, this.request.headers);
    if (!isProvisional(bytes)) this.#unpin();
  }

  unanswered(): void {
    this.#owner.unanswered(this);
  }

  ended(): void {
    this.#hasWord();
    this.#settle();
    this.#unpin();
    this.#owner.ended(this);
  }
}

/** For one of our responses; its first line begins with "SIP/2.0 1". */
function isProvisional(bytes: Buffer): boolean {
  return bytes[8] === 0x31;
}

/**
 * Whether an application can say that an INVITE rings. A caller who insists on reliable responses and offers nothing would
 * have to get an offer with it (RFC 3262 section 5), so applications are silent until they answer.
 */
function mayRing({ headers, body }: SipRequest): boolean {
  return body.length > 0 || !requires100rel(headers);
}
