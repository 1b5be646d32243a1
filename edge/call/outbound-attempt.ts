/** One INVITE of a call of ours, and what came of it. */
import type { DialEvents, DialRefusal, OutboundLeg } from './ports/dialing.ts';
import type { AttemptOutcome, Place } from './ports/routes.ts';

/** What a call is told of an attempt. Of the last three, one comes. */
export interface AttemptEvents {
  /** The first response of 180 to 199. */
  ringing(): void;
  early(sdp: string): void;
  answered(attempt: Attempt, outcome: AttemptOutcome, sdp: string | null): void;
  failed(attempt: Attempt, outcome: AttemptOutcome, refusal: DialRefusal | null): void;
  /** It rang, and the trunk gives no final response. */
  unanswered(): void;
}

export class Attempt {
  readonly place: Place;
  leg: OutboundLeg | null = null;
  readonly #call: AttemptEvents;
  #open = true;
  #heard = false;
  #ringing = false;
  #stopWaiting: () => void = () => {};

  constructor(place: Place, call: AttemptEvents) {
    this.place = place;
    this.#call = call;
  }

  /** @param stopWaiting ends the time that the attempt may take */
  waits(stopWaiting: () => void): void {
    this.#stopWaiting = stopWaiting;
  }

  /** Whether any response came. */
  get heard(): boolean {
    return this.#heard;
  }

  /** Its outcome is known. @returns whether the hunt still waited for it */
  close(): boolean {
    const open = this.#open;
    this.#open = false;
    this.#stopWaiting();
    return open;
  }

  /** What comes before there is a dialog. */
  events(): Pick<DialEvents, 'progress' | 'answered' | 'refused' | 'unreachable' | 'timeout'> {
    return {
      progress: (status, sdp) => {
        this.#heard = true;
        if (status > 100 && !this.#ringing) {
          this.#ringing = true;
          this.#call.ringing();
        }
        if (sdp !== null) this.#call.early(sdp);
      },
      answered: (sdp) => this.#call.answered(this, this.#final(200, false), sdp),
      refused: (refusal) =>
        this.#call.failed(this, this.#final(refusal.status, refusal.authenticated), refusal),
      unreachable: (error) => {
        const lost = { kind: 'connection_lost', ringing: this.#ringing, error } as const;
        this.#call.failed(this, this.#heard ? lost : { kind: 'no_connection', error }, null);
      },
      timeout: () => {
        if (this.#ringing) this.#call.unanswered();
        else this.#call.failed(this, { kind: 'no_response' }, null);
      },
    };
  }

  #final(status: number, credentialsSent: boolean): AttemptOutcome {
    return { kind: 'final', status, ringing: this.#ringing, credentialsSent };
  }
}
