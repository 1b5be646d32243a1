/**
 * An INVITE with Replaces takes over a call's dialog (RFC 3891): the media session moves to the new peer,
 * and the old dialog ends when the new one is acknowledged.
 *
 *     replacedBy(leg) -> media.answer(its offer) -> 200 -> ACK -> BYE on the old dialog
 *                              |                     | no ACK, BYE, CANCEL: the media goes back to the old peer
 *                              | rejected: the call continues unchanged
 */
import type { LiveCall } from './live-call.ts';
import type { MediaLeg } from './ports/media.ts';
import type { CallLeg, LegEvents } from './ports/signaling.ts';
import { CallRefused } from './refused.ts';

/** How it ends; one of them is called once. */
export interface TakeoverEvents {
  /** The call continues on the new leg. */
  done(): void;
  /**
   * The call continues on the old one, if it has not ended.
   * @param mediaMoved whether the media may have the new peer's session
   */
  givenUp(why: string, mediaMoved: boolean): void;
}

export class Takeover {
  readonly #call: LiveCall;
  readonly #leg: CallLeg;
  readonly #events: TakeoverEvents;
  /** The media answers, or has answered, the new peer. */
  #answering = false;
  #over = false;

  /** @param inDialog handlers for events of an answered dialog */
  constructor(
    call: LiveCall,
    leg: CallLeg,
    inDialog: Omit<LegEvents, 'answered' | 'acknowledged' | 'canceled'>,
    events: TakeoverEvents,
  ) {
    this.#call = call;
    this.#leg = leg;
    this.#events = events;
    leg.listen({
      ...inDialog,
      answered: () => {},
      acknowledged: (sdp) => void this.#acknowledged(sdp),
      canceled: () => this.#giveUp(endedEarly),
      bye: (variables) => {
        if (this.#over) return inDialog.bye(variables);
        this.#giveUp(endedEarly);
        return this.#call.closing ?? undefined;
      },
      lost: (...cause) => (this.#over ? inDialog.lost(...cause) : this.#giveUp(cause[1])),
    });
  }

  /** @param media of the call */
  async begin(media: MediaLeg): Promise<void> {
    const { offer, from } = this.#leg.facts;
    this.#call.log.info({ from }, 'another dialog takes the call over');
    let sdp: string;
    try {
      this.#answering = offer !== null;
      sdp = offer === null ? await media.offer(true) : await media.answer(offer);
    } catch (error) {
      this.#answering = false;
      if (this.#over) return;
      const refused = error instanceof CallRefused ? error : null;
      if (!refused) this.#call.log.error({ err: error }, 'takeover failed');
      const warning = refused?.warning === undefined ? {} : { warning: refused.warning };
      this.#leg.reject({ status: refused?.sipStatus ?? 500, ...warning });
      return this.#giveUp(error instanceof Error ? error.message : String(error));
    }
    if (this.#over) return;
    // RFC 3891 section 3: the dialog has ended in the meantime.
    if (this.#call.termination) {
      this.#leg.reject({ status: 603 });
      return this.#giveUp(this.#call.why);
    }
    this.#leg.answer(sdp);
  }

  async #acknowledged(sdp: string | null): Promise<void> {
    const call = this.#call;
    if (this.#over) return;
    try {
      if (this.#leg.facts.offer === null && !call.termination) {
        if (sdp === null) throw new CallRefused(488, 'The ACK carried no answer to our offer.');
        await call.media?.accept(sdp);
      }
    } catch (error) {
      if (this.#over) return;
      const detail = error instanceof Error ? error.message : String(error);
      this.#leg.bye(detail);
      return this.#giveUp(detail);
    }
    if (this.#over) return;
    if (call.termination) {
      this.#leg.bye(call.why);
      return this.#giveUp(call.why);
    }
    call.ledger.note(`The call was taken over by ${this.#leg.facts.from}.`);
    this.#over = true;
    this.#events.done();
    call.dialog.followHold();
  }

  #giveUp(why: string): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#leg.facts.offer === null) this.#call.media?.withdraw();
    this.#events.givenUp(why, this.#answering);
  }
}

const endedEarly = 'The dialog that took over the call ended before it was acknowledged.';
