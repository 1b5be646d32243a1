/**
 * What a termination means for the call's record (contract 3.4 and 9.2) and for the wire. One table, pure.
 *
 * `hangup_by` names who ended the call: any time-out is `timeout`, a rejection or failure is `error`.
 * `status` of an answered call is `completed`, no matter who ended it.
 */

import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import { unansweredBy } from '#shared/sip-status.ts';
import { type TerminationCode, terminations } from '#shared/termination.ts';
import type { ByeExtras } from './ports/signaling.ts';
import { CallRefused, type MediaFault } from './refused.ts';

type HangupBy = NonNullable<CallRecord['hangup_by']>;
type FinalStatus = Extract<CallRecord['status'], 'completed' | 'failed' | 'busy' | 'no-answer' | 'canceled'>;

/** `gone`: the dialog is already over. `ours`: we have to send a rejection or a BYE. */
type DialogEnd = 'gone' | 'ours';

const rules: Record<TerminationCode, { readonly hangupBy: HangupBy; readonly dialog: DialogEnd }> = {
  caller_hangup: { hangupBy: 'peer', dialog: 'gone' },
  callee_hangup: { hangupBy: 'peer', dialog: 'gone' },
  callee_busy: { hangupBy: 'peer', dialog: 'gone' },
  callee_refused: { hangupBy: 'peer', dialog: 'gone' },
  callee_unknown: { hangupBy: 'peer', dialog: 'gone' },
  // We signal our own ring time-out; the peer's 480 needs nothing. A CANCEL that is too late does nothing.
  no_answer: { hangupBy: 'timeout', dialog: 'ours' },
  route_unreachable: { hangupBy: 'error', dialog: 'gone' },
  route_timeout: { hangupBy: 'timeout', dialog: 'gone' },
  route_auth_failed: { hangupBy: 'error', dialog: 'gone' },
  route_refused: { hangupBy: 'error', dialog: 'gone' },
  route_failed: { hangupBy: 'error', dialog: 'gone' },
  route_media_refused: { hangupBy: 'error', dialog: 'gone' },
  no_route: { hangupBy: 'error', dialog: 'gone' },
  call_limit: { hangupBy: 'error', dialog: 'gone' },
  destination_blocked: { hangupBy: 'error', dialog: 'gone' },
  target_not_allowed: { hangupBy: 'error', dialog: 'gone' },
  transferred: { hangupBy: 'transfer', dialog: 'ours' },
  bridge_ended: { hangupBy: 'transfer', dialog: 'ours' },
  bridge_failed: { hangupBy: 'error', dialog: 'ours' },
  park_timeout: { hangupBy: 'timeout', dialog: 'ours' },
  conference_ended: { hangupBy: 'transfer', dialog: 'ours' },
  supervision_ended: { hangupBy: 'transfer', dialog: 'ours' },
  caller_canceled: { hangupBy: 'peer', dialog: 'gone' },
  agent_hangup: { hangupBy: 'agent', dialog: 'ours' },
  api_stop: { hangupBy: 'api', dialog: 'ours' },
  max_duration: { hangupBy: 'timeout', dialog: 'ours' },
  ack_timeout: { hangupBy: 'timeout', dialog: 'gone' },
  session_expired: { hangupBy: 'timeout', dialog: 'ours' },
  media_timeout: { hangupBy: 'timeout', dialog: 'ours' },
  peer_gone: { hangupBy: 'timeout', dialog: 'ours' },
  bad_answer: { hangupBy: 'error', dialog: 'ours' },
  media_refused: { hangupBy: 'error', dialog: 'ours' },
  source_not_allowed: { hangupBy: 'error', dialog: 'ours' },
  number_unknown: { hangupBy: 'error', dialog: 'ours' },
  no_agent: { hangupBy: 'error', dialog: 'ours' },
  dial_failed: { hangupBy: 'error', dialog: 'ours' },
  agent_unavailable: { hangupBy: 'error', dialog: 'ours' },
  agent_failed: { hangupBy: 'error', dialog: 'ours' },
  capacity: { hangupBy: 'error', dialog: 'ours' },
  no_media_port: { hangupBy: 'error', dialog: 'ours' },
  draining: { hangupBy: 'error', dialog: 'ours' },
  edge_restarted: { hangupBy: 'error', dialog: 'ours' },
  // Control sets these three for calls whose edge no longer reports them.
  edge_lost: { hangupBy: 'error', dialog: 'gone' },
  end_lost: { hangupBy: 'error', dialog: 'gone' },
  edge_unavailable: { hangupBy: 'error', dialog: 'gone' },
  connection_lost: { hangupBy: 'error', dialog: 'gone' },
  dialog_lost: { hangupBy: 'error', dialog: 'gone' },
  browser_lost: { hangupBy: 'error', dialog: 'ours' },
  engine_lost: { hangupBy: 'error', dialog: 'gone' },
  media_lost: { hangupBy: 'error', dialog: 'ours' },
  internal_error: { hangupBy: 'error', dialog: 'ours' },
};

