/**
 * Why an edge refuses an INVITE, and what to change so that the call gets through. `docs/refused-calls.md` lists them.
 */
interface Refusal {
  readonly summary: string;
  /** What to change, and where. `SOURCE` and `NUMBER` stand for those of the refused calls. */
  readonly advice: string;
}

export const refusals = {
  source_not_allowed: {
    summary: 'The source may not call the number.',
    advice:
      'If the calls are wanted, add SOURCE to allowed_ips of the inbound configuration of NUMBER (POST /v1/sip/update). Otherwise do nothing.',
  },
  wrong_credentials: {
    summary: 'User name or password of the calls are wrong.',
    advice:
      'Set user name and password of the inbound configuration of NUMBER in the PBX. After 5 wrong tries, wait 10 minutes.',
  },
  challenged: {
    summary: 'The source was asked for user name and password, and sent none.',
    advice:
      'Set user name and password of the inbound configuration of NUMBER in the PBX, or add SOURCE to its allowed_ips.',
  },
  phone_session_missing: {
    summary: 'The browser sent no credentials of a phone session.',
    advice:
      'Create a phone session (POST /v1/phone-sessions), and give its user name and password to the phone in the page.',
  },
  phone_session_wrong: {
    summary: 'The credentials of the phone are of no phone session.',
    advice:
      'Give user name and password of the phone session to the phone as they are. A session of an organization that is disabled is none.',
  },
  phone_session_expired: {
    summary: 'The phone session has expired.',
    advice: 'Create a phone session shortly before the call, or a longer one (expires_in_seconds).',
  },
  phone_session_revoked: {
    summary: 'The phone session was revoked.',
    advice: 'Nothing, if it was revoked on purpose; otherwise create another phone session.',
  },
  phone_session_used_up: {
    summary: 'The phone session has made all of its calls.',
    advice: 'Create a phone session for each call, or one with more calls (calls).',
  },
  phone_session_other_number: {
    summary: 'The phone session is for another number.',
    advice: 'Let the phone call the uri of its phone session, or create one for the number that it calls.',
  },
  phone_session_elsewhere: {
    summary: 'The phone session is for another edge, or older than the last start of this one.',
    advice: 'Let the phone connect to the url of its phone session; if it did, create another phone session.',
  },
  phone_session_no_call: {
    summary: 'The call that the phone session is to supervise is not up, or takes no more supervisors.',
    advice:
      'Create a session for a call that is in progress (POST /v1/calls/{call_id}/supervisors), and use it at once. The detail says which of the two it was.',
  },
  number_unknown: {
    summary: 'No configuration has the dialed number.',
    advice:
      'Attach the number (POST /v1/sip/attach), or correct the number that the PBX or carrier sends: E.164 in the request URI.',
  },
  no_agent: {
    summary: 'The number has no agent to answer.',
    advice: 'Set a pathway or persona for NUMBER (POST /v1/inbound/NUMBER).',
  },
  media_refused: {
    summary: 'The offered media cannot be accepted.',
    advice:
      'The detail says what was missing. A PBX needs SRTP (SDES, AES_CM_128_HMAC_SHA1_80) and a codec of codec_config; a page with a phone session needs WebRTC with Opus or PCMU, as sip.js offers it by default.',
  },
  agent_unavailable: {
    summary: 'The agent could not be started.',
    advice: 'The detail says what failed; check the servers of models and speech.',
  },
  capacity: {
    summary: 'The edge was at its call limit.',
    advice: 'Ask the operator for more capacity (MAX_CALLS, or another edge).',
  },
  organization_share: {
    summary: 'The organization had its share of a busy edge.',
    advice: 'Ask the operator for more capacity (MAX_CALLS, or another edge).',
  },
  no_media_port: {
    summary: 'No RTP port was free, or no media worker was up.',
    advice: 'The operator widens RTP_PORT_MIN to RTP_PORT_MAX, or looks at the log of the edge.',
  },
  draining: {
    summary: 'The edge was shutting down or drained.',
    advice: 'Nothing, if the PBX or carrier has another edge to try; otherwise give it one.',
  },
  no_configuration: {
    summary: 'The edge had no configuration yet.',
    advice: 'The operator checks that the edge has reached its control plane.',
  },
  storage: {
    summary: 'The edge could not store its reports, and took no calls.',
    advice: 'The operator frees space on the disk of the edge; its log names the folder.',
  },
  malformed: {
    summary: 'A header of the INVITE is missing or malformed.',
    advice: 'Correct the PBX: the SIP trace or log of the sender shows the header that the response names.',
  },
  extension: {
    summary: 'The INVITE requires a SIP extension that is not supported.',
    advice: 'Turn the extension off in the PBX: the response names it in Unsupported.',
  },
  body: {
    summary: 'The body of the INVITE is not SDP.',
    advice: 'Let the PBX send application/sdp alone.',
  },
  encoding: {
    summary: 'The body of the INVITE is encoded.',
    advice: 'Turn off compression of SIP bodies in the PBX.',
  },
  session_interval: {
    summary: 'The session interval is too short.',
    advice: 'Raise Session-Expires in the PBX to Min-SE of the response at least.',
  },
  replaces: {
    summary: 'The call that Replaces names does not exist here, or cannot be replaced.',
    advice: 'Nothing: the call has ended or was transferred already.',
  },
  test_key: {
    summary: 'The call has the key of a test call that the edge does not expect.',
    advice: 'Nothing: only the edge itself makes such calls.',
  },
  failed: {
    summary: 'The edge failed.',
    advice: 'The operator looks at the log of the edge.',
  },
} as const satisfies Record<string, Refusal>;

export type RefusalReason = keyof typeof refusals;

export const refusalReasons = Object.keys(refusals).filter(isRefusalReason);

function isRefusalReason(name: string): name is RefusalReason {
  return Object.hasOwn(refusals, name);
}
