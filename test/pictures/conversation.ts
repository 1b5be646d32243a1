/** The call of the pictures: what is said in it and when, and with that its sound, its turns, its quality and its SIP. */
import type { CallRecord, TraceMessage, TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { MeasuredCall, QualitySample, TurnMark } from '#shared/edge-protocol/measured.ts';
import { g711 } from '#shared/g711.ts';
import { callRecord } from '../kit/control/edge-client.ts';
import { uuid } from '../kit/uuid.ts';

interface Said {
  readonly user: 'user' | 'assistant';
  /** ms since the call began */
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly node?: string;
}

const answeredMs = 2000;
const endedMs = 33_000;
/** When the caller interrupted the third answer. */
const cutMs = 21_900;

const talk: readonly Said[] = [
  {
    ...{ user: 'assistant', from: 2200, to: 5600, node: 'Greeting' },
    text: 'Harbour Dental, how can I help you?',
  },
  { user: 'user', from: 6500, to: 9300, text: 'I want to book an appointment for next week.' },
  {
    ...{ user: 'assistant', from: 10_150, to: 13_100, node: 'Book' },
    text: 'Gladly. What is your account number?',
  },
  { user: 'user', from: 14_200, to: 17_400, text: 'Let me see. It is 4711.' },
  {
    ...{ user: 'assistant', from: 18_250, to: cutMs, node: 'Booked' },
    text: 'You are booked for Tuesday at nine. Is there anything…',
  },
  { user: 'user', from: 21_300, to: 23_600, text: 'Yes, can I bring my daughter along?' },
  {
    ...{ user: 'assistant', from: 24_700, to: 28_900, node: 'Booked' },
    text: 'Of course. See you both on Tuesday. Goodbye.',
  },
  { user: 'user', from: 29_800, to: 31_200, text: 'Thank you, goodbye.' },
];

/** @param now ms; the call ended just before */
export function pictured(orgId: string, now: number, changes: Partial<CallRecord>): CallRecord {
  const began = now - endedMs - 60_000;
  return callRecord(orgId, {
    id: uuid(4, 1),
    started_at: new Date(began).toISOString(),
    answered_at: new Date(began + answeredMs).toISOString(),
    ended_at: new Date(began + endedMs).toISOString(),
    media: {
      packets_sent: 1548,
      packets_received: 1536,
      packets_lost: 12,
      jitter_ms: 4.6,
      round_trip_ms: 41,
      mos: 4.12,
      verdict: 'two_way',
      cause: null,
    },
    request_data: { campaign: 'spring' },
    variables: { account_number: '4711', day: 'Tuesday' },
    ...changes,
  });
}

const at = (call: CallRecord, ms: number) => new Date(Date.parse(call.started_at) + ms).toISOString();

export function transcript(call: CallRecord): TranscriptEntry[] {
  return talk.map(({ user, from, text, node = null }, index) => ({
    id: uuid(5, index),
    at: at(call, from),
    user,
    text,
    node_id: node,
    node_name: node,
  }));
}

/** Each answer is a turn; that of the caller before it is what was heard. */
function marks(): TurnMark[] {
  return talk.flatMap(({ user, from, to }, index): TurnMark[] => {
    if (user === 'user') return [];
    const turn = index / 2;
    const heard = talk[index - 1];
    const understood: TurnMark[] = heard
      ? [
          [turn, 'voice', heard.from],
          [turn, 'pause', heard.to],
          [turn, 'turn', heard.to + 380],
          [turn, 'words', heard.to + 430],
        ]
      : [];
    return [
      ...understood,
      [turn, 'token', from - 210],
      [turn, 'decided', from - 210],
      [turn, 'sound', from],
      ...(to === cutMs ? ([[turn, 'cut', to]] satisfies TurnMark[]) : []),
      [turn, 'end', to],
    ];
  });
}

const intervalMs = 5000;

/** Share of an interval in which a side speaks. */
function spoken(user: Said['user'], toMs: number): number {
  const inside = talk.filter((said) => said.user === user);
  return (
    inside.reduce(
      (sum, { from, to }) => sum + Math.max(0, Math.min(to, toMs) - Math.max(from, toMs - intervalMs)),
      0,
    ) / intervalMs
  );
}

const level = (share: number) => (share === 0 ? -62 : -20 + 10 * Math.log10(share));

function samples(): QualitySample[] {
  return Array.from({ length: 6 }, (_, index): QualitySample => {
    const toMs = (index + 1) * intervalMs;
    // Somebody else used the caller's line for a while.
    const [lost, jitter, mos] = index === 3 ? [9, 21, 3.55] : [index === 4 ? 3 : 0, 3 + (index % 2), 4.3];
    const [heard, sent] = [level(spoken('user', toMs)), level(spoken('assistant', toMs))];
    return [
      toMs,
      intervalMs,
      0,
      250 - lost,
      lost,
      0,
      jitter,
      40 + jitter,
      heard,
      250,
      0,
      sent,
      41,
      mos,
      4.35,
      0.4,
    ];
  });
}

export function measured(call: CallRecord): MeasuredCall {
  return {
    call_id: call.id,
    quality: [{ part: 0, whole: false, samples: samples() }],
    marks: marks(),
  };
}

const sampleRate = 8000;
const samplesOfFrame = 160;
const channels = ['user', 'assistant'] as const;

/** Syllables where a side speaks, else a quiet room. */
function linear(user: Said['user'], ms: number, sample: number): number {
  const voice = talk.some((said) => said.user === user && ms >= said.from && ms < said.to);
  const noise = ((sample * 2_654_435_761) % 65_536) / 32_768 - 1;
  if (!voice) return Math.round(60 * noise);
  const syllable = Math.abs(Math.sin((Math.PI * ms) / 190)) * (0.55 + 0.45 * Math.sin(ms / 430));
  return Math.round(11_000 * syllable * (0.7 * Math.sin((2 * Math.PI * 160 * ms) / 1000) + 0.3 * noise));
}

/** Both channels of the recording, which begins with the answer. */
export function sound(frame: number, frames: number): Buffer {
  const bytes = Buffer.alloc(frames * samplesOfFrame * channels.length);
  for (let index = 0; index < frames * samplesOfFrame; index++) {
    const sample = frame * samplesOfFrame + index;
    const ms = answeredMs + (1000 * sample) / sampleRate;
    for (const [channel, user] of channels.entries())
      bytes[index * channels.length + channel] = g711.PCMU.fromLinear[linear(user, ms, sample) & 0xffff] ?? 0;
  }
  return bytes;
}

/** Frames of the recording. */
export const soundFrames = (endedMs - answeredMs) / 20;

export function trace(call: CallRecord): TraceMessage[] {
  const message = (
    ms: number,
    direction: TraceMessage['direction'],
    start_line: string,
    method: string,
  ): TraceMessage => ({
    at: at(call, ms),
    direction,
    local: '203.0.113.20:5061',
    remote: '198.51.100.9:40312',
    transport: 'tls',
    start_line,
    raw: [
      start_line,
      'Via: SIP/2.0/TLS 198.51.100.9:5061;branch=z9hG4bK74bf9;rport',
      `From: <sip:${call.from}@pbx.example.com>;tag=9fxced76sl`,
      `To: <sip:${call.to}@edge.example.com>`,
      `Call-ID: ${call.sip_call_id}`,
      `CSeq: ${method === 'BYE' ? 2 : 1} ${method}`,
      'User-Agent: Example PBX 4.2',
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n'),
  });
  const uri = `sip:${call.to}@edge.example.com`;
  return [
    message(0, 'received', `INVITE ${uri} SIP/2.0`, 'INVITE'),
    message(4, 'sent', 'SIP/2.0 100 Trying', 'INVITE'),
    message(380, 'sent', 'SIP/2.0 180 Ringing', 'INVITE'),
    message(answeredMs, 'sent', 'SIP/2.0 200 OK', 'INVITE'),
    message(answeredMs + 41, 'received', `ACK ${uri} SIP/2.0`, 'ACK'),
    message(endedMs, 'received', `BYE ${uri} SIP/2.0`, 'BYE'),
    message(endedMs + 3, 'sent', 'SIP/2.0 200 OK', 'BYE'),
  ];
}
