/**
 * What the end of one outbound attempt means: one table maps the far end's response and the phase reached to the cause,
 * the responsible party, and whether the call may fail over. Used by calls, transfer legs, test calls, failover and
 * probes. Pure.
 *
 *     status ──> kind ──refined by phase, credentials, Warning, Reason──> kind ──> termination code, trigger
 */
import { meaningOf, type StatusMeaning } from '#shared/sip-status.ts';
import type { TerminationCode } from '#shared/termination.ts';
import type { FailoverTrigger } from '#shared/trunk-protocol.ts';
import type { DialRefusal } from '../ports/dialing.ts';
import type { AttemptOutcome, Phase } from '../ports/routes.ts';

export type CauseKind =
  | StatusMeaning
  | 'credentials_refused'
  | 'out_of_service'
  | 'not_connected'
  | 'connection_broke'
  | 'no_response';

/** The termination code says who is responsible (shared/termination.ts). */
const codeOf: Readonly<Record<CauseKind, TerminationCode>> = {
  redirected: 'route_refused',
  credentials_missing: 'route_auth_failed',
  credentials_refused: 'route_auth_failed',
  forbidden: 'route_refused',
  payment: 'route_refused',
  identity: 'route_refused',
  blocked: 'route_refused',
  unknown_number: 'callee_unknown',
  busy: 'callee_busy',
  unavailable: 'no_answer',
  declined: 'callee_refused',
  media: 'route_media_refused',
  loop: 'route_refused',
  protocol: 'route_refused',
  overloaded: 'route_unreachable',
  out_of_service: 'route_failed',
  server_failed: 'route_failed',
  timeout: 'route_timeout',
  not_connected: 'route_unreachable',
  connection_broke: 'route_failed',
  no_response: 'route_timeout',
};

/** ITU-T Q.850 causes of a Reason header (RFC 3326) that are more specific than a general status. */
export const q850Kinds: Readonly<Record<number, CauseKind>> = {
  1: 'unknown_number',
  2: 'unknown_number',
  3: 'unknown_number',
  17: 'busy',
  18: 'unavailable',
  19: 'unavailable',
  20: 'unavailable',
  21: 'declined',
  22: 'unknown_number',
  27: 'unavailable',
  28: 'unknown_number',
  50: 'forbidden',
  52: 'forbidden',
  55: 'forbidden',
  57: 'forbidden',
  58: 'media',
  65: 'media',
  79: 'media',
  88: 'media',
};

/**
 * Statuses that gateways use for anything the network behind them reports, so a Reason header is more specific. 408 is
 * among them: gateways map cause 18, no user responding, to it (RFC 3398 section 7.2.4.1).
 */
const general: ReadonlySet<CauseKind> = new Set<CauseKind>([
  'protocol',
  'timeout',
  'forbidden',
  'unavailable',
  'declined',
  'overloaded',
  'server_failed',
]);

/** Kinds whose meaning a Warning about the session description (RFC 3261 section 20.43) changes. */
const warned: ReadonlySet<CauseKind> = new Set<CauseKind>([
  'protocol',
  'forbidden',
  'server_failed',
  'declined',
]);

export interface Cause {
  readonly kind: CauseKind;
  readonly code: TerminationCode;
  /** Why the call may try the next endpoint (contract 3.5); null: it may not. */
  readonly trigger: FailoverTrigger | null;
  /** What the attempt says about the endpoint, as a probe would; null: nothing. */
  readonly reachable: boolean | null;
  /** SIP status that ended the attempt; null when there was none. */
  readonly sipCode: number | null;
  /** For the call log's `failover_attempts`; null when the call does not fail over. */
  readonly error: string | null;
}

