/**
 * An INVITE with Replaces takes over a call's dialog (RFC 3891): the media session moves to the new peer,
 * and the old dialog ends when the new one is acknowledged.
 *
 *     replacedBy(leg) -> media.answer(its offer) -> 200 -> ACK -> BYE on the old dialog
 *                              | rejected: the call continues unchanged
 */
import type { LiveCall } from './live-call.ts';
import type { MediaLeg } from './ports/media.ts';
import type { CallLeg, LegEvents } from './ports/signaling.ts';
import { CallRefused } from './refused.ts';

export class Takeover {
  readonly #call: LiveCall;
  readonly #leg: CallLeg;
  readonly #done: (leg: CallLeg | null) => void;
  #over = false;

  /**
   * @param inDialog handlers for events of an answered dialog
   * @param done called once: with the leg on which the call continues, or null when the call is unchanged or ends
   */
  constructor(
    call: LiveCall,
    leg: CallLeg,
    inDialog: Omit<LegEvents, 'answered' | 'acknowledged' | 'canceled'>,
    done: (leg: CallLeg | null) => void,
  ) {
    this.#call = call;
    this.#leg = leg;
    this.#done = done;
    leg.listen({
      ...inDialog,
      answered: () => {},
      acknowledged: (sdp) => void this.#acknowledged(sdp),
      canceled: () => this.#givenUp(),
      bye: (variables) => {
        if (this.#over) return inDialog.bye(variables);
        this.#givenUp();
        return this.#call.closing ?? undefined;
      },
      lost: (...cause) => (this.#over ? inDialog.lost(...cause) : this.#givenUp()),
    });
  }

  /** @param media of the call */
  async begin(media: MediaLeg): Promise<void> {
    const { offer, from } = this.#leg.facts;
    this.#call.log.info({ from }, 'another dialog takes the call over');
    let sdp: string;
    try {
      sdp = offer === null ? await media.offer() : await media.answer(offer);
    } catch (error) {
      const refused = error instanceof CallRefused ? error : null;
      if (!refused) this.#call.log.error({ err: error }, 'takeover failed');
      const warning = refused?.warning === undefined ? {} : { warning: refused.warning };
      this.#leg.reject({ status: refused?.sipStatus ?? 500, ...warning });
      return this.#end(null);
    }
    if (this.#over) return;
    // RFC 3891 section 3: the dialog has ended in the meantime.
    if (this.#call.termination) {
      this.#leg.reject({ status: 603 });
      return this.#end(null);
    }
    this.#leg.answer(sdp);
  }

  async #acknowledged(sdp: string | null): Promise<void> {
    const call = this.#call;
    if (this.#over) return;
    if (call.termination) {
      this.#leg.bye(call.why);
      return this.#end(null);
    }
    try {
      if (this.#leg.facts.offer === null) {
        if (sdp === null) throw new CallRefused(488, 'The ACK carried no answer to our offer.');
        await call.media?.accept(sdp);
      }
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      this.#leg.bye(detail);
      return this.#lose(detail);
    }
    if (call.termination) {
      this.#leg.bye(call.why);
      return this.#end(null);
    }
    call.ledger.note(`The call was taken over by ${this.#leg.facts.from}.`);
    this.#end(this.#leg);
    call.dialog.followHold();
  }

  /** The new peer left before the takeover completed. Media already points to it, so the old dialog cannot continue. */
  #givenUp(): void {
    this.#lose('The dialog that took over the call ended before it was acknowledged.');
  }

  #lose(detail: string): void {
    if (this.#over) return;
    this.#end(null);
    this.#call.end({ code: 'bad_answer', detail });
  }

  #end(leg: CallLeg | null): void {
    if (this.#over) return;
    this.#over = true;
    this.#done(leg);
  }
}
