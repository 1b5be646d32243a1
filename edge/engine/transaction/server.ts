import type { Clock, Timer } from '#shared/clock.ts';
import { step } from '#shared/state-machine.ts';
import type { SipRequest } from '../message/message.ts';
import { type ServerInviteInput, type ServerInviteState, serverInvite } from './server-invite.ts';
import {
  type ServerNonInviteInput,
  type ServerNonInviteState,
  serverNonInvite,
} from './server-non-invite.ts';
import { type TimerName, timers } from './timers.ts';

/** Answers the request. */
export interface ServerUser {
  /** The application's id for the transaction. */
  readonly id: string;
  /** Sends a response over the connection of its request (RFC 3261 section 18.2.2). */
  send(bytes: Buffer): void;
  /** The same once more, because the request came again. */
  resend(bytes: Buffer): void;
  /** An INVITE got no response at all for 64 s. */
  unanswered(): void;
  /** The transaction is over. Called once, as the last callback. */
  ended(): void;
}

/** Interface of both server transactions to their users. */
export interface ServerTransaction {
  /** The key under which retransmissions, ACK and CANCEL find the transaction. */
  readonly key: string;
  readonly mergeKey: string | null;
  readonly request: SipRequest;
  /** Whether the user may still send a response other than a repeated 2xx. */
  readonly open: boolean;
  /** The same request was received again. */
  retransmitted(): void;
  /** Sends a response. @throws IllegalMove after the final one (check `open` first) */
  respond(status: number, bytes: Buffer): void;
}

export class InviteServerTransaction implements ServerTransaction {
  readonly key: string;
  readonly mergeKey: string | null;
  readonly request: SipRequest;
  readonly #user: ServerUser;
  readonly #clock: Clock;
  #state: ServerInviteState = 'Proceeding';
  #timer: Timer | null = null;
  #last: Buffer | null = null;

  constructor(key: string, mergeKey: string | null, request: SipRequest, user: ServerUser, clock: Clock) {
    this.key = key;
    this.mergeKey = mergeKey;
    this.request = request;
    this.#user = user;
    this.#clock = clock;
    this.#start('answer');
  }

  /** The id of the user that answers it. */
  get userId(): string {
    return this.#user.id;
  }

  get state(): ServerInviteState {
    return this.#state;
  }

  get open(): boolean {
    return this.#state === 'Proceeding';
  }

  /** 17.2.1: the transaction's own 100, sent before the user answers. */
  trying(bytes: Buffer): void {
    this.#last = bytes;
    this.#user.send(bytes);
  }

  retransmitted(): void {
    this.#move('INVITE', null);
  }

  /** The ACK of a failure; it has the branch of its INVITE. */
  acknowledgedFailure(): void {
    this.#move('ACK', null);
  }

  /** The ACK of the 2xx; it is matched by dialog. */
  acknowledged(): void {
    if (this.#state === 'Accepted') this.#move('acknowledged', null);
  }

  respond(status: number, bytes: Buffer): void {
    this.#move(status < 200 ? 'user 1xx' : status < 300 ? 'user 2xx' : 'user failure', bytes);
  }

  #move(input: ServerInviteInput, bytes: Buffer | null): void {
    const { to, actions } = step(serverInvite, this.#state, input);
    this.#state = to;
    if (to === 'Terminated') this.#timer?.cancel();
    for (const action of actions) {
      switch (action) {
        case 'send':
          if (bytes) this.#user.send(bytes);
          this.#last = bytes;
          break;
        case 'send again':
          if (this.#last) this.#user.resend(this.#last);
          break;
        case 'unanswered':
          this.#user.unanswered();
          break;
        case 'stop timer':
          this.#timer?.cancel();
          break;
        case 'start H':
          this.#start('H');
          break;
        case 'start L':
          this.#start('L');
          break;
      }
    }
    if (to === 'Terminated') this.#user.ended();
  }

  #start(name: Extract<TimerName, 'answer' | 'H' | 'L'>): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(timers[name], () => this.#move(`timer ${name}`, null));
  }
}

export class NonInviteServerTransaction implements ServerTransaction {
  readonly key: string;
  readonly mergeKey: string | null;
  readonly request: SipRequest;
  readonly #user: ServerUser;
  readonly #timer: Timer;
  #state: ServerNonInviteState = 'Trying';
  #last: Buffer | null = null;

  constructor(key: string, mergeKey: string | null, request: SipRequest, user: ServerUser, clock: Clock) {
    this.key = key;
    this.mergeKey = mergeKey;
    this.request = request;
    this.#user = user;
    this.#timer = clock.after(timers.reply, () => this.#move('timer reply', null));
  }

  get state(): ServerNonInviteState {
    return this.#state;
  }

  get open(): boolean {
    return this.#state !== 'Terminated';
  }

  retransmitted(): void {
    this.#move('request', null);
  }

  respond(status: number, bytes: Buffer): void {
    this.#move(status < 200 ? 'user 1xx' : 'user final', bytes);
  }

  #move(input: ServerNonInviteInput, bytes: Buffer | null): void {
    const { to, actions } = step(serverNonInvite, this.#state, input);
    this.#state = to;
    if (to === 'Terminated') this.#timer.cancel();
    for (const action of actions) {
      if (action === 'send again') {
        if (this.#last) this.#user.resend(this.#last);
      } else {
        if (bytes) this.#user.send(bytes);
        this.#last = bytes;
      }
    }
    if (to === 'Terminated') this.#user.ended();
  }
}
