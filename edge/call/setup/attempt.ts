/** One INVITE of an outbound call, and its outcome. */
import { rang } from '../causes/outbound-cause.ts';
import type { DialEvents, OutboundLeg } from '../ports/dialing.ts';
import type { AttemptOutcome, NextHop, Phase } from '../ports/routes.ts';

/** Events of an attempt. Exactly one of the last three occurs. */
export interface AttemptEvents {
  /** The first response from 180 to 199. */
  ringing(): void;
  early(sdp: string): void;
  answered(attempt: Attempt, outcome: AttemptOutcome, sdp: string | null): void;
  failed(attempt: Attempt, outcome: AttemptOutcome): void;
  /** It rang, and no final response came. */
  unanswered(): void;
}

export class Attempt {
  readonly hop: NextHop;
  leg: OutboundLeg | null = null;
  readonly #call: AttemptEvents;
  #open = true;
  #phase: Phase = 'silent';
  #stopWaiting: () => void = () => {};

  constructor(hop: NextHop, call: AttemptEvents) {
    this.hop = hop;
    this.#call = call;
  }

  /** @param stopWaiting cancels the attempt's timer */
  waits(stopWaiting: () => void): void {
    this.#stopWaiting = stopWaiting;
  }

  /** Whether any response came. */
  get hadResponse(): boolean {
    return this.#phase !== 'silent';
  }

  /** Marks the outcome as known. @returns whether the hunt was still waiting for it */
  close(): boolean {
    const open = this.#open;
    this.#open = false;
    this.#stopWaiting();
    return open;
  }

  /** Handlers for events before there is a dialog. */
  events(): Pick<DialEvents, 'progress' | 'answered' | 'refused' | 'unreachable' | 'timeout'> {
    return {
      progress: (status, sdp) => {
        const rangBefore = rang(this.#phase);
        this.#phase = phaseAfter(this.#phase, status, sdp !== null);
        if (!rangBefore && rang(this.#phase)) this.#call.ringing();
        if (sdp !== null) this.#call.early(sdp);
      },
      answered: (sdp) => {
        const phase = this.#phase;
        this.#call.answered(this, { kind: 'final', status: 200, phase, credentialsSent: false }, sdp);
      },
      refused: (refusal) => {
        const { status, authenticated: credentialsSent } = refusal;
        const phase = this.#phase;
        this.#call.failed(this, { kind: 'final', status, phase, credentialsSent, refusal });
      },
      unreachable: (failure) => {
        const lost = { kind: 'connection_lost', phase: this.#phase, failure } as const;
        this.#call.failed(this, this.hadResponse ? lost : { kind: 'no_connection', failure });
      },
      timeout: () => {
        if (rang(this.#phase)) this.#call.unanswered();
        else this.#call.failed(this, { kind: 'no_response' });
      },
    };
  }
}

/** @param status 100 to 199. The phase never goes back. */
function phaseAfter(before: Phase, status: number, media: boolean): Phase {
  if (before === 'early_media' || status === 100) return before === 'silent' ? 'trying' : before;
  return media ? 'early_media' : 'ringing';
}
