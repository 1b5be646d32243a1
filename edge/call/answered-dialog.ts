/** In-dialog requests of the peer, for calls in both directions: session changes, REFER, Replaces, BYE. */
import { CallRefused } from './call-refused.ts';
import type { MediaLeg } from './ports/media.ts';
import type { PeerRefer } from './ports/refer.ts';
import type { CallLeg, LegEvents } from './ports/signaling.ts';
import { type TakenOver, Takeover } from './takeover.ts';

export type InDialogEvents = Pick<
  LegEvents,
  'bye' | 'lost' | 'reanswer' | 'reoffer' | 'reaccept' | 'referred' | 'referRefused' | 'replacedBy'
>;

/** The call, as far as events of its dialog need it. */
interface DialogCall extends TakenOver {
  readonly up: boolean;
  readonly leaving: boolean;
  readonly transfers: {
    readonly busy: boolean;
    referred(refer: PeerRefer): void;
    referRefused(target: string, reason: string): void;
    callerLeft(): boolean;
  };
  guarded(work: () => void): void;
}

export class AnsweredDialog {
  readonly #call: DialogCall;
  readonly #goOnOver: (leg: CallLeg) => void;
  #takeover: Takeover | null = null;

  /** @param goOnOver another dialog has replaced the current one, which gets a BYE */
  constructor(call: DialogCall, goOnOver: (leg: CallLeg) => void) {
    this.#call = call;
    this.#goOnOver = goOnOver;
  }

  /** @param hungUp meaning of the peer's BYE when it does not complete a transfer */
  events(hungUp: 'caller_hangup' | 'callee_hangup'): InDialogEvents {
    const call = this.#call;
    return {
      bye: () => call.guarded(() => this.#peerLeft(hungUp)),
      lost: (code, detail, sipStatus) =>
        call.end({ code, detail, ...(sipStatus === undefined ? {} : { sipStatus }) }),
      referred: (refer) =>
        call.guarded(() => {
          if (this.#takeover) refer.refuse(491, 'Request Pending');
          else call.transfers.referred(refer);
        }),
      referRefused: (target, reason) => call.guarded(() => call.transfers.referRefused(target, reason)),
      replacedBy: (leg) => call.guarded(() => this.#replacedBy(leg, hungUp)),
      reanswer: async (offer) => {
        const answer = await this.#liveMedia().answer(offer);
        call.followHold();
        return answer;
      },
      reoffer: async () => this.#liveMedia().offer(),
      reaccept: async (answer) => {
        await this.#liveMedia().accept(answer);
        call.followHold();
      },
    };
  }

  #peerLeft(code: 'caller_hangup' | 'callee_hangup'): void {
    // The old dialog may end before the new one.
    if (this.#takeover) return;
    const call = this.#call;
    const transferred = call.transfers.callerLeft() || call.leaving;
    call.end({ code: transferred ? 'transferred' : code, detail: null, gone: true });
  }

  #replacedBy(leg: CallLeg, hungUp: 'caller_hangup' | 'callee_hangup'): void {
    const { media, up, leaving, transfers } = this.#call;
    if (!media || !up || this.#takeover || leaving || transfers.busy) {
      leg.reject({ status: 491 });
      return;
    }
    this.#takeover = new Takeover(this.#call, leg, this.events(hungUp), (next) => {
      this.#takeover = null;
      if (next) this.#goOnOver(next);
    });
    void this.#takeover.begin(media);
  }

  #liveMedia(): MediaLeg {
    const { media, termination } = this.#call;
    if (!media || termination) throw new CallRefused(488, 'The call has no media session');
    return media;
  }
}
