/**
 * The dialog of one call with its peer: the peer's requests in it (session changes, REFER, Replaces, BYE), and the
 * peer's hold.
 */
import type { LiveCall } from './live-call.ts';
import type { MediaLeg } from './ports/media.ts';
import type { CallLeg, DialogLeg, InDialogEvents } from './ports/signaling.ts';
import { CallRefused } from './refused.ts';
import { Takeover } from './takeover.ts';

export class CallDialog {
  readonly #call: LiveCall;
  #leg: DialogLeg | null = null;
  #takeover: Takeover | null = null;
  #newPeerIp: string | null = null;
  /** The peer's BYE came during the takeover of its dialog. */
  #peerGone = false;
  /** The peer of the dialog was told of another session than the one that the media has. */
  #isAstray = false;
  #keysNoted = false;

  constructor(call: LiveCall) {
    this.#call = call;
  }

  /** The dialog as it is now; null before an outbound call is answered. */
  get leg(): DialogLeg | null {
    return this.#leg;
  }

  /** Whether another dialog is about to replace it. */
  get isTakenOver(): boolean {
    return this.#takeover !== null;
  }

  /** Address of the peer: of the one that took the call over, if one did. */
  get peerIp(): string | null {
    return this.#newPeerIp ?? this.#call.facts.sourceIp;
  }

  /** Continues the call on `leg`; a previous dialog gets a BYE. */
  goOnOver(leg: DialogLeg): void {
    const replaced = this.#leg;
    this.#leg = leg;
    replaced?.bye('Replaced by another dialog');
  }

  /** Handlers for events of the answered dialog. */
  events(): InDialogEvents {
    const call = this.#call;
    return {
      bye: (variables = {}) => {
        call.guarded(() => {
          call.ledger.heardInBye(variables);
          this.#peerLeft();
        });
        return call.closing ?? undefined;
      },
      pressed: (key) => call.guarded(() => call.media?.pressed(key)),
      lost: (code, detail, sipStatus) => {
        // A peer that was transferred may have left before our last NOTIFY.
        if (code === 'peer_gone' && call.transfers.leaving) call.end({ code: 'transferred', detail });
        else call.end({ code, detail, ...(sipStatus === undefined ? {} : { sipStatus }) });
      },
      referred: (refer, replaced) =>
        call.guarded(() => {
          if (this.#takeover) refer.refuse(491, 'Request Pending');
          else call.transfers.referred(refer, replaced);
        }),
      referRefused: (target, reason) => call.guarded(() => call.transfers.referRefused(target, reason)),
      replacedBy: (leg) => call.guarded(() => this.#replacedBy(leg)),
      reanswer: async (offer) => {
        const answer = await this.#negotiableMedia().answer(offer);
        this.#isAstray = false;
        this.followHold();
        return answer;
      },
      reoffer: async () => this.#negotiableMedia().offer(this.#isAstray),
      reaccept: (answer) => this.#reaccept(answer),
      // During a takeover what is offered is the other dialog's.
      withdrawn: () => {
        if (!this.#takeover) call.media?.withdraw();
      },
    };
  }

  async #reaccept(answer: string): Promise<void> {
    // The media is that of the new dialog.
    if (this.#takeover) {
      this.#isAstray = true;
      return;
    }
    try {
      await this.#liveMedia().accept(answer);
    } catch (error) {
      if (!(error instanceof CallRefused) || error.mediaFault?.kind !== 'moved') throw error;
      this.#offerAnew();
      return;
    }
    this.#isAstray = false;
    this.followHold();
  }

  #offerAnew(): void {
    this.#isAstray = true;
    this.#leg?.renegotiate('required');
  }

  /** After a change of the session: on hold no media is due. */
  followHold(): void {
    const call = this.#call;
    if (call.up) this.noteKeys();
    const input = call.media?.held === true ? 'hold' : 'resume';
    if (!call.accepts(input)) return;
    if (input === 'hold' || call.hold.active) call.limits.silence.expectNothing();
    else call.limits.silence.expectMedia();
    call.input(input);
  }

  /** Notes once in the transcript that this call cannot carry key presses. */
  noteKeys(): void {
    const { ledger, log, media } = this.#call;
    if (this.#keysNoted || media?.keys !== 'none') return;
    this.#keysNoted = true;
    const info = this.#leg?.takesInfo === true;
    log.info({ info }, "the peer's SDP has no telephone-event");
    ledger.note(
      info
        ? "Key presses can arrive by SIP INFO only, and cannot be sent: the peer's SDP has no telephone-event (RFC 4733)."
        : "DTMF is unavailable on this call: the peer's SDP has no telephone-event (RFC 4733), and its Allow does not list INFO.",
    );
  }

  /** The peer's BYE. */
  #peerLeft(): void {
    // The old dialog may end before the new one is acknowledged.
    if (this.#takeover) {
      this.#peerGone = true;
      return;
    }
    const call = this.#call;
    if (call.transfers.postpone(() => this.#peerLeft())) return;
    const transferred = call.transfers.callerLeft() || call.transfers.leaving;
    const hungUp = call.direction === 'inbound' ? 'caller_hangup' : 'callee_hangup';
    call.end({ code: transferred ? 'transferred' : hungUp, detail: null, gone: true });
  }

  #replacedBy(leg: CallLeg): void {
    const { media, up, transfers } = this.#call;
    if (!media || !up || this.#takeover || transfers.leaving || transfers.busy) {
      leg.reject({ status: 491 });
      return;
    }
    const heldByUs = this.#call.hold.active;
    this.#takeover = new Takeover(this.#call, leg, this.events(), {
      done: () => {
        this.#takeover = null;
        this.#isAstray = false;
        this.#peerGone = false;
        this.#newPeerIp = leg.facts.sourceIp;
        this.goOnOver(leg);
        if (this.#call.hold.active !== heldByUs) leg.renegotiate('wanted');
      },
      givenUp: (why, mediaMoved) => this.#goOnAsBefore(why, mediaMoved),
    });
    void this.#takeover.begin(media);
  }

  #goOnAsBefore(why: string, mediaMoved: boolean): void {
    const call = this.#call;
    this.#takeover = null;
    if (call.termination) return;
    call.log.info({ why }, 'the dialog is not taken over');
    if (this.#peerGone) call.end({ code: 'bad_answer', detail: why });
    else if (mediaMoved || this.#isAstray) this.#offerAnew();
  }

  #liveMedia(): MediaLeg {
    const { media, termination } = this.#call;
    if (!media || termination) throw new CallRefused(488, 'The call has no media session');
    return media;
  }

  /** Media whose session the dialog may change now. */
  #negotiableMedia(): MediaLeg {
    if (this.#takeover) throw new CallRefused(491, 'Another dialog is taking the call over');
    return this.#liveMedia();
  }
}
