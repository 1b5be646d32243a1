import { describe, expect, it } from 'vitest';
import { marksOf } from './marks.ts';

const turn = (number: number, agent_at_ms: number | null, caller_at_ms: number | null = null) => ({
  turn: number,
  response_latency_ms: null,
  agent_at_ms,
  caller_at_ms,
  speech_ms: 0,
  silence_ms: 0,
  barge_in: false,
  silent_after_ms: null,
  overlap_ms: 0,
  transcript_source: 'agent_log' as const,
});
const voice = { turns: [turn(0, 120), turn(1, null, 3000), turn(1, 5000)] };
const lines = [
  { role: 'assistant' as const, turn: 0 },
  { role: 'user' as const, turn: 1 },
  { role: 'assistant' as const, turn: 1 },
  { role: 'user' as const, turn: 2 },
];
const result = (assertion_id: string, ...places: number[]) => ({
  assertion_id,
  name: null,
  type: 'STRING_CHECK' as const,
  status: 'FAILED' as const,
  evidence: places.map((place) => ({ turn: place, quote: 'x' })),
});

describe('the marks of a recording', () => {
  it('are where the lines of the evidence begin, in the order of time', () => {
    const marks = marksOf([result('a', 2, 0), result('b', 1)], lines, voice);
    expect(marks.map(({ assertion_id, at_ms, line }) => [at_ms, assertion_id, line])).toEqual([
      [120, 'a', 0],
      [3000, 'b', 1],
      [5000, 'a', 2],
    ]);
  });

  it('are none for lines without a time, and for runs in text', () => {
    expect(marksOf([result('a', 3, 9)], lines, voice)).toEqual([]);
    expect(marksOf([result('a', 0)], lines, null)).toEqual([]);
  });
});
