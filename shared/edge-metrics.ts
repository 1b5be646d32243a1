/**
 * The metrics of the edge and of its engine: control shows them with these types and texts, docs/metrics.md is made from
 * them, and alert rules and dashboards are checked against them. Pure.
 *
 * Long because it is one table.
 */

export interface EdgeMetric {
  readonly type: 'counter' | 'gauge';
  readonly labels: readonly string[];
  /** One sentence. */
  readonly help: string;
  /** When to look into it; absent: it only informs. */
  readonly worry?: string;
}

const counter = (help: string, labels: readonly string[] = [], worry?: string): EdgeMetric => ({
  type: 'counter',
  labels,
  help,
  ...(worry !== undefined && { worry }),
});
const gauge = (help: string, labels: readonly string[] = [], worry?: string): EdgeMetric => ({
  ...counter(help, labels, worry),
  type: 'gauge',
});

const any = 'it grows';

const calls: Readonly<Record<string, EdgeMetric>> = {
  trunkline_edge_calls: gauge('Calls that are up or being set up.', [], 'near `trunkline_edge_calls_most`'),
  trunkline_edge_calls_most: gauge('Calls at a time that the edge takes (`MAX_CALLS`).'),
  trunkline_edge_calls_total: counter(
    'Calls that ended, by the code of their end and whether they were answered.',
    ['termination', 'answered'],
    'a code that names a failure becomes frequent ([errors](errors.md))',
  ),
  trunkline_edge_refused_total: counter(
    'INVITEs and other requests that the edge rejected, by reason.',
    ['reason'],
    '`storage`, `no_configuration` or `capacity` grow; `source_not_allowed` grows fast: [403 storm](runbook.md#trunklinerejectedcalls)',
  ),
  trunkline_edge_outbound_refused_total: counter(
    'Outgoing calls that were not placed because of a limit, by reason.',
    ['reason'],
    any,
  ),
  trunkline_edge_conferences: gauge('Conferences that are up.'),
  trunkline_edge_conference_parties: gauge('Parties of all conferences.'),
  trunkline_edge_conferences_refused_total: counter(
    'Conferences, and parties of them, that were refused because of a limit.',
    ['limit'],
  ),
  trunkline_edge_supervisors: gauge('Supervisors who listen to a call or take part in it.'),
  trunkline_edge_supervisors_refused_total: counter('Supervisors who were refused because of a limit.'),
  trunkline_edge_transfers_total: counter('Transfers, by kind and outcome.', ['kind', 'outcome']),
  trunkline_edge_refers_total: counter('REFERs of peers, by who sent them and what became of them.', [
    'from',
    'outcome',
  ]),
  trunkline_edge_transcript_lines_left_out_total: counter(
    'Lines of transcripts that were not stored because the call had too many.',
  ),
  trunkline_edge_dialogs: gauge(
    'SIP dialogs that the edge knows.',
    [],
    'it stays above the calls by more than their legs',
  ),
  trunkline_edge_draining: gauge(
    '1 while the edge takes no more calls, because it shuts down or was taken out of service.',
  ),
  trunkline_edge_test_calls_total: counter('Test runs over a call that ended, by how.', ['how']),
  trunkline_edge_test_runs_refused_total: counter(
    'Test runs over a call for which there was no room, by what was missing; each is asked for again.',
    ['why'],
    'it grows for minutes',
  ),
  trunkline_edge_test_turns_total: counter('Turns of simulated callers, by what ended them.', ['ended_by']),
  trunkline_edge_test_turns_cut_total: counter('Turns of simulated callers that the agent cut short.'),
  trunkline_edge_answered_by_total: counter('Outgoing calls by who answered: a person or a machine.', [
    'who',
  ]),
};

