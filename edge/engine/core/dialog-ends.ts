/**
 * How dialogs end, and how the application hears of it.
 *
 * The invariant: **every dialog that the application knows ends with exactly one event, and is gone from the engine
 * with it.** A dialog is known from the first response that names its id on. The events:
 *
 * | Who ends it | The event |
 * |---|---|
 * | the peer | its BYE, its CANCEL, its last NOTIFY, handed over as a request |
 * | the application | the final response to its own BYE or last NOTIFY; its own final refusal of the INVITE |
 * | the callee of ours | the final response to our INVITE |
 * | the engine | a request of its own in the place of the peer's: BYE (`unsolicited`), CANCEL, NOTIFY |
 *
 * A BYE that crosses one of the application's is answered, too, but the dialog is over with the first of the two. An
 * application that has disconnected hears nothing; its peers get a BYE.
 *
 * `DialogEnds.end` is the one way out: nothing else takes a session out of the table or releases it. An end that the
 * engine decides cannot be had without the notice that goes to the application with it.
 */

import type { AppClient } from '../drachtio-port/client.ts';
import { NOWHERE, type Peer, sipLine, UNSOLICITED, wireTime } from '../drachtio-port/lines.ts';
import { serializeRequest } from '../message/serialize.ts';
import type { Context } from './context.ts';
import type { IncomingRequest } from './incoming-request.ts';
import { type Fields, plainRequest } from './responses.ts';
import type { Session } from './session.ts';

/** Tells the application of an end that the engine decided. */
type Notice = (client: AppClient) => void;

export type DialogEnd =
  /** A request of the peer ends it, and is handed to the application. */
  | { readonly by: 'peer' }
  /** A final response that goes to the application, or came from it, ends it. */
  | { readonly by: 'response' }
  | { readonly by: 'engine'; readonly notice: Notice }
  /** Nobody is there to be told. */
  | { readonly by: 'application gone' };

/** Texts of the Reason header in the engine's own BYE and CANCEL, as applications read them. */
export const endTexts = {
  noAck: 'ACK timeout',
  ackImpossible: 'ACK impossible: connection lost',
  unacknowledged: 'no ACK from the application',
  cancelRace: 'ACK-BYE due to cancel race condition',
  noContact: 'no Contact in the 200',
  unreachable: 'peer unreachable',
  noPrack: 'PRACK timeout',
  unanswered: 'no answer from the application',
  connectionLost: 'connection lost',
  unowned: 'no call owns the dialog',
  applicationGone: 'application disconnected',
  subscriptionOver: 'subscription expired',
} as const;

export type EndText = (typeof endTexts)[keyof typeof endTexts];

export class DialogEnds {
  readonly #context: Pick<Context, 'sessions' | 'metrics' | 'clock'>;

  constructor(context: Pick<Context, 'sessions' | 'metrics' | 'clock'>) {
    this.#context = context;
  }

  /** Ends a dialog; without effect when it has ended. @returns whether it ended now */
  end(session: Session, end: DialogEnd): boolean {
    if (session.dialog.state === 'Terminated') return false;
    const { sessions, metrics } = this.#context;
    sessions.remove(session);
    session.release();
    metrics.count('dialogs_ended');
    if (end.by !== 'engine') return true;
    metrics.count('dialogs_ended_by_engine');
    end.notice(session.client);
    return true;
  }

  /** The notice of a BYE of ours, or of the one that we would have sent. `peer`: null when none went out. */
  byeNotice(session: Session, bytes: Buffer, peer: Peer | null): Notice {
    return this.#unsolicited(session.dialog.id, bytes, peer);
  }

  /** A subscription that nobody refreshed: its last NOTIFY, which no peer has sent (RFC 6665 section 4.1.3). */
  expiryNotice(session: Session): Notice {
    const { dialog } = session;
    const request = plainRequest('NOTIFY', dialog.remoteTarget, {
      from: dialog.remote,
      to: dialog.local,
      callId: dialog.callId,
      cseq: Math.max(0, dialog.remoteCSeq) + 1,
      fields: [['Subscription-State', 'terminated;reason=timeout']],
    });
    return this.#unsolicited(dialog.id, serializeRequest(request), null);
  }

  /**
   * Tells the application that an INVITE which it was to answer is over: a CANCEL that no peer has sent. Applications
   * take a CANCEL as such only when it comes from the network; its length of 0 says that it did not.
   * @param status that the caller got, or would have got
   */
  tellCanceled(incoming: IncomingRequest, status: number, text: EndText): void {
    const { headers, uri } = incoming.request;
    const request = plainRequest('CANCEL', uri, {
      from: headers.get('from') ?? '',
      to: headers.get('to') ?? '',
      callId: headers.get('call-id') ?? '',
      cseq: Number.parseInt(headers.get('cseq') ?? '', 10),
      fields: [reasonField(status, text)],
    });
    const time = wireTime(this.#context.clock.now());
    const dialogId = incoming.session?.dialog.id ?? '';
    const line = sipLine('network', 0, NOWHERE, time, incoming.id, dialogId, null);
    incoming.client.send(line, serializeRequest(request));
  }

  #unsolicited(dialogId: string, bytes: Buffer, peer: Peer | null): Notice {
    const time = wireTime(this.#context.clock.now());
    const length = peer === null ? 0 : bytes.length;
    const line = sipLine('application', length, peer ?? NOWHERE, time, UNSOLICITED, dialogId, null);
    return (client) => client.send(line, bytes);
  }
}

export function reasonField(status: number, text: EndText): Fields[number] {
  return ['Reason', `SIP;cause=${status};text="${text}"`];
}