/** @returns null for an attempt that was answered or canceled by us */
export function causeOf(outcome: AttemptOutcome): Cause | null {
  switch (outcome.kind) {
    case 'canceled':
      return null;
    case 'no_connection':
      return cause('not_connected', 'unreachable', false, null, `unreachable: ${outcome.failure.text}`);
    case 'connection_lost': {
      const trigger = rang(outcome.phase) ? null : 'unreachable';
      const kind = rang(outcome.phase) ? 'connection_broke' : 'not_connected';
      return cause(kind, trigger, false, null, `unreachable: ${outcome.failure.text}`);
    }
    case 'no_response':
      return cause('no_response', 'timeout', false, null, 'timeout');
    case 'final':
      return outcome.status < 300 ? null : causeOfResponse(outcome);
  }
}

type FinalOutcome = Extract<AttemptOutcome, { kind: 'final' }>;

function causeOfResponse(outcome: FinalOutcome): Cause {
  const { status, phase } = outcome;
  const kind = kindOf(outcome);
  const trigger = rang(phase) ? null : triggerOf(kind, outcome.credentialsSent);
  return cause(kind, trigger, reachableAfter(status, kind, phase), status, trigger);
}

/** Contract 3.5: no failover once the call rang or the callee declined. */
function triggerOf(kind: CauseKind, credentialsSent: boolean): FailoverTrigger | null {
  if (kind === 'overloaded') return 'unreachable';
  if (kind === 'timeout') return 'timeout';
  return kind === 'credentials_refused' && credentialsSent ? 'auth_failure' : null;
}

function kindOf({ status, phase, credentialsSent, refusal }: FinalOutcome): CauseKind {
  const plain: CauseKind = meaningOf(status);
  const refined = refinedBy(plain, refusal);
  if (refined !== null) return refined;
  switch (plain) {
    case 'credentials_missing':
      return credentialsSent ? 'credentials_refused' : plain;
    case 'forbidden':
      // A call that rang had passed authentication, so a later rejection is the callee's.
      if (rang(phase)) return 'declined';
      return status === 403 && credentialsSent ? 'credentials_refused' : plain;
    case 'timeout':
      return rang(phase) ? 'unavailable' : plain;
    case 'overloaded':
      return rang(phase) ? 'out_of_service' : plain;
    default:
      return plain;
  }
}

/** A more specific kind from the headers of a rejection; null: none. */
function refinedBy(kind: CauseKind, refusal: DialRefusal | undefined): CauseKind | null {
  const { q850 = null, warningCode = null } = refusal ?? {};
  const meant = q850 === null || !general.has(kind) ? undefined : q850Kinds[q850];
  if (meant !== undefined) return meant;
  // 399 is free text; 300 to 398 are about the session description.
  const aboutSession = warningCode !== null && warningCode >= 300 && warningCode < 399;
  return aboutSession && warned.has(kind) ? 'media' : null;
}

/**
 * 408 and 503 count against the endpoint, as for a probe. Other 5xx count only for a probe: an INVITE may get them
 * because of the dialed number, which says nothing about the next call.
 */
function reachableAfter(status: number, kind: CauseKind, phase: Phase): boolean | null {
  if (rang(phase)) return true;
  if (kind === 'overloaded' || kind === 'timeout') return false;
  return status >= 500 && status < 600 && kind === 'server_failed' ? null : true;
}

/** What an attempt, answered or not, says about the endpoint; null: nothing. */
export function reachableBy(outcome: AttemptOutcome): boolean | null {
  if (outcome.kind === 'final' && outcome.status < 300) return true;
  return causeOf(outcome)?.reachable ?? null;
}

/** Whether a response from 180 to 199 was received. */
export function rang(phase: Phase): boolean {
  return phase === 'ringing' || phase === 'early_media';
}

function cause(
  kind: CauseKind,
  trigger: FailoverTrigger | null,
  reachable: boolean | null,
  sipCode: number | null,
  error: string | null,
): Cause {
  return { kind, code: codeOf[kind], trigger, reachable, sipCode, error };
}

/** Contract 3.3: a probe succeeds with any SIP response but 408 and 5xx. @param sipCode null: no response */
export function probeSucceeded(sipCode: number | null): boolean {
  return sipCode !== null && meaningOf(sipCode) !== 'timeout' && (sipCode < 500 || sipCode >= 600);
}
