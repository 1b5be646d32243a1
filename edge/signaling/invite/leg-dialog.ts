/** The dialog of a leg, the same in both directions: its session, its REFERs, and our requests in it. */
import { endsDialog } from '#shared/sip-status.ts';
import type { ByeExtras, LegEvents } from '../../call/ports/signaling.ts';
import { Refers } from '../refer/refers.ts';
import { dialogProbe } from '../session/dialog-probe.ts';
import { type DialogRequest, NoDialog, sendInDialog } from '../session/dialog-request.ts';
import { DialogSession } from '../session/dialog-session.ts';
import type { DialogOwner, Dialogs } from '../session/dialogs.ts';
import type { Authenticator } from '../srf/authenticator.ts';
import { capabilities, type Environment } from '../srf/environment.ts';
import { reasonOf } from '../srf/headers.ts';
import type { SrfAnswer, SrfRequest, SrfResponse } from '../srf/srf.ts';

export interface LegDialogOptions {
  readonly environment: Environment;
  readonly dialogs: Dialogs;
  readonly owner: DialogOwner;
  readonly events: Pick<
    LegEvents,
    'lost' | 'reanswer' | 'reoffer' | 'reaccept' | 'withdrawn' | 'referred' | 'referRefused'
  >;
  /** Our Contact as configured; null: the engine writes its own. */
  readonly contact: string | null;
  /** Whether our side chose the Call-ID. */
  readonly ownsCallId: boolean;
  /** Our URI in From or To. */
  readonly self: () => string;
  /** The INVITE that creates the dialog; null: the engine has not accepted it yet. */
  readonly invite: () => SrfRequest | null;
  /** For challenges to our requests; null: challenges are final answers. */
  readonly authenticator: Authenticator | null;
}

export class LegDialog {
  readonly session: DialogSession;
  readonly refers: Refers;
  readonly #options: LegDialogOptions;
  /** An OPTIONS that asks whether the peer still has the dialog is pending. */
  #doubted = false;
  /** Our Contact: as configured, else as the engine wrote it. */
  #contact: string | null;
  /** The engine's id of the dialog. */
  #id: string | null = null;

  constructor(options: LegDialogOptions) {
    const { environment, events, ownsCallId, self, contact } = options;
    this.#options = options;
    this.#contact = contact;
    const shared = {
      environment,
      contact: () => this.#contact,
      send: (request: DialogRequest) => this.#send(request),
    };
    this.session = new DialogSession({ ...shared, events, ownsCallId });
    this.refers = new Refers({
      ...shared,
      self,
      referred: (refer) => {
        const { dialogs, owner } = options;
        events.referred(refer, refer.replaces === null ? null : dialogs.replaceable(refer.replaces, owner));
      },
      refused: (...refer) => events.referRefused?.(...refer),
    });
  }

  /** Requests in the dialog with this id go to its owner. */
  learnId(id: string): void {
    this.#id = id;
    this.#options.dialogs.add(id, this.#options.owner);
  }

  /** @param contact the Contact that the engine has written, where none is configured */
  learnContact(contact: string | undefined): void {
    this.#contact ??= contact ?? null;
  }

  contactHeader(): Record<string, string> {
    return this.#contact === null ? {} : { Contact: this.#contact };
  }

  /**
   * Probes whether the peer still has the dialog.
   * @param answered gets why the peer is gone; null: it still has the dialog, or this cannot be determined
   */
  sendOptions(answered: (gone: string | null) => void, suspicion = 'The peer on hold sent no media'): void {
    const headers = { ...this.contactHeader(), ...this.#software(), ...capabilities() };
    this.#send(
      dialogProbe(suspicion, headers, (gone) => answered(this.#options.owner.settled ? gone : null)),
    );
  }

  /**
   * Sends queued NOTIFYs, then a BYE.
   * @param cause of its Reason (RFC 3326): a SIP status
   * @param answered called when it is answered, or cannot be
   */
  sendBye(cause: number, reason: string, extras: ByeExtras, answered: () => void): void {
    this.refers.flush();
    this.session.stop();
    const { q850, headers: custom = {} } = extras;
    const sip = reasonOf(cause, reason);
    const headers = {
      ...custom,
      ...this.#software(),
      Reason: q850 === undefined ? sip : `${sip}, Q.850;cause=${q850}`,
    };
    this.#send({ method: 'BYE', headers, body: undefined, answered, failed: answered });
  }

  /** Nothing more is sent or awaited. */
  release(): void {
    this.session.stop();
    this.refers.stop('The call has ended');
    if (this.#id !== null) this.#options.dialogs.remove(this.#id, this.#options.owner);
  }

  #software(): Record<string, string> {
    return { 'User-Agent': this.#options.environment.software };
  }

  /**
   * A 481 or 408 to a request of a subscription may concern that alone (RFC 5057 section 5.1), or the call too: the dialog
   * is probed, and the call ends when the peer no longer has it. For INVITE and UPDATE the session decides.
   */
  #send(request: DialogRequest): void {
    const { method } = request;
    const answered: DialogRequest['answered'] = (answer, ack) => {
      request.answered(answer, ack);
      const isDoubtful = method === 'REFER' || method === 'NOTIFY';
      if (isDoubtful && endsDialog(answer.status)) this.#doubt(method, answer);
    };
    this.#pass({ ...request, answered });
  }

  #doubt(method: string, { status, source_address }: SrfAnswer): void {
    const { owner, events } = this.#options;
    if (this.#doubted || !owner.settled) return;
    this.#doubted = true;
    const what = source_address === '' ? `did not answer ${method}` : `answered ${method} with ${status}`;
    this.sendOptions((gone) => {
      this.#doubted = false;
      if (gone !== null) events.lost('peer_gone', gone);
    }, `The peer ${what}`);
  }

  #pass(request: DialogRequest): void {
    const { owner, dialogs, authenticator } = this.#options;
    const invite = this.#options.invite();
    if (this.#id === null || invite === null) {
      request.failed(new NoDialog());
      return;
    }
    const dialog = {
      id: this.#id,
      invite,
      // drachtio-srf passes an UPDATE to any pending request with the same Call-ID.
      receive: (update: SrfRequest, response: SrfResponse) =>
        (dialogs.find(update.stackDialogId) ?? owner).receive(update, response),
      authenticator,
      unknown: () => owner.unknown(),
    };
    sendInDialog(dialog, request);
  }
}
