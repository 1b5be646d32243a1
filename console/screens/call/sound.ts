/** How loud both sides were over the time of a call, and which part of it a turn is. */
import type { Answer } from '../../api/client.ts';
import type { Sample } from './plots.ts';
import type { Span } from './times.ts';
import type { Turn } from './turns.tsx';

export type Recording = Answer<'GET /v1/calls/{call_id}/recording/details'>['data']['recording'];
type Peaks = Answer<'GET /v1/calls/{call_id}/recording/peaks'>['data'];

/** How loud both sides were in a part of the time; dBov, null: not known. */
interface Loudness extends Span {
  readonly caller: number | null;
  readonly agent: number | null;
}

export interface Sound {
  /** What it was measured in. */
  readonly source: 'recording' | 'samples';
  readonly parts: readonly Loudness[];
}

/** Where a recording begins on the axis, ms after the call began. */
export function offsetOf({ started_at }: Pick<Recording, 'started_at'>, callStartedAt: string): number {
  return Date.parse(started_at) - Date.parse(callStartedAt);
}

/** Magnitude of a full-scale 16-bit sample. */
const fullScale = 32_768;

function dbov(magnitude: number): number {
  return 20 * Math.log10(Math.max(1, magnitude) / fullScale);
}

/** @param offsetMs where the recording begins on the axis */
export function soundOfRecording({ duration_ms, peaks }: Peaks, offsetMs: number): Sound {
  const count = Math.max(peaks.peer.length, peaks.agent.length);
  const step = count === 0 ? 0 : duration_ms / count;
  const parts = Array.from({ length: count }, (_, index) => ({
    fromMs: offsetMs + index * step,
    toMs: offsetMs + (index + 1) * step,
    caller: dbov(peaks.peer[index] ?? 0),
    agent: dbov(peaks.agent[index] ?? 0),
  }));
  return { source: 'recording', parts };
}

/** Without a recording: the levels that were sampled with the quality. */
export function soundOfSamples(samples: readonly Sample[]): Sound {
  const parts = samples.map((one) => ({
    fromMs: one.at_ms - one.duration_ms,
    toMs: one.at_ms,
    caller: one.level_received_dbov,
    agent: one.level_sent_dbov,
  }));
  return { source: 'samples', parts };
}

/** What is drawn as nothing: the noise of a quiet line. */
const quietDbov = -60;

/**
 * The loudest of each of `count` equal parts of what is shown, 0: quiet, 1: full scale.
 * @param parts ascending
 */
export function barsOf(
  parts: readonly Loudness[],
  side: 'caller' | 'agent',
  { fromMs, toMs }: Span,
  count: number,
): number[] {
  const bars = new Array<number>(count).fill(0);
  const width = (toMs - fromMs) / count;
  for (const part of parts) {
    const level = part[side];
    if (level === null || level <= quietDbov || part.toMs <= fromMs || part.fromMs >= toMs) continue;
    const height = Math.min(1, 1 - level / quietDbov);
    const first = Math.max(0, Math.floor((part.fromMs - fromMs) / width));
    const end = Math.min(count, Math.ceil((part.toMs - fromMs) / width));
    for (let bar = first; bar < end; bar++) bars[bar] = Math.max(bars[bar] ?? 0, height);
  }
  return bars;
}

/** From the first sound of a turn to its last one. @returns null: none has ended */
export function spanOfTurn({ from_ms, spans }: Turn): Span | null {
  const ends = spans.flatMap(({ to_ms }) => to_ms ?? []);
  const toMs = Math.max(...ends);
  const fromMs = Math.min(from_ms, ...spans.map((span) => span.from_ms));
  return toMs > fromMs ? { fromMs, toMs } : null;
}

/** The turn that goes on at a moment, or was the last before it. */
export function turnAt(turns: readonly Turn[], atMs: number): Turn | undefined {
  return turns.findLast((turn) => (spanOfTurn(turn)?.fromMs ?? turn.from_ms) <= atMs);
}
