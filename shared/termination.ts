/**
 * Why a call ended: the responsible party, a short code, and the SIP status if one was sent. Every code has its line in
 * docs/errors.md.
 */
export type Party = 'caller' | 'callee' | 'agent' | 'api' | 'edge' | 'trunk';

export interface TerminationRule {
  /** Who is responsible for the end. */
  readonly party: Party;
  /**
   * SIP status sent to the caller of an unanswered call; 0 when the code only ends answered calls or outbound calls,
   * which show the status they received.
   */
  readonly sipStatus: number;
  /** One sentence for a person. */
  readonly summary: string;
}

export const terminations = {
  caller_hangup: { party: 'caller', sipStatus: 0, summary: 'The caller hung up.' },
  callee_hangup: { party: 'callee', sipStatus: 0, summary: 'The callee hung up.' },
  callee_busy: { party: 'callee', sipStatus: 0, summary: 'The callee is busy.' },
  callee_refused: { party: 'callee', sipStatus: 0, summary: 'The callee refused the call.' },
  callee_unknown: { party: 'callee', sipStatus: 0, summary: 'The trunk does not know the called number.' },
  no_answer: { party: 'callee', sipStatus: 0, summary: 'Nobody answered.' },
  route_unreachable: { party: 'trunk', sipStatus: 0, summary: 'No endpoint of the trunk could be reached.' },
  route_timeout: { party: 'trunk', sipStatus: 0, summary: 'No endpoint of the trunk answered in time.' },
  route_auth_failed: {
    party: 'trunk',
    sipStatus: 0,
    summary: 'The trunk required authentication and rejected our credentials, or none are configured.',
  },
  route_refused: { party: 'trunk', sipStatus: 0, summary: 'The trunk refused the call.' },
  route_failed: { party: 'trunk', sipStatus: 0, summary: 'The trunk failed to complete the call.' },
  route_media_refused: {
    party: 'trunk',
    sipStatus: 0,
    summary: 'The far end accepts none of the offered media.',
  },
  no_route: { party: 'edge', sipStatus: 0, summary: 'The number has no outbound configuration.' },
  call_limit: {
    party: 'edge',
    sipStatus: 0,
    summary: 'A call limit of the organization or number was reached.',
  },
  destination_blocked: { party: 'edge', sipStatus: 0, summary: 'The call limits block the destination.' },
  target_not_allowed: { party: 'edge', sipStatus: 0, summary: 'The target is not allowed.' },
  transferred: { party: 'edge', sipStatus: 0, summary: 'The peer was transferred.' },
  bridge_ended: {
    party: 'edge',
    sipStatus: 0,
    summary: 'The transferred call that this leg belonged to ended.',
  },
  bridge_failed: {
    party: 'edge',
    sipStatus: 0,
    summary: 'The bridged calls could no longer exchange media.',
  },
  park_timeout: {
    party: 'edge',
    sipStatus: 0,
    summary: 'Nobody retrieved the parked call in time.',
  },
  conference_ended: {
    party: 'edge',
    sipStatus: 0,
    summary: 'The moderator left the conference, which ended it.',
  },
  supervision_ended: {
    party: 'edge',
    sipStatus: 0,
    summary: 'The call that the supervisor had joined has ended.',
  },
  caller_canceled: { party: 'caller', sipStatus: 487, summary: 'The caller canceled before the answer.' },
  agent_hangup: { party: 'agent', sipStatus: 0, summary: 'The agent ended the call.' },
  api_stop: { party: 'api', sipStatus: 480, summary: 'The call was stopped through the API.' },
  max_duration: { party: 'edge', sipStatus: 0, summary: 'The call reached its maximum duration.' },
  ack_timeout: { party: 'caller', sipStatus: 0, summary: 'The caller never acknowledged the answer.' },
  session_expired: { party: 'caller', sipStatus: 0, summary: 'The session timer expired without a refresh.' },
  media_timeout: { party: 'caller', sipStatus: 0, summary: 'No media arrived for the configured time.' },
  peer_gone: { party: 'caller', sipStatus: 0, summary: 'The peer has vanished without a BYE.' },
  bad_answer: { party: 'caller', sipStatus: 0, summary: 'The answer to our media offer was unusable.' },
  media_refused: { party: 'caller', sipStatus: 488, summary: 'The offered media cannot be accepted.' },
  source_not_allowed: {
    party: 'caller',
    sipStatus: 403,
    summary: 'The source address may not call this number.',
  },
  number_unknown: { party: 'caller', sipStatus: 404, summary: 'The dialed number is not configured.' },
  no_agent: { party: 'edge', sipStatus: 480, summary: 'The number has no agent to answer.' },
  dial_failed: {
    party: 'callee',
    sipStatus: 480,
    summary: 'The party that a browser called over a trunk was not reached.',
  },
  agent_unavailable: { party: 'agent', sipStatus: 480, summary: 'The agent could not be started.' },
  agent_failed: { party: 'agent', sipStatus: 0, summary: 'The agent failed during the call.' },
  capacity: { party: 'edge', sipStatus: 503, summary: 'The edge is at its call limit.' },
  no_media_port: {
    party: 'edge',
    sipStatus: 503,
    summary: 'No RTP port was free, or no media worker was up.',
  },
  draining: { party: 'edge', sipStatus: 503, summary: 'The edge is shutting down and takes no new calls.' },
  edge_restarted: { party: 'edge', sipStatus: 0, summary: 'The edge stopped while the call was up.' },
  edge_lost: { party: 'edge', sipStatus: 0, summary: 'The edge that handled the call has not reconnected.' },
  end_lost: {
    party: 'edge',
    sipStatus: 0,
    summary: 'The edge no longer has the call, and the report of its end was lost.',
  },
  edge_unavailable: { party: 'edge', sipStatus: 0, summary: 'No edge accepted the call.' },
  connection_lost: { party: 'caller', sipStatus: 0, summary: 'The connection to the peer was lost.' },
  dialog_lost: { party: 'edge', sipStatus: 0, summary: 'The SIP engine no longer has the dialog.' },
  browser_lost: {
    party: 'caller',
    sipStatus: 480,
    summary: 'The WebRTC connection to the browser was not set up, or it was lost.',
  },
  engine_lost: { party: 'edge', sipStatus: 0, summary: 'The connection to the SIP engine was lost.' },
  media_lost: { party: 'edge', sipStatus: 503, summary: 'What carried the audio of the call failed.' },
  internal_error: { party: 'edge', sipStatus: 500, summary: 'The edge failed; the log has the details.' },
} as const satisfies Record<string, TerminationRule>;

export type TerminationCode = keyof typeof terminations;