const media: Readonly<Record<string, EdgeMetric>> = {
  trunkline_edge_media_legs: gauge('Media legs; a call has one or two.'),
  trunkline_edge_rtp_ports: gauge('Pairs of RTP ports.'),
  trunkline_edge_rtp_ports_in_use: gauge('Pairs of RTP ports in use.', [], 'near `trunkline_edge_rtp_ports`'),
  trunkline_edge_media_shards: gauge(
    'Media shards that run.',
    [],
    'fewer than `MEDIA_WORKERS` or one per two cores',
  ),
  trunkline_edge_media_shard_deaths_total: counter('Media shards that died; their calls ended.', [], any),
  trunkline_edge_media_worker_deaths_total: counter('Media workers that died.', [], any),
  trunkline_edge_media_worker_hangs_total: counter(
    'Media workers that were killed because they hung.',
    [],
    any,
  ),
  trunkline_edge_media_legs_without_keys_total: counter(
    'Media legs whose peer has no telephone-event: key presses cannot be sent on them.',
    [],
    'it grows, and callers say that menus ignore their keys',
  ),
  trunkline_edge_rtp_packets_over_rate_total: counter(
    'Authentic RTP packets that were dropped because their peer sent too many.',
    [],
    'it grows: a peer floods its calls; they go on, and so do all others',
  ),
  trunkline_edge_audio_frames_skipped_total: counter(
    'Frames of 20 ms that were not sent in time.',
    [],
    'it grows steadily: the machine is too slow for its calls',
  ),
  trunkline_edge_recordings_total: counter(
    'Recordings, by what became of them; `begun` counts each.',
    ['outcome'],
    'another one than `begun` grows: [runbook](runbook.md#trunklinerecordingsstop)',
  ),
  trunkline_edge_recordings_sent_total: counter('Attempts to send recordings to control, by outcome.', [
    'outcome',
  ]),
  trunkline_edge_recordings_bytes: gauge(
    'Octets of recordings on the disk of the edge.',
    [],
    'it grows for hours',
  ),
};

const speech: Readonly<Record<string, EdgeMetric>> = {
  trunkline_edge_model_requests: gauge('Requests to language models that run.'),
  trunkline_edge_model_requests_waiting: gauge(
    'Requests to language models that wait for their turn (`LLM_CONCURRENCY`).',
    [],
    'above 0 for long',
  ),
  trunkline_edge_model_requests_total: counter(
    'Requests to language models, by role and outcome.',
    ['role', 'outcome'],
    'outcomes other than `ok`',
  ),
  trunkline_edge_model_tokens_total: counter('Tokens of language models.', ['role', 'model', 'direction']),
  trunkline_edge_embedded_voice: gauge(
    'The embedded voice that speaks where none is named: its place, from 1, in slt, kal, kal16, rms, awb.',
  ),
  trunkline_edge_embedded_voices: gauge(
    '1 while the embedded voices alone speak: there is no `TTS_BASE_URL`. Control refuses others for callers of tests.',
  ),
  trunkline_edge_text_to_speech_cache_bytes: gauge('Octets of spoken text that is kept.'),
  trunkline_edge_text_to_speech_cache_hits_total: counter('Texts that were spoken from the kept ones.'),
  trunkline_edge_text_to_speech_cache_misses_total: counter('Texts that had to be synthesized.'),
  trunkline_edge_text_to_speech_failures_total: counter(
    'Texts that the server did not speak, or the embedded voice where there is none; `embedded`: whether the embedded voice spoke in its place.',
    ['embedded'],
    any,
  ),
  trunkline_edge_text_to_speech_first_sound_ms_sum: counter(
    'Milliseconds until the first sound of the server, summed.',
  ),
  trunkline_edge_text_to_speech_first_sound_ms_count: counter('Texts of that sum.'),
  trunkline_edge_transcription_reconnects_total: counter(
    'Connections to transcription servers that were made again.',
  ),
  trunkline_edge_transcription_fallbacks_total: counter('Changes to the next transcription server.', [], any),
  trunkline_edge_transcription_returns_total: counter(
    'Calls in progress that returned to a transcription server before it in the list.',
  ),
  trunkline_edge_transcription_failures_total: counter('Failures of transcription servers.', [], any),
  trunkline_edge_transcription_lost_audio_total: counter(
    'Times that audio for transcription was dropped.',
    [],
    any,
  ),
  trunkline_edge_transcription_late_finals_total: counter('Final texts that came after their turn was over.'),
  trunkline_edge_transcription_first_partial_ms_sum: counter(
    'Milliseconds from the begin of speech to its first text, summed.',
  ),
  trunkline_edge_transcription_first_partial_ms_count: counter('Turns of that sum.'),
  trunkline_edge_transcription_final_ms_sum: counter(
    'Milliseconds from the end of speech to its final text, summed.',
  ),
  trunkline_edge_transcription_final_ms_count: counter('Turns of that sum.'),
  trunkline_edge_voice_detector_failed: gauge(
    'Media shards whose neural detector of voices failed or is being replaced; the simple one works in its place.',
    [],
    'above 0',
  ),
  trunkline_edge_servers_held_total: counter(
    'Times that a server of models or speech was left alone for a while because it said so or failed.',
    [],
    any,
  ),
};

