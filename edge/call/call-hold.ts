/**
 * A call that we hold: its peer hears music, and its agent or the other party of its bridge hears nothing. The peer learns
 * of it by a re-INVITE (RFC 3264 section 8.4); one that rejects it, or does not answer its offer, hears the music all the
 * same. What the peer's own hold does is in call-dialog.ts.
 *
 * A parked call is on hold in a slot, alone, until it is retrieved or its time is over.
 */
import type { Timer } from '#shared/clock.ts';
import type { LiveCall } from './live-call.ts';
import type { ParkOrder } from './ports/park.ts';
import { CommandRefused } from './refused.ts';
import type { Parting } from './transfer/target-plan.ts';

export class CallHold {
  readonly #call: LiveCall;
  #active = false;
  /** What the hold has separated. */
  #parted: Parting | null = null;
  #parked: { readonly order: ParkOrder; readonly timer: Timer } | null = null;
  /** The parked call's time was over while it was being joined with another one. */
  #isOverdue = false;

  constructor(call: LiveCall) {
    this.#call = call;
  }

  get active(): boolean {
    return this.#active;
  }

  /** Where the call is parked; null: it is not. */
  get slot(): string | null {
    return this.parked?.slot ?? null;
  }

  /** How it is parked; null: it is not. */
  get parked(): ParkOrder | null {
    return this.#parked?.order ?? null;
  }

  /** Why the hold cannot end with the call's agent; null: it can. */
  get obstacle(): CommandRefused | null {
    if (this.#call.transfers.joining)
      return new CommandRefused('CALL_NOT_ACTIVE', 'The call is being retrieved by another one.');
    if (!this.#parked || this.#call.agent.present) return null;
    return new CommandRefused('CALL_WITHOUT_AGENT', 'The call is parked, and has no agent any more.');
  }

  /** @returns false when the call is not up, or is being transferred */
  begin(): boolean {
    if (this.#active) return true;
    const { plan, up, transfers, ledger } = this.#call;
    if (plan.supervises) return false;
    const { parting } = transfers;
    if (!up || transfers.leaving || (parting ? !parting.isPossible() : transfers.busy)) return false;
    parting?.part();
    this.#parted = parting;
    this.#hold();
    ledger.note('The call was put on hold.');
    return true;
  }

  /**
   * Parks the call. Another party that it is bridged with leaves.
   * @returns false when the call is not up, is being transferred, or is the leg to a transfer target
   */
  park(order: ParkOrder): boolean {
    const { slot, timeoutMs } = order;
    const { up, transfers, ledger, limits } = this.#call;
    if (!up || !transfers.goAlone()) return false;
    this.#leaveSlot();
    const timer = limits.after(timeoutMs, () => this.#call.guarded(() => this.#expired(order)));
    this.#parked = { order, timer };
    this.#parted = null;
    if (!this.#active) this.#hold();
    ledger.note(`The call was parked in slot ${slot}.`);
    return true;
  }

  /** Connects the peer with its agent, or with the other party, again; no effect when it is not on hold. */
  release(): void {
    if (!this.#active) return;
    const parted = this.#parted;
    this.leave();
    this.#call.agent.resume();
    parted?.rejoin();
  }

  /** Ends the hold; whom the peer hears then is up to the caller. */
  leave(): void {
    if (!this.#active) return;
    const slot = this.#leaveSlot();
    this.#active = false;
    this.#parted = null;
    this.#tellPeer();
    this.#call.ledger.note(slot === null ? 'The hold has ended.' : `The call has left slot ${slot}.`);
  }

  /** It could not be joined: its time counts again. */
  notJoined(): void {
    if (this.#isOverdue && this.#parked) this.#expired(this.#parked.order);
  }

  #leaveSlot(): string | null {
    const { slot } = this;
    this.#parked?.timer.cancel();
    this.#parked = null;
    this.#isOverdue = false;
    return slot;
  }

  #expired({ slot, timeoutMs, atEnd }: ParkOrder): void {
    if (this.#call.transfers.joining) {
      this.#isOverdue = true;
      return;
    }
    const detail = `Nobody retrieved the call from slot ${slot} within ${timeoutMs / 1000} s.`;
    this.#call.ledger.note(detail);
    if (atEnd === 'agent' && this.#call.agent.present) this.release();
    else this.#call.end({ code: 'park_timeout', detail });
  }

  #hold(): void {
    this.#active = true;
    this.#call.agent.playMusic();
    this.#tellPeer();
  }

  #tellPeer(): void {
    const { media, dialog, limits } = this.#call;
    media?.hold(this.#active);
    dialog.leg?.renegotiate('wanted');
    // A peer on hold need not send.
    if (this.#active || media?.held) limits.silence.expectNothing();
    else limits.silence.expectMedia();
  }
}
