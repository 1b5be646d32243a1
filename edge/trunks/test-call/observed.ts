/** Wraps the hunt and dialer of a call unchanged, with observers. */
import type { FailoverAttempt } from '#shared/trunk-protocol.ts';
import type { DialEvents, Dialer, DialTarget, OutboundInvite } from '../../call/ports/dialing.ts';
import type { AttemptOutcome, Hunt, NextHop } from '../../call/ports/routes.ts';

export interface HuntObserver {
  /** An address was chosen, after failed attempts not reported yet. */
  found(hop: NextHop, failed: readonly FailoverAttempt[]): void;
  /** The last attempt ended. Called before the call handles it. */
  ended(outcome: AttemptOutcome): void;
}

export function observedHunt(hunt: Hunt, observer: HuntObserver): Hunt {
  let reported = 0;
  return {
    get attempts() {
      return hunt.attempts;
    },
    async next() {
      const hop = await hunt.next();
      if (!hop) return null;
      const failed = hunt.attempts.slice(reported);
      reported = hunt.attempts.length;
      observer.found(hop, failed);
      return hop;
    },
    ended(outcome) {
      observer.ended(outcome);
      return hunt.ended(outcome);
    },
  };
}

export interface DialObserver {
  dialled(target: DialTarget, invite: OutboundInvite): void;
  /** 100 to 199, after the call has handled it. */
  progress(status: number, early: boolean): void;
  /** The 200, after the call has handled it. */
  answered(): void;
}

export function observedDialer(dialer: Dialer, observer: DialObserver): Dialer {
  return {
    dial(target, invite, events) {
      observer.dialled(target, invite);
      return dialer.dial(target, invite, observedEvents(events, observer));
    },
  };
}

function observedEvents(events: DialEvents, observer: DialObserver): DialEvents {
  return {
    ...events,
    progress: (status, sdp) => {
      events.progress(status, sdp);
      observer.progress(status, sdp !== null);
    },
    answered: (sdp) => {
      events.answered(sdp);
      observer.answered();
    },
  };
}
