/** Places and INVITEs of a call as they are, with an ear on them. */
import type { FailoverAttempt } from '#shared/trunk-protocol.ts';
import type { DialEvents, Dialer, DialTarget, OutboundInvite } from '../../call/ports/dialing.ts';
import type { AttemptOutcome, Hunt, Place } from '../../call/ports/routes.ts';

export interface HuntObserver {
  /** A place was found, after those attempts in vain that were not yet told of. */
  found(place: Place, failed: readonly FailoverAttempt[]): void;
  /** The attempt at the last place ended. Comes before the call learns what to do. */
  ended(outcome: AttemptOutcome): void;
}

export function observedHunt(hunt: Hunt, observer: HuntObserver): Hunt {
  let told = 0;
  return {
    get attempts() {
      return hunt.attempts;
    },
    async next() {
      const place = await hunt.next();
      if (!place) return null;
      const failed = hunt.attempts.slice(told);
      told = hunt.attempts.length;
      observer.found(place, failed);
      return place;
    },
    ended(outcome) {
      observer.ended(outcome);
      return hunt.ended(outcome);
    },
  };
}

export interface DialObserver {
  dialled(target: DialTarget, invite: OutboundInvite): void;
  /** 100 to 199, after the call has heard of it. */
  progress(status: number, early: boolean): void;
  /** The 200, after the call has heard of it. */
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