const trunks: Readonly<Record<string, EdgeMetric>> = {
  trunkline_edge_trunk_endpoints: gauge(
    'Endpoints of outbound trunks that this edge probes, by their health.',
    ['status'],
    '`unreachable` above 0',
  ),
  trunkline_edge_trunk_probes_total: counter('OPTIONS sent to endpoints, by result.', ['result']),
  trunkline_edge_trunk_probes_running: gauge('Probes that run.'),
  trunkline_edge_trunk_probes_waiting: gauge('Probes that are due and wait.', [], 'it grows'),
  trunkline_edge_trunk_moves_total: counter(
    'Moves of a trunk to another endpoint, by cause.',
    ['cause'],
    any,
  ),
  trunkline_edge_registrations: gauge(
    'Registrations of this edge at PBXs, by state.',
    ['state'],
    '`failed` above 0',
  ),
  trunkline_edge_registrations_total: counter('REGISTERs by result.', ['result'], '`failure` grows'),
  trunkline_edge_registrations_unstored_total: counter(
    'Refused registrations that could not be stored, by fault.',
    ['fault'],
    any,
  ),
  trunkline_edge_failover_unstored_total: counter(
    'States of trunks that could not be stored, by fault.',
    ['fault'],
    any,
  ),
  trunkline_edge_wide_source_numbers: gauge('Numbers that list a network wider than /16 or /32 as source.'),
};

const reporting: Readonly<Record<string, EdgeMetric>> = {
  trunkline_edge_control_connected: gauge(
    '1 while the edge is connected to control. Control shows only edges that are connected to it.',
  ),
  trunkline_edge_control_connections_total: counter(
    'Connections to control that were established.',
    [],
    'it grows often',
  ),
  trunkline_edge_protocol_revision: gauge('Revision of the protocol between edge and control.'),
  trunkline_edge_outbox_pending: gauge(
    'Reports that control has not acknowledged.',
    [],
    'it grows for minutes',
  ),
  trunkline_edge_outbox_held: gauge(
    'Reports that wait in memory because the disk cannot be written.',
    [],
    'above 0 for seconds',
  ),
  trunkline_edge_outbox_held_bytes: gauge('Octets of these; calls are rejected from 32 MiB on.'),
  trunkline_edge_outbox_dropped_total: counter('Reports that were dropped because memory was full.', [], any),
  trunkline_edge_outbox_lost_total: counter('Reports that are lost with deleted or cut files.', [], any),
  trunkline_edge_outbox_files_lost_total: counter('Files of the outbox that were deleted or cut.', [], any),
  trunkline_edge_storage_failing: gauge('1 while the disk cannot be written.', [], '1'),
  trunkline_edge_storage_refuses_calls: gauge(
    '1 while calls are rejected because reports cannot be stored.',
    [],
    '1',
  ),
  trunkline_edge_storage_failures_total: counter('Writes that failed.', [], any),
  trunkline_edge_trace_dialogs: gauge('Calls whose SIP messages are being collected.'),
  trunkline_edge_trace_bytes: gauge('Octets of these messages.'),
  trunkline_edge_trace_overflowed_total: counter('Calls with more messages than are kept.'),
  trunkline_edge_hep_refused_total: counter('Copies of SIP messages that could not be read.', [], any),
  trunkline_edge_fleet_epoch: gauge(
    'Number of the distribution of work among edges that this edge has; 0: none.',
    [],
    'edges differ for longer than a minute',
  ),
  trunkline_edge_fleet_members: gauge('Edges among which the work is distributed.'),
  trunkline_edge_fleet_unstored_total: counter(
    'Distributions of work that could not be stored, by fault.',
    ['fault'],
    any,
  ),
};

const machine: Readonly<Record<string, EdgeMetric>> = {
  trunkline_edge_spans_total: counter(
    'Spans of traces: sent to the collector, dropped because too many waited, and failed because it did not take them. Only with a collector.',
    ['outcome'],
    '`dropped` or `failed` grow',
  ),
  trunkline_edge_host_load: gauge(
    'Load average of a minute per processor, in tenths.',
    [],
    'above 1: work waits',
  ),
  trunkline_edge_engine_up: gauge('1 while the engine is connected and answers.', [], '0'),
  trunkline_edge_engine_restarts_total: counter('Restarts of the embedded engine.', [], any),
};

