/** Our requests in a dialog of either direction. */

import { type AuthenticatedRequest, type Authenticator, isChallenge } from '../srf/authenticator.ts';
import { engineError } from '../srf/engine-errors.ts';
import type { SrfAnswer, SrfRequest, SrfResponse } from '../srf/srf.ts';

/** The dialog for our requests. */
export interface OwnDialog {
  readonly id: string;
  /** The INVITE that created it: it knows the engine's connection. */
  readonly invite: SrfRequest;
  /** Receives requests for the dialog while a request of ours is pending. */
  receive(request: SrfRequest, response: SrfResponse): void;
  /** null: challenges are final answers. */
  readonly authenticator: Authenticator | null;
  /** Called after the request has failed, when the engine does not know the dialog. */
  unknown(): void;
}

/** A request was made before there is a dialog. */
export class NoDialog extends Error {
  override readonly name = 'NoDialog';

  constructor() {
    super('The dialog does not exist yet');
  }
}

export interface DialogRequest {
  readonly method: 'INVITE' | 'UPDATE' | 'BYE' | 'REFER' | 'NOTIFY' | 'OPTIONS';
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  /** Called with each attempt as sent on the wire. */
  sent?(request: SrfRequest): void;
  /** Called for the final response; `ack` only applies to a 2xx to INVITE. */
  answered(answer: SrfAnswer, ack: () => void): void;
  /** Called when no response can arrive. */
  failed(error: Error): void;
}

/** Sends a request in a dialog, and again with credentials when it is challenged. */
export function sendInDialog(dialog: OwnDialog, request: DialogRequest): void {
  send(dialog, request, dialog.authenticator?.request() ?? null);
}

function send(dialog: OwnDialog, request: DialogRequest, authentication: AuthenticatedRequest | null): void {
  const { method, headers, body } = request;
  const options = {
    method,
    stackDialogId: dialog.id,
    headers: { ...headers, ...authentication?.headers },
    ...(body === undefined ? {} : { body }),
    _socket: dialog.invite.socket,
  };
  const failed = (error: unknown): void => {
    const failure = error instanceof Error ? error : new Error(String(error));
    request.failed(failure);
    if (engineError(failure).kind === 'unknownDialog') dialog.unknown();
  };
  try {
    dialog.invite.agent.request(options, (error, sent) => {
      if (error || !sent) return failed(error);
      request.sent?.(sent);
      // drachtio-srf delivers an UPDATE that arrives meanwhile only to this request.
      sent.on('update', (update, response) => dialog.receive(update, response));
      sent.on('response', (answer, ack) => {
        if (answer.status < 200) return;
        // The engine has replaced our Request-URI with the peer's Contact.
        const again =
          isChallenge(answer.status) &&
          authentication?.take(answer.headers, { method, uri: sent.uri, body: body ?? '' });
        if (again) send(dialog, request, authentication);
        else request.answered(answer, ack);
      });
    });
  } catch (error) {
    // The engine's connection is gone and drachtio-srf has forgotten it.
    failed(error);
  }
}
