/** The complete user agent core: dispatches messages and commands to its two halves. */

import type { ConnectionFailure } from '#shared/connection-faults.ts';
import type { Context } from '../core/context.ts';
import type { AppClient } from '../drachtio-port/client.ts';
import type { SipCommand } from '../drachtio-port/command.ts';
import type { SipRequest, SipResponse } from '../message/message.ts';
import type { Rejection } from '../message/validate.ts';
import type { Flow } from '../transport/flow.ts';
import { Answers } from './answer.ts';
import { Uac } from './uac.ts';
import { Uas } from './uas.ts';

export class Core {
  readonly #context: Context;
  readonly #uas: Uas;
  readonly #uac: Uac;
  readonly #answers: Answers;

  constructor(context: Context) {
    this.#context = context;
    this.#uas = new Uas(context);
    this.#uac = new Uac(context);
    this.#answers = new Answers(context, this.#uas, this.#uac);
  }

  /** Number of entries of each kind, for leak checks: 0 when no transaction and no dialog is alive. */
  get held(): Record<string, number> {
    const { clientCount, serverCount } = this.#context.transactions;
    const dialogs = this.#context.sessions.size;
    return { ...this.#uas.held, ...this.#uac.held, dialogs, clientCount, serverCount };
  }

  request(flow: Flow, request: SipRequest): void {
    this.#uas.receive(flow, request);
  }

  /** @returns whether one of our transactions matched it */
  response(response: SipResponse, bytes: Buffer): boolean {
    const transaction = this.#context.transactions.clientFor(response);
    transaction?.receive(response, bytes);
    return transaction !== undefined;
  }

  /** Answers a request at once without keeping state. */
  refuse(flow: Flow, request: SipRequest, rejection: Rejection): void {
    this.#uas.refuse(flow, request, rejection);
  }

  /** Nothing more can be read from `flow`: closes it once its pending requests are answered. */
  drain(flow: Flow, reason: string): void {
    this.#uas.drain(flow, reason);
  }

  /** A request or response from an application. */
  execute(command: SipCommand): void {
    const { start } = command.message;
    if (start.kind === 'response') this.#answers.execute(command, start.status, start.reason);
    else this.#uac.execute(command, start.method, start.uri);
  }

  /** A connection has closed. */
  flowClosed(flow: Flow, loss: ConnectionFailure): void {
    this.#uas.flowClosed(flow);
    this.#uac.flowClosed(flow, loss);
  }

  /**
   * An application has disconnected: its pending requests are answered, its outgoing ringing calls are canceled,
   * its calls get a BYE.
   */
  clientGone(client: AppClient): void {
    this.#uac.clientGone(client);
    this.#uas.clientGone(client);
    this.#uac.leaveDialogsOf(client);
  }

  /** The ids of all dialogs, for the application to compare with its own. */
  dialogs(): string[] {
    return [...this.#context.sessions].map(({ dialog }) => dialog.id);
  }

  /** Ends dialogs that no call of the application owns; unknown ids are ignored. */
  endDialogs(ids: readonly string[]): void {
    const unowned = new Set(ids);
    for (const session of [...this.#context.sessions]) {
      if (!unowned.has(session.dialog.id)) continue;
      const { incomingInvite, outgoingInvite, dialog } = session;
      if (dialog.state === 'Confirmed') this.#uac.bye(session, 'unowned');
      else if (outgoingInvite) this.#uac.cancelInvite(outgoingInvite.id);
      else if (incomingInvite) this.#uas.giveUpOn(incomingInvite.id, 'unowned');
    }
  }
}
