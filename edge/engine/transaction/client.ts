import type { Clock, Timer } from '#shared/clock.ts';
import type { ConnectionFailure } from '#shared/connection-faults.ts';
import { step } from '#shared/state-machine.ts';
import { HeaderList } from '../message/headers.ts';
import type { SipRequest, SipResponse } from '../message/message.ts';
import { type ClientInviteInput, type ClientInviteState, clientInvite } from './client-invite.ts';
import {
  type ClientNonInviteInput,
  type ClientNonInviteState,
  clientNonInvite,
} from './client-non-invite.ts';
import { cseqNumber } from './matching.ts';
import { type TimerName, timers } from './timers.ts';

/** The sender of the request: receives everything that the protocol does not handle itself. */
export interface ClientUser {
  /** A response, also 100; only the first final one. */
  response(response: SipResponse, bytes: Buffer): void;
  /** Another 2xx for an INVITE that has one: a retransmission, or a second fork's (compare the To tags). */
  repeated(response: SipResponse): void;
  /** Timer B or F: treated as a 408 (RFC 3261 section 8.1.3.1). */
  timeout(): void;
  /** The transport failed: treated as a 503 (8.1.3.1). */
  unreachable(failure: ConnectionFailure): void;
  /** The transaction is over. Called once, as the last callback. */
  ended(): void;
}

/** Puts a message on the wire. */
export type Send = (message: SipRequest, bytes?: Buffer) => void;

/** Interface of both client transactions to their users. */
export interface ClientTransaction {
  /** Branch of the top Via, by which responses find the transaction. */
  readonly branch: string;
  readonly request: SipRequest;
  /** Whether it has ended: it sends nothing more. */
  readonly over: boolean;
  /** Sends the request. Timer B or F runs since construction, so it includes connection setup. */
  start(send: Send, bytes: Buffer): void;
  receive(response: SipResponse, bytes: Buffer): void;
  transportFailed(failure: ConnectionFailure): void;
}

export class InviteClientTransaction implements ClientTransaction {
  readonly branch: string;
  readonly request: SipRequest;
  readonly #clock: Clock;
  readonly #user: ClientUser;
  #state: ClientInviteState = 'Calling';
  #timer: Timer | null = null;
  #send: Send | null = null;
  #cancel: SipRequest | null = null;

  constructor(branch: string, request: SipRequest, user: ClientUser, clock: Clock) {
    this.branch = branch;
    this.request = request;
    this.#user = user;
    this.#clock = clock;
    this.#start('B');
  }

  get state(): ClientInviteState {
    return this.#state;
  }

  get over(): boolean {
    return this.#state === 'Terminated';
  }

  /** The CANCEL that was sent or waits for a provisional response; null when not canceled. */
  get cancelRequest(): SipRequest | null {
    return this.#cancel;
  }

  start(send: Send, bytes: Buffer): void {
    if (this.#state === 'Terminated') return;
    this.#send = send;
    send(this.request, bytes);
  }

  receive(response: SipResponse, bytes: Buffer): void {
    const { status } = response;
    this.#move(status < 200 ? '1xx' : status < 300 ? '2xx' : 'failure', response, bytes);
  }

  /**
   * Sends the CANCEL, now or with the first provisional response.
   * @returns the CANCEL, null when the INVITE already has its final response
   */
  cancel(extra: Iterable<readonly [string, string]> = []): SipRequest | null {
    if (this.#state === 'Accepted' || this.#state === 'Terminated') return null;
    this.#cancel ??= cancelOf(this.request, extra);
    this.#move('cancel', null, null);
    return this.#cancel;
  }

  transportFailed(failure: ConnectionFailure): void {
    if (this.#state !== 'Terminated') this.#move('transport error', null, null, failure);
  }

  #move(
    input: ClientInviteInput,
    response: SipResponse | null,
    bytes: Buffer | null,
    failure: ConnectionFailure | null = null,
  ): void {
    const { to, actions } = step(clientInvite, this.#state, input);
    this.#state = to;
    if (to === 'Terminated') this.#timer?.cancel();
    for (const action of actions) {
      switch (action) {
        case 'deliver':
          if (response && bytes) this.#user.response(response, bytes);
          break;
        case 'repeated':
          if (response) this.#user.repeated(response);
          break;
        case 'send ACK':
          if (response) this.#send?.(ackOfFailure(this.request, response));
          break;
        case 'send CANCEL':
          this.#cancel ??= cancelOf(this.request);
          this.#send?.(this.#cancel);
          break;
        case 'timeout':
          this.#user.timeout();
          break;
        case 'unreachable':
          if (failure) this.#user.unreachable(failure);
          break;
        case 'start C':
          this.#start('C');
          break;
        case 'start M':
          this.#start('M');
          break;
        case 'start cancel':
          this.#start('cancel');
          break;
      }
    }
    if (to === 'Terminated') this.#user.ended();
  }

  #start(name: Extract<TimerName, 'B' | 'C' | 'M' | 'cancel'>): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(timers[name], () => {
      this.#move(`timer ${name}`, null, null);
    });
  }
}

