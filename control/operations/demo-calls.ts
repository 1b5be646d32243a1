/** Calls of the last days for the demo: records, transcripts and SIP traces as an edge would report them. */
import { createHash } from 'node:crypto';
import type { CallRecord, TraceMessage, TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { TerminationCode } from '#shared/termination.ts';
import { demoNumbers } from './demo-data.ts';

interface Shape {
  readonly hoursAgo: number;
  readonly direction: 'inbound' | 'outbound';
  readonly peer: string;
  /** 0: not answered */
  readonly talkSeconds: number;
  readonly code: number;
  readonly reason: string;
  readonly status: CallRecord['status'];
  readonly termination: TerminationCode;
  readonly hangupBy: CallRecord['hangup_by'];
  readonly talk: readonly (readonly ['assistant' | 'user', string])[];
}

const orderTalk: Shape['talk'] = [
  ['assistant', 'Hello, this is the demo front desk. Is it about an order, or shall I connect you?'],
  ['user', 'It is about my order.'],
  ['assistant', 'Please tell me the order number.'],
  ['user', 'Four seven one one.'],
  ['assistant', 'Thank you. Order 4711 is on its way.'],
  ['user', 'Great, thanks. Bye.'],
  ['assistant', 'Thank you for calling, goodbye.'],
];

const answered = { code: 200, reason: 'OK', status: 'completed' } as const;
const shapes: readonly Shape[] = [
  {
    ...answered,
    ...{ hoursAgo: 2, direction: 'inbound', peer: '+14155550123', talkSeconds: 48 },
    ...{ termination: 'agent_hangup', hangupBy: 'agent', talk: orderTalk },
  },
  {
    ...answered,
    ...{ hoursAgo: 5, direction: 'inbound', peer: '+14155550124', talkSeconds: 12.5 },
    ...{ termination: 'caller_hangup', hangupBy: 'peer', talk: orderTalk.slice(0, 2) },
  },
  {
    ...answered,
    ...{ hoursAgo: 26, direction: 'outbound', peer: '+14155550125', talkSeconds: 31 },
    ...{ termination: 'caller_hangup', hangupBy: 'peer', talk: orderTalk.slice(0, 4) },
  },
  {
    ...{ hoursAgo: 30, direction: 'outbound', peer: '+14155550126', talkSeconds: 0, talk: [] },
    ...{ code: 486, reason: 'Busy Here', status: 'busy', termination: 'callee_busy', hangupBy: 'peer' },
  },
  {
    ...{ hoursAgo: 51, direction: 'outbound', peer: '+14155550127', talkSeconds: 0, talk: [] },
    ...{ code: 503, reason: 'Service Unavailable', status: 'failed' },
    ...{ termination: 'route_unreachable', hangupBy: 'error' },
  },
];

export interface DemoCallFacts {
  readonly orgId: string;
  readonly pathwayId: string;
  /** ms; the calls are earlier */
  readonly now: number;
}

/** Reports of every demo call, in order. The same facts give the same ids. */
export function demoCallReports(facts: DemoCallFacts): ReportBody[] {
  return shapes.flatMap((shape, index): ReportBody[] => {
    const call = record(shape, index, facts);
    return [
      { type: 'call', call },
      ...(shape.talk.length > 0
        ? [{ type: 'transcript' as const, call_id: call.id, entries: entries(shape, call) }]
        : []),
      { type: 'trace', call_id: call.id, messages: trace(shape, call), truncated: false },
    ];
  });
}

function record(shape: Shape, index: number, { orgId, pathwayId, now }: DemoCallFacts): CallRecord {
  const started = now - shape.hoursAgo * 3_600_000;
  const own = demoNumbers.menu;
  const isInbound = shape.direction === 'inbound';
  const isAnswered = shape.talkSeconds > 0;
  const answeredAt = started + 2_000;
  const id = uuidOf(`${orgId} demo call ${index}`);
  const packets = Math.round(shape.talkSeconds * 50);
  return {
    id,
    org_id: orgId,
    sip_call_id: `demo-${id}@demo.invalid`,
    direction: shape.direction,
    from: isInbound ? shape.peer : own,
    to: isInbound ? own : shape.peer,
    number: own,
    trunk_id: null,
    source_ip: isInbound ? '203.0.113.9' : null,
    started_at: iso(started),
    answered_at: isAnswered ? iso(answeredAt) : null,
    ended_at: iso(answeredAt + shape.talkSeconds * 1000),
    status: shape.status,
    sip_code: shape.code,
    sip_reason: shape.reason,
    termination: shape.termination,
    termination_detail: 'Demo data',
    hangup_by: shape.hangupBy,
    codec: isAnswered ? 'PCMU' : null,
    media: isAnswered
      ? {
          ...{ packets_sent: packets, packets_received: packets - 1, packets_lost: 1, jitter_ms: 2.4 },
          ...{ round_trip_ms: 38, mos: 4.3, verdict: 'two_way', cause: null },
        }
      : null,
    agent_kind: 'pathway',
    pathway_id: pathwayId,
    pathway_version: 0,
    max_duration: 30,
    request_data: { demo: true },
    variables: shape.talk.length > 4 ? { demo: true, order_number: '4711' } : { demo: true },
  };
}

function entries({ talk }: Shape, call: CallRecord): TranscriptEntry[] {
  const begins = Date.parse(call.answered_at ?? call.started_at);
  return talk.map(([user, text], index) => ({
    id: uuidOf(`${call.id} line ${index}`),
    at: iso(begins + index * 5_000),
    user,
    text,
    node_id: user === 'assistant' ? 'Greeting' : null,
    node_name: user === 'assistant' ? 'Greeting' : null,
  }));
}

function trace(shape: Shape, call: CallRecord): TraceMessage[] {
  const isInbound = call.direction === 'inbound';
  const started = Date.parse(call.started_at);
  const message = (fromCaller: boolean, startLine: string, method: string, at: number): TraceMessage => ({
    at: iso(at),
    direction: fromCaller === isInbound ? 'received' : 'sent',
    local: '198.51.100.20:5061',
    remote: '203.0.113.9:5061',
    transport: 'tls',
    start_line: startLine,
    raw: `${startLine}\r\n${headers(call, method)}\r\n\r\n`,
  });
  const answer = message(false, `SIP/2.0 ${shape.code} ${shape.reason}`, 'INVITE', started + 2_000);
  const opening = [
    message(true, `INVITE sip:${call.to}@demo.invalid SIP/2.0`, 'INVITE', started),
    message(false, 'SIP/2.0 100 Trying', 'INVITE', started + 20),
    answer,
    message(true, `ACK sip:${call.to}@demo.invalid SIP/2.0`, 'ACK', started + 2_040),
  ];
  if (shape.talkSeconds === 0) return opening;
  const ended = Date.parse(call.ended_at ?? call.started_at);
  const byCaller = (shape.hangupBy === 'peer') === isInbound;
  return [
    ...opening,
    message(byCaller, `BYE sip:${byCaller ? call.to : call.from}@demo.invalid SIP/2.0`, 'BYE', ended),
    message(!byCaller, 'SIP/2.0 200 OK', 'BYE', ended + 30),
  ];
}

function headers(call: CallRecord, method: string): string {
  return [
    `Via: SIP/2.0/TLS demo.invalid:5061;branch=z9hG4bK${call.id.slice(0, 8)}${method}`,
    `From: <sip:${call.from}@demo.invalid>;tag=demo1`,
    `To: <sip:${call.to}@demo.invalid>`,
    `Call-ID: ${call.sip_call_id}`,
    `CSeq: ${method === 'BYE' ? 2 : 1} ${method}`,
    'Max-Forwards: 70',
    'X-Demo: yes',
    'Content-Length: 0',
  ].join('\r\n');
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** A stable uuid for a text, in the form of version 8 (RFC 9562 section 5.8). */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
