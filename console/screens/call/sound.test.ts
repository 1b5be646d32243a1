import { expect, it } from 'vitest';
import { barsOf, offsetOf, soundOfRecording, soundOfSamples, spanOfTurn, turnAt } from './sound.ts';

const peaks = { duration_ms: 4000, peaks: { peer: [0, 32_767, 328, 0], agent: [3277, 0, 0, 0] } };

it('puts a recording where it began in the call', () => {
  const started_at = '2030-01-01T00:00:02.000Z';
  expect(offsetOf({ started_at }, '2030-01-01T00:00:00.000Z')).toBe(2000);
  const { source, parts } = soundOfRecording(peaks, 2000);
  expect(source).toBe('recording');
  expect(parts.map(({ fromMs, toMs }) => [fromMs, toMs])).toEqual([
    [2000, 3000],
    [3000, 4000],
    [4000, 5000],
    [5000, 6000],
  ]);
  expect(parts[1]?.caller).toBeCloseTo(0, 3);
  expect(parts[0]?.agent).toBeCloseTo(-20, 1);
});

it('draws the loudest of each part of what is shown, and silence as nothing', () => {
  const { parts } = soundOfRecording(peaks, 0);
  const bars = barsOf(parts, 'caller', { fromMs: 0, toMs: 4000 }, 4).map((bar) => Number(bar.toFixed(2)));
  expect(bars).toEqual([0, 1, 0.33, 0]);
  expect(barsOf(parts, 'caller', { fromMs: 0, toMs: 4000 }, 2).map(Math.round)).toEqual([1, 0]);
  // Closer than the peaks are: each is as wide as its time.
  expect(barsOf(parts, 'caller', { fromMs: 1000, toMs: 1200 }, 3).map(Math.round)).toEqual([1, 1, 1]);
  expect(barsOf(parts, 'agent', { fromMs: 6000, toMs: 9000 }, 2)).toEqual([0, 0]);
});

it('draws the levels of the quality samples where there is no recording', () => {
  const sample = { at_ms: 10_000, duration_ms: 5000, level_received_dbov: -30, level_sent_dbov: null };
  const { source, parts } = soundOfSamples([sample as never]);
  expect(source).toBe('samples');
  expect(parts).toEqual([{ fromMs: 5000, toMs: 10_000, caller: -30, agent: null }]);
  expect(barsOf(parts, 'caller', { fromMs: 0, toMs: 10_000 }, 2)).toEqual([0, 0.5]);
  expect(barsOf(parts, 'agent', { fromMs: 0, toMs: 10_000 }, 2)).toEqual([0, 0]);
});

const turn = (number: number, spans: readonly (readonly [number, number | null])[]) => ({
  turn: number,
  input: 'speech' as const,
  from_ms: spans[0]?.[0] ?? 0,
  response_ms: null,
  spans: spans.map(([from_ms, to_ms]) => ({ span: 'agent_speech' as const, from_ms, to_ms })),
});

it('plays a turn from its first sound to its last', () => {
  const turns = [
    turn(1, [
      [1000, 2000],
      [1500, 4000],
    ]),
    turn(2, [[5000, 7000]]),
    turn(3, [[9000, null]]),
  ];
  expect(turns.map(spanOfTurn)).toEqual([{ fromMs: 1000, toMs: 4000 }, { fromMs: 5000, toMs: 7000 }, null]);
  expect([500, 1000, 4500, 8000, 20_000].map((at) => turnAt(turns, at)?.turn)).toEqual([
    undefined,
    1,
    1,
    2,
    3,
  ]);
});