/** Why a call ended. */
export interface Termination {
  readonly code: TerminationCode;
  /** One sentence for a person, more specific than the code's summary; null when there is nothing to add. */
  readonly detail: string | null;
  /** SIP status sent instead of the code's usual one; for outbound calls, the status received. */
  readonly sipStatus?: number;
  /** Reason phrase received with it. */
  readonly sipReason?: string;
  readonly warning?: string;
  /** Why the peer's session description was rejected. */
  readonly mediaFault?: MediaFault;
  /** For the BYE, if the call ends with one of ours. */
  readonly bye?: ByeExtras;
  /** The dialog is already over, although this code usually ends one. */
  readonly gone?: boolean;
}

/** The termination of a call that a bug ended. */
export function internalError(error: unknown): Termination {
  return { code: 'internal_error', detail: error instanceof Error ? error.message : String(error) };
}

/** The termination of a call whose preparation or start failed. */
export function terminationOf(
  error: unknown,
  answered: boolean,
  direction: CallRecord['direction'],
): Termination {
  if (!(error instanceof CallRefused)) return internalError(error);
  const { message: detail, sipStatus, warning, mediaFault } = error;
  return {
    code: answered ? 'bad_answer' : sipStatus === 503 ? 'no_media_port' : 'media_refused',
    detail,
    // An outbound call records the status it received, and here it received none.
    ...(direction === 'inbound' ? { sipStatus } : {}),
    ...(warning === undefined ? {} : { warning }),
    ...(mediaFault === undefined ? {} : { mediaFault }),
  };
}

/** The state machine input for a termination. */
export function inputFor({ code, gone }: Pick<Termination, 'code' | 'gone'>): 'gone' | 'end' {
  return gone || rules[code].dialog === 'gone' ? 'gone' : 'end';
}

/** SIP status that rejects an unanswered call; 480 for codes that usually end answered calls. */
export function refusalStatus(termination: Termination): number {
  return termination.sipStatus ?? (terminations[termination.code].sipStatus || 480);
}

/** Value of the Retry-After header in a 503, seconds. */
export const retryAfterS = 10;

export interface Ending {
  readonly status: FinalStatus;
  readonly sipCode: number | null;
  readonly sipReason: string | null;
  readonly hangupBy: HangupBy;
}

/**
 * @param answered whether a 200 was sent or received
 * @param direction outbound calls show the status they received, null when there was none
 */
export function endingOf(
  termination: Termination,
  answered: boolean,
  direction: CallRecord['direction'] = 'inbound',
): Ending {
  const { hangupBy } = rules[termination.code];
  if (answered) return { status: 'completed', sipCode: 200, sipReason: reasonPhrase(200), hangupBy };
  if (direction === 'outbound') {
    const { sipStatus = null, sipReason } = termination;
    const phrase = sipReason || (sipStatus === null ? '' : reasonPhrase(sipStatus));
    return {
      status: outboundStatus(termination.code),
      sipCode: sipStatus,
      sipReason: phrase || null,
      hangupBy,
    };
  }
  // Without an engine or connection no status can be sent.
  if (unsent.has(termination.code)) return { status: 'failed', sipCode: null, sipReason: null, hangupBy };
  const sipCode = refusalStatus(termination);
  const phrase = reasonPhrase(sipCode) || null;
  return { status: statusOf(termination.code, sipCode), sipCode, sipReason: phrase, hangupBy };
}

const unsent: ReadonlySet<TerminationCode> = new Set(['engine_lost', 'dialog_lost', 'connection_lost']);

/** Contract 3.4: an outbound call that we give up before the answer is canceled. */
function outboundStatus(code: TerminationCode): FinalStatus {
  switch (code) {
    case 'api_stop':
    case 'edge_restarted':
    case 'bridge_ended':
      return 'canceled';
    case 'callee_busy':
      return 'busy';
    case 'no_answer':
      return 'no-answer';
    default:
      return 'failed';
  }
}

function statusOf(code: TerminationCode, sipStatus: number): FinalStatus {
  if (code === 'caller_canceled' || code === 'api_stop') return 'canceled';
  const unanswered = unansweredBy(sipStatus);
  if (unanswered === null) return 'failed';
  return unanswered === 'busy' ? 'busy' : 'no-answer';
}

const phrases: Readonly<Record<number, string>> = {
  200: 'OK',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  410: 'Gone',
  415: 'Unsupported Media Type',
  420: 'Bad Extension',
  422: 'Session Interval Too Small',
  480: 'Temporarily Unavailable',
  481: 'Call/Transaction Does Not Exist',
  484: 'Address Incomplete',
  486: 'Busy Here',
  487: 'Request Terminated',
  488: 'Not Acceptable Here',
  491: 'Request Pending',
  500: 'Server Internal Error',
  503: 'Service Unavailable',
  504: 'Server Time-out',
  600: 'Busy Everywhere',
  603: 'Decline',
  604: 'Does Not Exist Anywhere',
};

/** Reason phrase of a SIP status (RFC 3261 section 21); empty for statuses the edge does not send. */
export function reasonPhrase(sipStatus: number): string {
  return phrases[sipStatus] ?? '';
}
