/** Views of what was measured on a call: quality samples, and the turns of its conversation. Pure. */
import type { CallQualitySample, CallTurn, CallTurnSpan } from '#shared/api/call-quality.ts';
import { type QualitySample, sampleFlags, type TurnMark } from '#shared/edge-protocol/measured.ts';
import type { TurnEvent } from '#shared/edge-protocol/turn-events.ts';

/** Turns of a call to a stored part. */
export const turnsOfPart = 8;

/** What is stored of samples or marks: JSON arrays, each with a comma behind it. */
export function partContent(items: readonly (QualitySample | TurnMark)[]): string {
  return items.map((item) => `${JSON.stringify(item)},`).join('');
}

export function qualitySample(sample: QualitySample): CallQualitySample {
  const [at_ms, duration_ms, flags, packets_received, packets_lost, packets_late, ...more] = sample;
  const [jitter_ms, jitter_buffer_ms, level_received_dbov, packets_sent, peer_loss_percent, ...rest] = more;
  const [level_sent_dbov, round_trip_ms, mos_received, mos_sent, clock_late_ms] = rest;
  const scores = [mos_received, mos_sent].filter((score) => score !== null);
  return {
    at_ms,
    duration_ms,
    relayed: (flags & sampleFlags.relayed) !== 0,
    held: (flags & sampleFlags.held) !== 0,
    packets_received,
    packets_lost,
    packets_late,
    jitter_ms,
    jitter_buffer_ms,
    level_received_dbov,
    packets_sent,
    peer_loss_percent,
    level_sent_dbov,
    round_trip_ms,
    mos: scores.length === 0 ? null : Math.min(...scores),
    mos_received,
    mos_sent,
    clock_late_ms,
  };
}

/** The turns, in their order, from their marks, in the order in which they happened. */
export function turnsOf(marks: readonly TurnMark[]): CallTurn[] {
  const byTurn = Map.groupBy(marks, ([turn]) => turn);
  return [...byTurn].sort(([a], [b]) => a - b).map(([turn, ofTurn]) => turnView(turn, ofTurn));
}

function turnView(turn: number, marks: readonly TurnMark[]): CallTurn {
  const first = (event: TurnEvent) => marks.find(([, what]) => what === event)?.[2] ?? null;
  const last = (event: TurnEvent) => marks.findLast(([, what]) => what === event)?.[2] ?? null;
  const pause = last('pause');
  const input = marks.map(([, what]) => inputs.get(what)).findLast((one) => one !== undefined) ?? null;
  const heard = last('words') ?? first('keys') ?? first('silence');
  const sound = first('sound');
  const spans: (CallTurnSpan | null)[] = [
    openSpan('caller_speech', first('voice'), pause),
    span('heard', pause, last('words')),
    span('understood', heard, first('decided')),
    span('model_first_token', heard, first('token')),
    span('speech_first_sound', first('decided') ?? heard, sound),
    openSpan('agent_speech', sound, last('end')),
    ...bargeIns(marks),
  ];
  return {
    turn,
    input,
    from_ms: Math.min(...marks.map(([, , at]) => at)),
    response_ms: pause === null || sound === null ? null : sound - pause,
    spans: spans.filter((one) => one !== null),
  };
}

const inputs: ReadonlyMap<TurnEvent, NonNullable<CallTurn['input']>> = new Map([
  ['voice', 'speech'],
  ['keys', 'keys'],
  ['silence', 'silence'],
]);

/** What was asked ahead, in the caller's pause, may end before it would begin. */
function span(name: CallTurnSpan['span'], from: number | null, to: number | null): CallTurnSpan | null {
  return to === null ? null : { span: name, from_ms: Math.min(from ?? to, to), to_ms: to };
}

function openSpan(name: CallTurnSpan['span'], from: number | null, to: number | null): CallTurnSpan | null {
  return from === null ? null : { span: name, from_ms: from, to_ms: to };
}

/** Each begins when the speech is held or lowered, or, by a key, when it is cut. */
function bargeIns(marks: readonly TurnMark[]): CallTurnSpan[] {
  const spans: CallTurnSpan[] = [];
  let held: number | null = null;
  for (const [, what, at] of marks) {
    if (what === 'held') held ??= at;
    else if (what === 'cut' || (what === 'resumed' && held !== null)) {
      const outcome = what === 'cut' ? 'interrupted' : 'resumed';
      spans.push({ span: 'barge_in', from_ms: held ?? at, to_ms: at, outcome });
      held = null;
    }
  }
  if (held === null) return spans;
  // The speech was lowered until its end.
  const end = marks.findLast(([, what]) => what === 'end')?.[2];
  spans.push({
    span: 'barge_in',
    from_ms: held,
    ...(end === undefined || end < held ? { to_ms: null } : { to_ms: end, outcome: 'resumed' }),
  });
  return spans;
}
