/**
 * A call that we hold, ordered through the API: its peer hears music, and its agent or the other party of its bridge
 * hears nothing. The peer learns of it by a re-INVITE (RFC 3264 section 8.4); one that rejects it hears the music all the
 * same. What the peer's own hold does is in call-dialog.ts.
 */
import type { LiveCall } from './live-call.ts';

export class CallHold {
  readonly #call: LiveCall;
  #active = false;

  constructor(call: LiveCall) {
    this.#call = call;
  }

  get active(): boolean {
    return this.#active;
  }

  /** @returns false when the call is not up, or is being transferred */
  begin(): boolean {
    if (this.#active) return true;
    const { up, transfers, agent, ledger } = this.#call;
    const { parting } = transfers;
    if (!up || transfers.leaving || (parting ? !parting.isPossible() : transfers.busy)) return false;
    this.#active = true;
    parting?.part();
    agent.playMusic();
    this.#tellPeer();
    ledger.note('The call was put on hold.');
    return true;
  }

  /** Connects the peer with its agent, or with the other party, again; no effect when it is not on hold. */
  release(): void {
    if (!this.#active) return;
    this.#active = false;
    const { agent, transfers, ledger } = this.#call;
    agent.resume();
    transfers.parting?.rejoin();
    this.#tellPeer();
    ledger.note('The hold has ended.');
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
