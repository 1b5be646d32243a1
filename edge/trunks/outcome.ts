/** What the end of one attempt to reach an endpoint means: for the call, and for the endpoint. Pure. */
import type { FailoverTrigger } from '#shared/trunk-protocol.ts';
import type { AttemptOutcome } from '../call/ports/routes.ts';

export interface AttemptVerdict {
  /** What lets the call try the next endpoint; null: nothing does. */
  readonly trigger: FailoverTrigger | null;
  /** What the attempt says of the endpoint, as a probe would; null: nothing. */
  readonly reachable: boolean | null;
  /** The SIP status that ended the attempt; null when none came. */
  readonly sipCode: number | null;
  /** For the call log. */
  readonly error: string | null;
}

/**
 * Contract 3.5, triggers per attempt. A call that rang or was answered never moves on, and neither does one
 * whose far side said no.
 */
export function judgeAttempt(outcome: AttemptOutcome): AttemptVerdict {
  switch (outcome.kind) {
    case 'no_connection':
      return {
        trigger: 'unreachable',
        reachable: false,
        sipCode: null,
        error: `unreachable: ${outcome.error}`,
      };
    case 'connection_lost':
      return {
        trigger: outcome.ringing ? null : 'unreachable',
        reachable: false,
        sipCode: null,
        error: `unreachable: ${outcome.error}`,
      };
    case 'no_response':
      return { trigger: 'timeout', reachable: false, sipCode: null, error: 'timeout' };
    case 'canceled':
      return { trigger: null, reachable: null, sipCode: null, error: null };
    case 'final':
      return judgeFinal(outcome.status, outcome.ringing, outcome.credentialsSent);
  }
}

function judgeFinal(status: number, ringing: boolean, credentialsSent: boolean): AttemptVerdict {
  const trigger = ringing ? null : triggerOf(status, credentialsSent);
  const reachable = reachableBy(status, ringing);
  return { trigger, reachable, sipCode: status, error: trigger };
}

function triggerOf(status: number, credentialsSent: boolean): FailoverTrigger | null {
  if (status === 503) return 'unreachable';
  if (status === 408) return 'timeout';
  if (status === 403) return 'auth_failure';
  return (status === 401 || status === 407) && credentialsSent ? 'auth_failure' : null;
}

/**
 * 408 and 503 count against the endpoint, as they do for a probe. Other 5xx do for a probe only: an INVITE gets
 * them for the number it dials too, which says nothing of the next call.
 */
function reachableBy(status: number, ringing: boolean): boolean | null {
  if (ringing) return true;
  if (status === 408 || status === 503) return false;
  return status >= 500 && status < 600 ? null : true;
}

/** Contract 3.3: any SIP response but 408 and 5xx makes a probe a success. */
export function probeSucceeded(sipCode: number | null): boolean {
  return sipCode !== null && sipCode !== 408 && (sipCode < 500 || sipCode >= 600);
}
