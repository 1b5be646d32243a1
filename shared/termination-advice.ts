/** What to change so that a call does not end this way again, for each code that is a failure; null: nothing to change. */
import type { TerminationCode } from './termination.ts';

export const terminationAdvice: Readonly<Record<TerminationCode, string | null>> = {
  caller_hangup: null,
  callee_hangup: null,
  callee_busy: 'Call again later.',
  callee_refused: null,
  callee_unknown: 'Check the called number and its form: some carriers want it without the plus sign.',
  no_answer:
    'Call again later. A trunk that lets calls ring for a short time only can be set to a longer one.',
  route_unreachable:
    'GET /v1/sip/status shows each endpoint. Check host, port and TLS certificate of the SIP server, and that its firewall lets in the addresses of GET /v1/sip/firewall-ips.',
  route_timeout:
    'The SIP server was reached and did not answer the INVITE. Look at its log for the Call-ID of the call; its firewall may drop answers.',
  route_auth_failed:
    'Set user name and password of the outbound configuration as the trunk has them (POST /v1/sip/update).',
  route_refused:
    'The SIP status and its phrase say why: 403 mostly means that the number may not be used as caller. Ask the operator of the trunk with the Call-ID of the call.',
  route_failed:
    'The fault is in the trunk. Ask its operator with the Call-ID of the call; a second endpoint (failover) takes over meanwhile.',
  route_media_refused:
    'Enable SRTP with AES_CM_128_HMAC_SHA1_80 at the SIP server, and one of the codecs of the configuration (codec_config).',
  no_route: 'Attach an outbound configuration to the number (POST /v1/sip/attach).',
  call_limit: 'Raise the call limits of the organization or number, or call more slowly.',
  destination_blocked: 'Allow the destination in the call limits of the organization or number.',
  target_not_allowed: 'Give a target that may be called: a public host, or a phone number over a trunk.',
  transferred: null,
  bridge_ended: null,
  bridge_failed:
    'Look at the media of both legs: one of them stopped to take part. Its trace shows what its peer sent last.',
  park_timeout: 'Retrieve parked calls sooner, or give them more time (timeout_s).',
  conference_ended: null,
  supervision_ended: null,
  caller_canceled: null,
  agent_hangup: null,
  api_stop: null,
  max_duration: 'Give calls of this agent more time (max_duration), if they need it.',
  ack_timeout:
    'The ACK of the caller did not arrive. A proxy before it must follow the Record-Route, and its connection must stay open after the answer.',
  session_expired:
    'The peer stopped refreshing the session. Check its session timer, and that its re-INVITEs get through.',
  media_timeout:
    'No packets of the peer arrived. Open UDP ports 10000 to 20000 in both directions, and switch off what rewrites SDP (SIP ALG).',
  peer_gone:
    'The peer no longer has the call, or did not come back from hold. It was restarted, or its connection or its power failed.',
  bad_answer:
    'The peer answered with SDP that does not fit the offer. The trace has it; look at its SRTP and codecs.',
  media_refused:
    'Let the peer offer SRTP (RTP/SAVP with AES_CM_128_HMAC_SHA1_80) and one of the codecs of the configuration.',
  source_not_allowed:
    'If the call is wanted, add its source to allowed_ips of the inbound configuration (POST /v1/sip/update).',
  number_unknown: 'Attach the number (POST /v1/sip/attach), or let the PBX dial one that is attached.',
  no_agent: 'Give the number an agent: a pathway, a persona or a prompt (POST /v1/inbound/{phone_number}).',
  dial_failed: 'Look at the leg to the called party: it is a call of its own, with parent_id.',
  agent_unavailable:
    'The agent could not be started: termination_detail says why. Check its model, its connection, or the server behind stream_url.',
  agent_failed:
    'The agent failed during the call: termination_detail says why. Check its model, its connection, or the server behind stream_url.',
  capacity: 'Add an edge, or raise MAX_CALLS if the machine can carry more.',
  no_media_port: 'Ask the operator: RTP ports are used up, or the media worker is down.',
  draining: 'Send calls to another edge while this one is drained. A second call attempt finds one.',
  edge_restarted: 'Drain an edge before it is restarted.',
  edge_lost: 'Ask the operator: the edge, or its connection to control, is down.',
  end_lost: null,
  edge_unavailable: 'Ask the operator: no edge was connected, or none could take the call.',
  connection_lost:
    'The TLS connection to the peer broke and was not opened again. Check timeouts of NAT and firewalls between, and keep-alives of the PBX.',
  dialog_lost: 'Ask the operator: the SIP engine was restarted or lost the dialog.',
  browser_lost: 'Check the network of the browser; behind some firewalls UDP to the edge is blocked.',
  engine_lost: 'Ask the operator: the SIP engine stopped.',
  media_lost: 'Ask the operator: a media worker or media shard failed; the log of the edge says why.',
  internal_error: 'Ask the operator, with the id of the call: the log of the edge has the details.',
};