/** Of each program; the names of control are those of prom-client. */
const processOf = (prefix: string, who: string): Readonly<Record<string, EdgeMetric>> => ({
  [`${prefix}process_resident_memory_bytes`]: gauge(`Resident memory of ${who}.`, [], 'it grows over days'),
  [`${prefix}nodejs_heap_size_used_bytes`]: gauge(`Heap that ${who} uses.`, [], 'it grows over days'),
  [`${prefix}nodejs_external_memory_bytes`]: gauge(`Memory of buffers of ${who}.`, [], 'it grows over days'),
  [`${prefix}nodejs_active_resources_total`]: gauge(
    `Sockets, timers and other resources of ${who}.`,
    [],
    'it grows over days',
  ),
  [`${prefix}nodejs_active_timers`]: gauge(`Timers of ${who}.`, [], 'it grows over days'),
  [`${prefix}process_open_fds`]: gauge(`Open files and sockets of ${who}.`, [], 'near the limit of the unit'),
});

const engine: Readonly<Record<string, EdgeMetric>> = {
  trunkline_engine_certificate_expires_seconds: gauge(
    'When the certificate that peers get expires, s since 1970.',
    [],
    'less than 14 days away',
  ),
  trunkline_engine_certificate_other_host: gauge(
    '1 while that certificate is not for `SIP_PUBLIC_HOST`.',
    [],
    '1',
  ),
  trunkline_engine_sip_received: counter('SIP messages received.'),
  trunkline_engine_sip_sent: counter('SIP messages sent.'),
  trunkline_engine_invites_received: counter('Initial INVITEs passed to the edge.'),
  trunkline_engine_invites_sent: counter('Initial INVITEs sent.'),
  trunkline_engine_invites_unanswered: counter('INVITEs that the edge did not answer in time.', [], any),
  trunkline_engine_requests_received: counter('Other requests passed to the edge.'),
  trunkline_engine_requests_sent: counter('Other requests sent.'),
  trunkline_engine_requests_refused: counter('Requests that the engine rejected itself.'),
  trunkline_engine_requests_overload: counter(
    'Requests rejected with 503 because of too much work.',
    [],
    any,
  ),
  trunkline_engine_requests_over_rate: counter(
    'Requests beyond the rate of their source, which were not processed.',
    [],
    'it grows from a source that is a customer',
  ),
  trunkline_engine_requests_timed_out: counter('Requests that the peer did not answer.', [], 'it grows'),
  trunkline_engine_requests_unreachable: counter(
    'Requests that could not be sent to the peer.',
    [],
    'it grows',
  ),
  trunkline_engine_responses_unmatched: counter('Responses that belong to no request.'),
  trunkline_engine_ack_timeouts: counter(
    'Final responses to INVITE for which no ACK came.',
    [],
    'it grows: a peer or its NAT loses messages',
  ),
  trunkline_engine_messages_malformed: counter('Messages that cannot be read.', [], 'it grows from one peer'),
  trunkline_engine_frame_errors: counter('Streams in which no message could be found.'),
  trunkline_engine_failures: counter('Errors of the engine itself while it processed a message.', [], any),
  trunkline_engine_dialogs: gauge('SIP dialogs.'),
  trunkline_engine_dialogs_ended: counter('Dialogs that ended.'),
  trunkline_engine_dialogs_ended_by_engine: counter(
    'Dialogs that the engine ended, because no call of the edge had them.',
    [],
    any,
  ),
  trunkline_engine_client_transactions: gauge('Transactions of requests that were sent.'),
  trunkline_engine_server_transactions: gauge('Transactions of requests that were received.'),
  trunkline_engine_applications: gauge('Connections of the edge to the engine.', [], '0'),
  trunkline_engine_flows_set_aside: counter(
    'Connections that were kept for a peer that is expected to answer.',
  ),
  trunkline_engine_flows_given_up: counter('Such connections that were given up.'),
  trunkline_engine_hep_sent: counter('Copies of SIP messages sent.'),
  trunkline_engine_hep_dropped: counter(
    'Copies that were dropped; their lines are missing in traces.',
    [],
    any,
  ),
  trunkline_engine_hep_errors: counter('Errors of the connection for copies.', [], any),
};

