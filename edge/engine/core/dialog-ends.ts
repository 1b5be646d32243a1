/**
 * How dialogs end, and how the application learns of it.
 *
 * The invariant: **every dialog that the application knows ends with exactly one event and is then removed from
 * the engine.** The application knows a dialog from the first response that carries its id. The events:
 *
 * | Who ends it | The event |
 * |---|---|
 * | the peer | its BYE, CANCEL or last NOTIFY, delivered as a request |
 * | the application | the final response to its own BYE or last NOTIFY; its own final rejection of the INVITE |
 * | our callee | the final response to our INVITE |
 * | the engine | a request made by the engine instead of the peer: BYE (`unsolicited`), CANCEL, NOTIFY |
 *
 * A BYE that crosses one from the application is answered too, but the dialog ends with the first of the two. An
 * application that has disconnected gets no events; its peers get a BYE.
 *
 * Only `DialogEnds.end` removes a session from the table and releases it. When the engine ends a dialog, the
 * caller must pass the notice for the application.
 */

import type { Clock } from '#shared/clock.ts';
import { type EndCause, endTexts } from '#shared/engine-protocol/ends.ts';
import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import type { DialogTable } from '../dialog/table.ts';
import type { AppClient } from '../drachtio-port/client.ts';
import { NOWHERE, type Peer, sipLine, UNSOLICITED, wireTime } from '../drachtio-port/lines.ts';
import type { SipRequest } from '../message/message.ts';
import { serializeRequest } from '../message/serialize.ts';
import type { Metrics } from '../transport/metrics.ts';
import type { IncomingRequest } from './incoming-request.ts';
import { type Fields, plainRequest } from './responses.ts';
import type { Session } from './session.ts';

/** Notifies the application of an end that the engine decided. */
type Notice = (client: AppClient) => void;

export type DialogEnd =
  /** A request from the peer ends it and is delivered to the application. */
  | { readonly by: 'peer' }
  /** A final response to or from the application ends it. */
  | { readonly by: 'response' }
  | { readonly by: 'engine'; readonly notice: Notice }
  /** There is no application to notify. */
  | { readonly by: 'application gone' };

interface DialogEndsContext {
  readonly clock: Clock;
  readonly sessions: DialogTable<Session>;
  readonly metrics: Metrics;
}

export class DialogEnds {
  readonly #context: DialogEndsContext;

  constructor(context: DialogEndsContext) {
    this.#context = context;
  }

  /** Ends a dialog; no effect when it has already ended. @returns whether it ended now */
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

  /** Notifies of our BYE, or of the one that we would have sent. `peer`: null when none was sent. */
  byeNotice(session: Session, bye: SipRequest, cause: EndCause, peer: Peer | null): Notice {
    const headers = bye.headers.clone();
    headers.append(privateHeaders.end, cause);
    return this.#unsolicited(session.dialog.id, serializeRequest({ ...bye, headers }), peer);
  }

  /** A subscription that was not refreshed: its last NOTIFY, which no peer has sent (RFC 6665 section 4.1.3). */
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
   * Notifies the application that an INVITE waiting for its answer has ended, with a CANCEL that no peer has sent.
   * Applications only recognize a CANCEL from the network; its length of 0 shows that it was not on the wire.
   * @param status that the caller got, or would have got
   */
  notifyCanceled(incoming: IncomingRequest, status: number, cause: EndCause): void {
    const { headers, uri } = incoming.request;
    const request = plainRequest('CANCEL', uri, {
      from: headers.get('from') ?? '',
      to: headers.get('to') ?? '',
      callId: headers.get('call-id') ?? '',
      cseq: Number.parseInt(headers.get('cseq') ?? '', 10),
      fields: [reasonField(status, cause), [privateHeaders.end, cause]],
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

export function reasonField(status: number, cause: EndCause): Fields[number] {
  return ['Reason', `SIP;cause=${status};text="${endTexts[cause]}"`];
}
