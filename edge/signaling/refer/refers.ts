/** The REFERs of one dialog, in both directions, and their NOTIFYs. */

import { allow } from '#shared/sip-methods.ts';
import type { PeerRefer, ReferEvents, ReferOrder } from '../../call/ports/refer.ts';
import type { DialogRequest } from '../session/dialog-request.ts';
import { type Environment, respond } from '../srf/environment.ts';
import { headerOf, supported, unsupportedTags, warningOf } from '../srf/headers.ts';
import { uriOf } from '../srf/numbers.ts';
import type { SrfRequest, SrfResponse } from '../srf/srf.ts';
import { ReceivedRefer } from './received-refer.ts';
import { readRefer } from './refer-to.ts';
import { SentRefer } from './sent-refer.ts';

/** What REFERs need from their dialog. */
export interface ReferDialog {
  readonly environment: Environment;
  readonly referred: (refer: PeerRefer) => void;
  /** A REFER was rejected before the call saw it. */
  readonly refused: (target: string, reason: string) => void;
  /** Our Contact; null: the engine adds its own when needed. */
  readonly contact: () => string | null;
  /** Our URI in From or To of the dialog. */
  readonly self: () => string;
  /** Sends a request in the dialog. */
  send(request: DialogRequest): void;
}

export class Refers {
  readonly #dialog: ReferDialog;
  readonly #received = new Set<ReceivedRefer>();
  readonly #sent = new Set<SentRefer>();
  #subscriptions = 0;
  #stopped = false;

  constructor(dialog: ReferDialog) {
    this.#dialog = dialog;
  }

  /** A REFER from the peer. */
  receive(request: SrfRequest, response: SrfResponse) {
    const { environment, referred, refused } = this.#dialog;
    const refuse = (status: number, reason?: string, headers: Record<string, string> = {}): void => {
      environment.countRefer('received', 'refused');
      const why = reason ?? 'It requires an extension that is not supported';
      const all = { Warning: warningOf(environment.warnAgent, `${why}.`), ...headers };
      respond(environment, response, status, { headers: all, ...(reason === undefined ? {} : { reason }) });
      refused(uriOf(headerOf(request.headers, 'refer-to') ?? ''), `${why} (${status}).`);
    };
    const unsupported = unsupportedTags(headerOf(request.headers, 'require'));
    if (unsupported.length > 0) return refuse(420, undefined, { Unsupported: unsupported.join(', ') });
    const asked = readRefer(request.headers);
    if (!asked.ok) return refuse(asked.status, asked.reason);
    // RFC 3515 section 2.4.4 allows several; a call handles one transfer at a time.
    if ([...this.#received].some(({ underWay }) => underWay)) return refuse(491, 'Transfer Pending');
    const refer = new ReceivedRefer({
      environment,
      request,
      response,
      facts: asked,
      event: this.#event(request),
      ourselves: () => this.#ourselves(),
      send: (notify) => this.#dialog.send(notify),
      over: (ended) => this.#received.delete(ended),
    });
    this.#received.add(refer);
    try {
      referred(refer);
    } catch (error) {
      const why = 'The edge failed to handle the request.';
      refer.refuse(500, 'Server Internal Error', why);
      refused(refer.target, why);
      throw error;
    }
  }

  /** A NOTIFY from the peer. */
  notified(request: SrfRequest, response: SrfResponse): void {
    const { environment } = this.#dialog;
    const event = headerOf(request.headers, 'event') ?? '';
    const id = /;\s*id\s*=\s*([^\s;]+)/i.exec(event)?.[1];
    const meant = /^\s*refer\s*(?:;|$)/i.test(event)
      ? [...this.#sent].filter((sent) => sent.matches(id === undefined ? null : Number(id)))
      : [];
    // Many peers omit the subscription id: the pending one is meant.
    const refer = meant.find(({ settled }) => !settled) ?? meant[0];
    if (!refer) {
      // RFC 6665 section 4.1.3.
      respond(environment, response, 481, { reason: 'Subscription does not exist' });
      return;
    }
    respond(environment, response, 200);
    refer.notified(request.headers, request.body);
  }

  /** Sends a REFER. `events` are only called after this has returned. */
  refer({ target }: ReferOrder, events: ReferEvents) {
    const { environment, self, send } = this.#dialog;
    if (this.#stopped) return tooLate(events);
    if (/[\s<>"]/.test(target)) {
      queueMicrotask(() => events.failed(null, 'The target is not a URI'));
      return;
    }
    const refer = new SentRefer(environment, events, (over) => this.#sent.delete(over));
    this.#sent.add(refer);
    const headers = {
      ...this.#ourselves(),
      'User-Agent': environment.software,
      Allow: allow,
      Supported: supported,
      'Refer-To': `<${target}>`,
      'Referred-By': `<${self()}>`,
    };
    queueMicrotask(() => {
      if (this.#stopped) return;
      send({
        method: 'REFER',
        headers,
        body: undefined,
        sent: (request) => refer.sent(request),
        answered: (answer) => refer.answered(answer),
        failed: (error) => refer.notSent(error),
      });
    });
  }

  /** Sends queued NOTIFYs, because the dialog ends. */
  flush(): void {
    for (const refer of this.#received) refer.flush();
  }

  /**
   * The dialog has ended: NOTIFYs stop, and our REFERs have failed. This is reported after the dialog's own last
   * event: a peer that follows the REFER may hang up first (RFC 5589 section 6.1).
   */
  stop(reason: string): void {
    this.#stopped = true;
    for (const refer of [...this.#received]) refer.stop();
    queueMicrotask(() => {
      for (const refer of [...this.#sent]) refer.stop(reason);
    });
  }

  #ourselves(): Record<string, string> {
    const contact = this.#dialog.contact();
    return contact === null ? {} : { Contact: contact };
  }

  /** RFC 3515 section 2.4.6: all subscriptions of a dialog after the first are identified by the REFER's CSeq. */
  #event(request: SrfRequest): string {
    const cseq = Number.parseInt(headerOf(request.headers, 'cseq') ?? '', 10);
    return this.#subscriptions++ === 0 ? 'refer' : `refer;id=${cseq}`;
  }
}

/** Reports that a REFER cannot be sent, after `refer()` has returned. */
export function tooLate(events: ReferEvents): void {
  queueMicrotask(() => events.failed(null, 'The call is not up'));
}