const transport: Readonly<Record<string, EdgeMetric>> = {
  trunkline_engine_transport_inbound: gauge('Inbound connections.', [], 'near `SIP_MAX_CONNECTIONS`'),
  trunkline_engine_transport_strangers: gauge(
    'Inbound connections from sources that no configuration names.',
    [],
    'hundreds: somebody scans',
  ),
  trunkline_engine_transport_handshakes: gauge(
    'Inbound connections in their handshake.',
    [],
    'it stays high',
  ),
  trunkline_engine_transport_outbound: gauge('Outbound connections.'),
  trunkline_engine_transport_peer_places: gauge(
    'Outbound connections to targets that only peers have named.',
  ),
  trunkline_engine_transport_peer_places_refused: counter(
    'Such connections that were not opened because there were too many.',
  ),
  trunkline_engine_transport_peer_places_evicted: counter(
    'Such connections that were closed for another one.',
  ),
  trunkline_engine_transport_peer_places_not_allowed: counter(
    'Requests not sent to such a target because its address is private or forbidden.',
  ),
  trunkline_engine_transport_inbound_idle: counter('Inbound connections closed because nothing needed them.'),
  trunkline_engine_transport_outbound_idle: counter(
    'Outbound connections closed because nothing needed them.',
  ),
  trunkline_engine_transport_accepted: counter('Connections accepted.'),
  trunkline_engine_transport_connected: counter('Connections established.'),
  trunkline_engine_transport_connectFailures: counter('Connections that could not be established.', [], any),
  trunkline_engine_transport_refused: counter(
    'Connections rejected, or failed in the handshake.',
    [],
    'it grows when peers do not trust the certificate',
  ),
  trunkline_engine_transport_evicted: counter("Strangers' connections closed to make room."),
  trunkline_engine_transport_yielded: counter(
    "Known sources' connections closed for another known source whose organization had fewer.",
    [],
    any,
  ),
  trunkline_engine_transport_silent: counter("Strangers' connections closed because no message came."),
  trunkline_engine_transport_unread: counter('Connections closed because the peer read nothing.', [], any),
  trunkline_engine_transport_paused: counter(
    'Times that reading from a peer was paused until it took its answers.',
  ),
  trunkline_engine_transport_blockedAddresses: gauge('Addresses that get no answer for a while.'),
  trunkline_engine_transport_unfinished_bytes: gauge('Octets of incomplete messages.'),
  trunkline_engine_transport_unfinished_cut: counter(
    'Connections closed because their incomplete messages took too much memory.',
  ),
  trunkline_engine_transport_unread_bytes: gauge(
    'Octets that wait for peers to read them, and of answers that their requests will have.',
  ),
  trunkline_engine_transport_unread_cut: counter('Connections closed because these took too much memory.'),
};

/** By section of docs/metrics.md. */
export const edgeMetricSections: Readonly<Record<string, Readonly<Record<string, EdgeMetric>>>> = {
  Calls: calls,
  Media: media,
  'Models and speech': speech,
  Trunks: trunks,
  'Reports and fleet': reporting,
  'Engine and its certificate': { ...machine, ...engine },
  'TLS connections': transport,
  'What edge and engine use': {
    ...processOf('trunkline_edge_', 'the edge'),
    ...processOf('trunkline_engine_', 'the engine'),
  },
};

/** All of them by name. */
export const edgeMetrics: ReadonlyMap<string, EdgeMetric> = new Map(
  Object.values(edgeMetricSections).flatMap((section) => Object.entries(section)),
);

/** Label values whose first count starts an alert (deploy/prometheus), by metric. */
const alerted: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'trunkline_edge_refused_total',
    ['capacity', 'organization_share', 'no_media_port', 'no_configuration', 'storage'],
  ],
  ['trunkline_edge_recordings_total', ['edge_disk_full', 'edge_disk_failed', 'edge_disk_slow', 'failed']],
  ['trunkline_edge_recordings_sent_total', ['refused', 'failed']],
]);

/**
 * Counters that are zero until they count: `increase()` of Prometheus does not see the first count of a series that
 * begins with it, and an alert about something rare would miss it.
 */
export function zeroCounters(program: 'trunkline_edge_' | 'trunkline_engine_'): Record<string, number> {
  const names = [...edgeMetrics].flatMap(([name, { type, labels }]) => {
    if (type !== 'counter' || !name.startsWith(program)) return [];
    if (labels.length === 0) return [name];
    return (alerted.get(name) ?? []).map((value) => `${name}{${labels[0]}="${value}"}`);
  });
  return Object.fromEntries(names.map((name) => [name, 0]));
}
