/** The user agent core in one piece: both halves, and which of them a message or a command is for. */

import type { Context } from '../core/context.ts';
import { endTexts } from '../core/dialog-ends.ts';
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

  /** How many entries of each kind it keeps, for leak checks: none when no transaction and no dialog is alive. */
  get held(): Record<string, number> {
    const { clientCount, serverCount } = this.#context.transactions;
    const dialogs = this.#context.sessions.size;
    return { ...this.#uas.held, ...this.#uac.held, dialogs, clientCount, serverCount };
  }

  request(flow: Flow, request: SipRequest): void {
    this.#uas.receive(flow, request);
  }

  /** @returns whether a transaction of ours waited for it */
  response(response: SipResponse, bytes: Buffer): boolean {
    const transaction = this.#context.transactions.clientFor(response);
    transaction?.receive(response, bytes);
    return transaction !== undefined;
  }

  /** Answers a request at once and keeps nothing of it. */
  refuse(flow: Flow, request: SipRequest, rejection: Rejection): void {
    this.#uas.refuse(flow, request, rejection);
  }

  /** Nothing more can be read of `flow`: closes it once the requests that came over it are answered. */
  drain(flow: Flow, reason: string): void {
    this.#uas.drain(flow, reason);
  }

  /** A request or response of an application. */
  execute(command: SipCommand): void {
    const { start } = command.message;
    if (start.kind === 'response') this.#answers.execute(command, start.status, start.reason);
    else this.#uac.execute(command, start.method, start.uri);
  }

  /** A connection is gone. */
  flowClosed(flow: Flow, reason: string): void {
    this.#uas.flowClosed(flow);
    this.#uac.flowClosed(flow, reason);
  }

  /** An application has disconnected: what waits for it is answered, what it rang is cancelled, its calls get a BYE. */
  clientGone(client: AppClient): void {
    this.#uac.clientGone(client);
    this.#uas.clientGone(client);
    this.#uac.leaveDialogsOf(client);
  }

  /** The ids of all dialogs, for the application to compare with its own. */
  dialogs(): string[] {
    return [...this.#context.sessions].map(({ dialog }) => dialog.id);
  }

  /** Ends dialogs that no call of the application owns; ids that are unknown are left out. */
  endDialogs(ids: readonly string[]): void {
    const unowned = new Set(ids);
    for (const session of [...this.#context.sessions]) {
      if (!unowned.has(session.dialog.id)) continue;
      const { incomingInvite, outgoingInvite, dialog } = session;
      if (dialog.state === 'Confirmed') this.#uac.bye(session, endTexts.unowned);
      else if (outgoingInvite) this.#uac.cancelInvite(outgoingInvite.id);
      else if (incomingInvite) this.#uas.giveUpOn(incomingInvite.id, endTexts.unowned);
    }
  }
}