export class NonInviteClientTransaction implements ClientTransaction {
  readonly branch: string;
  readonly request: SipRequest;
  readonly #user: ClientUser;
  readonly #timer: Timer;
  #state: ClientNonInviteState = 'Trying';

  constructor(branch: string, request: SipRequest, user: ClientUser, clock: Clock) {
    this.branch = branch;
    this.request = request;
    this.#user = user;
    this.#timer = clock.after(timers.F, () => this.#move('timer F', null, null));
  }

  get state(): ClientNonInviteState {
    return this.#state;
  }

  get over(): boolean {
    return this.#state === 'Terminated';
  }

  start(send: Send, bytes: Buffer): void {
    if (this.#state !== 'Terminated') send(this.request, bytes);
  }

  receive(response: SipResponse, bytes: Buffer): void {
    this.#move(response.status < 200 ? '1xx' : 'final', response, bytes);
  }

  transportFailed(failure: ConnectionFailure): void {
    if (this.#state !== 'Terminated') this.#move('transport error', null, null, failure);
  }

  #move(
    input: ClientNonInviteInput,
    response: SipResponse | null,
    bytes: Buffer | null,
    failure: ConnectionFailure | null = null,
  ): void {
    const { to, actions } = step(clientNonInvite, this.#state, input);
    this.#state = to;
    if (to === 'Terminated') this.#timer.cancel();
    for (const action of actions) {
      switch (action) {
        case 'deliver':
          if (response && bytes) this.#user.response(response, bytes);
          break;
        case 'timeout':
          this.#user.timeout();
          break;
        case 'unreachable':
          if (failure) this.#user.unreachable(failure);
          break;
      }
    }
    if (to === 'Terminated') this.#user.ended();
  }
}

const NO_BODY = Buffer.alloc(0);

/** The ACK of a failure: part of the INVITE's transaction, built by RFC 3261 section 17.1.1.3. */
function ackOfFailure(invite: SipRequest, response: SipResponse): SipRequest {
  return followUp(invite, 'ACK', response.headers.get('to') ?? invite.headers.get('to') ?? '');
}

/** The CANCEL of an INVITE (RFC 3261 section 9.1). `extra`: header fields such as Reason. */
function cancelOf(invite: SipRequest, extra: Iterable<readonly [string, string]> = []): SipRequest {
  const cancel = followUp(invite, 'CANCEL', invite.headers.get('to') ?? '');
  for (const [name, value] of extra) cancel.headers.append(name, value);
  return cancel;
}

/** Same Request-URI, top Via, Route, From, Call-ID and CSeq number as the INVITE, so that it takes the same path. */
function followUp(invite: SipRequest, method: 'ACK' | 'CANCEL', to: string): SipRequest {
  const { headers } = invite;
  const copy = new HeaderList();
  copy.append('Via', headers.get('via') ?? '');
  copy.append('Max-Forwards', '70');
  for (const route of headers.all('route')) copy.append('Route', route);
  copy.append('From', headers.get('from') ?? '');
  copy.append('To', to);
  copy.append('Call-ID', headers.get('call-id') ?? '');
  copy.append('CSeq', `${cseqNumber(headers)} ${method}`);
  return { kind: 'request', method, uri: invite.uri, headers: copy, body: NO_BODY };
}
