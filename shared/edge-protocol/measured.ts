/**
 * Measurements of a call in the course of it: quality samples, and what happened in each turn of its conversation. They
 * are many, so both are short lists on the link and in the database. Times are milliseconds since the call's start, on the
 * edge's monotonic clock.
 */
import { type Static, Type } from 'typebox';
import { Nullable } from './schema.ts';
import { turnEvents } from './turn-events.ts';

/** Time of a call of which samples are kept, ms: 25 hours; calls with an agent last 12 at most. */
export const mostSampledMs = 90_000_000;
/** Turns of a call of which anything is kept: one every five seconds for 12 hours is 8,640. */
export const mostTurns = 10_000;

const Ms = Type.Integer({ minimum: 0 });
const Count = Type.Integer({ minimum: 0 });
const Figure = Nullable(Type.Number());

/** One quality sample; null: not measured. `docs/call-quality.md` says what each figure is. */
export const QualitySample = Type.Tuple([
  /** end of the interval, and its length */
  Ms,
  Ms,
  /** 1: packets were relayed in the media worker; 2: on hold; 3: both */
  Type.Integer({ minimum: 0, maximum: 3 }),
  /** from the peer: packets received, lost, too late; jitter and delay of the jitter buffer, ms; level, dBov */
  Count,
  Count,
  Figure,
  Figure,
  Figure,
  Figure,
  /** to the peer: packets sent; share lost by the peer's last report, percent; level, dBov */
  Count,
  Figure,
  Figure,
  /** round trip, ms */
  Figure,
  /** MOS of what we receive, and of what the peer receives */
  Figure,
  Figure,
  /** the most that a turn of our own clock was late, ms */
  Figure,
]);
export type QualitySample = Static<typeof QualitySample>;

/** Bits of a sample's third member. */
export const sampleFlags = { relayed: 1, held: 2 } as const;

/** The number of the turn in its call, from 0; what happened; when. */
export const TurnMark = Type.Tuple([Count, Type.Enum([...turnEvents]), Ms]);
export type TurnMark = Static<typeof TurnMark>;

/** Samples of one part of a call's series. */
export const QualityPart = Type.Object({
  part: Count,
  samples: Type.Array(QualitySample),
  /** they replace those of the part that were reported before; otherwise they follow them */
  whole: Type.Boolean(),
});
export type QualityPart = Static<typeof QualityPart>;

/** What was measured on one call since the last report about it. */
export const MeasuredCall = Type.Object({
  call_id: Type.String(),
  quality: Type.Array(QualityPart),
  marks: Type.Array(TurnMark),
});
export type MeasuredCall = Static<typeof MeasuredCall>;
