/** The quality of a call and the turns of its conversation, on one axis of time (contract 3.4). */
import { type Static, Type } from 'typebox';
import { Integer, Iso, NextPage, Nullable, OneOf, Plain } from '#shared/api/common.ts';

const about = (description: string) => Type.Integer({ description });
const figure = (description: string) => Nullable(Type.Number({ description }));

/** Of both: the axis, and how old the answer is. */
const Measured = {
  id: Type.String({ description: 'Id of the call' }),
  started_at: Type.String({
    description: 'Zero of the axis: times ending in _ms count from here',
    examples: ['2030-01-01T00:00:00.000Z'],
  }),
  ended_at: Nullable(Iso(), 'When it ended; null: it has not'),
  reported_at: Nullable(
    Type.String({ description: 'When the last report of the edge arrived; null: none did' }),
  ),
  age_ms: Nullable(Type.Integer({ description: 'Of that report, while the call is in progress; else null' })),
};

export const CallQualityQuery = Type.Object({
  after_ms: Type.Optional(Integer(0, 2 ** 31, 'Only samples that end later')),
});

export const CallQualitySample = Type.Object({
  at_ms: about('End of the interval'),
  duration_ms: about('Length of the interval'),
  relayed: Type.Boolean({ description: 'Packets went from leg to leg in the media worker' }),
  held: Type.Boolean({ description: 'On hold, by either end' }),
  packets_received: about('Packets from the peer'),
  packets_lost: about('Packets from the peer that are missing'),
  packets_late: figure('Packets that arrived too late to be played; null: not measured'),
  jitter_ms: figure('Interarrival jitter, RFC 3550 section 6.4.1, ms; null: not measured'),
  jitter_buffer_ms: figure('Delay that the jitter buffer adds, ms; null: not measured'),
  level_received_dbov: figure('Mean level of the peer, RFC 6464, dBov; null: not measured'),
  packets_sent: about('Packets to the peer'),
  peer_loss_percent: figure(
    "Share of our packets lost by the peer's last RTCP report, percent; null: no report",
  ),
  level_sent_dbov: figure('Mean level of what is sent, RFC 6464, dBov; null: not measured'),
  round_trip_ms: figure("From the peer's last RTCP report, ms; null: no report"),
  mos: figure('ITU-T G.107 estimate, 1 to 4.5, of the worse direction; null: not measured'),
  mos_received: figure('Of what we receive; null: not measured'),
  mos_sent: figure('Of what the peer receives; null: not measured'),
  clock_late_ms: figure('The most that a 20 ms turn of our own clock was late, ms; null: not measured'),
});
export type CallQualitySample = Static<typeof CallQualitySample>;

export const CallQuality = Plain(
  Type.Object({
    ...Measured,
    truncated: Type.Boolean({ description: 'The call went on after the last sample that is kept' }),
    samples: Type.Array(CallQualitySample, { description: 'In the order of time' }),
  }),
);

export const CallTimelineQuery = Type.Object({
  after: Type.Optional(
    Integer(0, 1_000_000, 'next of the previous page: the turn before the first one of the page'),
  ),
  limit: Type.Optional(Integer(1, 500, 'Most turns of a page; default: 100')),
});

const turnSpans = [
  'caller_speech',
  'heard',
  'understood',
  'model_first_token',
  'speech_first_sound',
  'agent_speech',
  'barge_in',
] as const;

export const CallTurnSpan = Type.Object({
  span: OneOf(turnSpans, 'What took the time'),
  from_ms: Type.Integer({ description: 'Beginning, ms from `started_at`' }),
  to_ms: Nullable(Type.Integer({ description: 'null: it has not ended' })),
  outcome: Type.Optional(OneOf(['resumed', 'interrupted'], 'Of a barge-in that has ended')),
});
export type CallTurnSpan = Static<typeof CallTurnSpan>;

export const CallTurn = Type.Object({
  turn: Type.Integer({ description: 'Number of the turn, from 1' }),
  input: Nullable(OneOf(['speech', 'keys', 'silence'], 'What the caller did; null: the agent began')),
  from_ms: Type.Integer({ description: 'Beginning, ms from `started_at`' }),
  response_ms: Nullable(
    Type.Integer({
      description: "From the end of the caller's speech to the agent's first sound, ms; null: no sound",
    }),
  ),
  spans: Type.Array(CallTurnSpan, { maxItems: 64, description: 'What happened in it, in the order of time' }),
});
export type CallTurn = Static<typeof CallTurn>;

export const CallTimeline = Plain(
  Type.Object({
    ...Measured,
    truncated: Type.Boolean({ description: 'The conversation went on after the last turn that is kept' }),
    turns: Type.Array(CallTurn, { maxItems: 500, description: 'By `turn`' }),
    next: NextPage('after'),
  }),
);
