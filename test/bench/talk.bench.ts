/**
 * How agents converse, over real calls: recorded human speech over SIP, TLS and SRTP to the real programs, and providers
 * of transcription and voices that answer at once (test/kit/talk). All figures are of the wire, at the caller's end.
 */
import { loadavg } from 'node:os';
import { type Column, grouped, markdownTable } from '../../scripts/bench/table.ts';
import { percentile } from '../kit/ears/judge.ts';
import { isRecorded, recordedMusic, type Speaker, speakers, speechMissing } from '../kit/ears/recorded.ts';
import { level, music, random, street } from '../kit/ears/scenes.ts';
import { inTurn } from '../kit/fakes/sounds.ts';
import { backChannels, interruptions, standing, turns } from '../kit/talk/dialogues.ts';
import { Laboratory, speechDb } from '../kit/talk/laboratory.ts';
import type { Talker, TalkerOptions } from '../kit/talk/talker.ts';

interface LatencyRow {
  readonly what: string;
  readonly line: string;
  /** ms */
  readonly values: readonly number[];
  readonly goal: string;
  readonly lateMs: number;
}

interface ShareRow {
  readonly what: string;
  readonly line: string;
  readonly good: number;
  readonly trials: number;
  readonly goal: string;
  readonly lateMs: number;
}

interface StopsRow {
  readonly sound: string;
  readonly minutes: number;
  readonly stops: number;
  readonly lowered: number;
  readonly goal: string;
  readonly lateMs: number;
}

export interface TalkBenchOptions {
  /** of everything by chance; that of TALK_SEED, or 1 */
  readonly seed?: number;
  /** at a time; 14 unless given */
  readonly calls?: number;
  /** of each call, unless given those of the line */
  readonly answers?: number;
  readonly interruptions?: number;
  readonly backChannels?: number;
  /** of each call in noise, 43 unless given: ten minutes in all; half as long with an echo */
  readonly noiseSeconds?: number;
  /** all unless given */
  readonly lines?: readonly (keyof typeof networks)[];
}

export interface TalkBenchResult {
  readonly seed: number;
  readonly speakers: readonly string[];
  readonly calls: number;
  readonly load: number;
  readonly latencies: readonly LatencyRow[];
  readonly shares: readonly ShareRow[];
  readonly stops: readonly StopsRow[];
}

/** dB by which noise is below speech. */
const noiseDb = 10;
const minute = 60 * 8000;

const networks = {
  clean: { loss: 0, jitterMs: 0 },
  'loss 3 %, jitter 30 ms': { loss: 0.03, jitterMs: 30 },
} as const;
/** Trials of each call: 210 of what is judged by its share on a clean line, about half of it on the other. */
const trials = {
  clean: { answers: 8, interruptions: 15, backChannels: 15 },
  'loss 3 %, jitter 30 ms': { answers: 5, interruptions: 8, backChannels: 8 },
} as const;
const lineNames = ['clean', 'loss 3 %, jitter 30 ms'] as const;

/** @throws Error when no recorded speech is installed */
export async function runTalkBench(options: TalkBenchOptions = {}): Promise<TalkBenchResult> {
  const { seed = Number(process.env.TALK_SEED ?? 1), calls = 14, noiseSeconds = 43 } = options;
  if (!isRecorded('english')) throw new Error(speechMissing);
  const callers = (Object.keys(speakers) as Speaker[]).filter(isRecorded);
  console.log(`seed ${seed}; speakers: ${callers.join(', ')}`);
  const laboratory = await Laboratory.start(callers, seed);
  const loads: number[] = [];
  const latencies: LatencyRow[] = [];
  const shares: ShareRow[] = [];
  try {
    for (const line of options.lines ?? lineNames) {
      const network = networks[line];
      const counts = { ...trials[line], ...options };
      const settings = (i: number): TalkerOptions => ({
        line: { ...network, random: random(seed * 100 + i) },
      });
      const gaps = await each(laboratory, calls, 'short', settings, (talker, i) =>
        turns(talker, laboratory.sounds, counts.answers, random(seed + i)),
      );
      latencies.push({
        what: 'answer after the pause',
        line,
        values: gaps.flat(),
        goal: 'at most 300',
        lateMs: laboratory.takeLateness(),
      });
      const cuts = (
        await each(laboratory, calls, 'long', settings, (talker, i) =>
          interruptions(talker, laboratory.sounds, counts.interruptions, random(seed + 10 + i)),
        )
      ).flat();
      const stopMs = cuts.flatMap((one) => (one.stopMs === null ? [] : [one.stopMs]));
      const lateMs = laboratory.takeLateness();
      latencies.push({
        what: 'stop after the first sound',
        line,
        values: stopMs,
        goal: 'p95 at most 200',
        lateMs,
      });
      shares.push({
        what: 'interruptions obeyed',
        line,
        good: cuts.filter(({ obeyed }) => obeyed).length,
        trials: cuts.length,
        goal: 'at least 98 %',
        lateMs,
      });
      const resumed = (
        await each(laboratory, calls, 'long', settings, (talker, i) =>
          backChannels(talker, laboratory.sounds, counts.backChannels, random(seed + 20 + i)),
        )
      ).flat();
      shares.push({
        what: 'back-channels resumed without a lost frame',
        line,
        good: resumed.filter(Boolean).length,
        trials: resumed.length,
        goal: 'at least 98 %',
        lateMs: laboratory.takeLateness(),
      });
      loads.push(loadavg()[0] ?? 0);
    }
    const stops = await nobodySpeaks(laboratory, seed, calls, noiseSeconds);
    loads.push(loadavg()[0] ?? 0);
    return {
      seed,
      speakers: callers,
      calls,
      load: loads.reduce((sum, one) => sum + one, 0) / loads.length,
      latencies,
      shares,
      stops,
    };
  } finally {
    await laboratory.stop();
  }
}

/** Sounds that are no caller, while the agent speaks. */
async function nobodySpeaks(
  laboratory: Laboratory,
  seed: number,
  calls: number,
  seconds: number,
): Promise<StopsRow[]> {
  const recorded = await recordedMusic();
  const tune = (i: number) =>
    recorded.length > 0
      ? inTurn(
          ...recorded.map(({ samples }, k) =>
            samples.subarray((i * minute) / 4, (i * minute) / 4 + minute / 2 + k),
          ),
        )
      : music(minute, speechDb - noiseDb, seed + i);
  const around: Record<string, (i: number) => Partial<TalkerOptions>> = {
    'street noise at 10 dB': (i) => ({ around: street(minute, speechDb - noiseDb, seed + i) }),
    'music at 10 dB': (i) => ({ around: level(tune(i), speechDb - noiseDb) }),
    'own echo at 15 dB': () => ({ echo: { lossDb: 15, delayMs: 120 } }),
  };
  const rows: StopsRow[] = [];
  for (const [sound, more] of Object.entries(around)) {
    const options = (i: number): TalkerOptions => ({
      line: { ...networks.clean, random: random(seed + i) },
      ...more(i),
    });
    const isEcho = sound.startsWith('own');
    const found = await each(laboratory, calls, 'long', options, (talker) =>
      standing(talker, isEcho ? seconds / 2 : seconds),
    );
    rows.push({
      sound,
      minutes: found.reduce((sum, one) => sum + one.minutes, 0),
      stops: found.reduce((sum, one) => sum + one.stops, 0),
      lowered: found.reduce((sum, one) => sum + one.lowered, 0),
      goal: isEcho ? 'none' : 'at most 1 in 10 minutes',
      lateMs: laboratory.takeLateness(),
    });
  }
  return rows;
}

/** Several calls at once, each with a dialogue. */
async function each<T>(
  laboratory: Laboratory,
  calls: number,
  agent: 'short' | 'long',
  options: (i: number) => TalkerOptions,
  dialogue: (talker: Talker, i: number) => Promise<T>,
): Promise<T[]> {
  const talkers: Talker[] = [];
  for (let i = 0; i < calls; i++) talkers.push(await laboratory.call(agent, options(i)));
  laboratory.takeLateness();
  const results = await Promise.all(talkers.map(dialogue));
  for (const talker of talkers) await laboratory.hangup(talker);
  return results;
}

/** 95 % interval of a share (Wilson), %. */
function shareInterval(good: number, trials: number): string {
  if (trials === 0) return '–';
  const z = 1.96;
  const p = good / trials;
  const middle = (p + (z * z) / (2 * trials)) / (1 + (z * z) / trials);
  const half =
    (z / (1 + (z * z) / trials)) * Math.sqrt((p * (1 - p)) / trials + (z * z) / (4 * trials * trials));
  return `${grouped(100 * (middle - half))} to ${grouped(100 * Math.min(1, middle + half))}`;
}

/** 95 % interval of the 95th percentile, by order statistics, ms. */
function p95Interval(sorted: readonly number[]): string {
  const n = sorted.length;
  if (n === 0) return '–';
  const half = 1.96 * Math.sqrt(n * 0.95 * 0.05);
  const at = (place: number) => sorted[Math.max(0, Math.min(n - 1, Math.round(place)))] ?? 0;
  return `${Math.round(at(n * 0.95 - half))} to ${Math.round(at(n * 0.95 + half))}`;
}

export function formatTalkBench(result: TalkBenchResult): string {
  const sorted = (row: LatencyRow) => row.values.toSorted((a, b) => a - b);
  const ms = (share: number) => (row: LatencyRow) => `${Math.round(percentile(sorted(row), share) ?? 0)}`;
  const late: Column<{ readonly lateMs: number }> = [
    "callers' own lateness p99, ms",
    ({ lateMs }) => grouped(lateMs),
  ];
  const latencyColumns: Column<LatencyRow>[] = [
    ['time', ({ what }) => what],
    ['line', ({ line }) => line],
    ['trials', ({ values }) => `${values.length}`],
    ['p50, ms', ms(0.5)],
    ['p95, ms', ms(0.95)],
    ['p95, 95 % interval, ms', (row) => p95Interval(sorted(row))],
    ['goal, ms', ({ goal }) => goal],
    late,
  ];
  const shareColumns: Column<ShareRow>[] = [
    ['outcome', ({ what }) => what],
    ['line', ({ line }) => line],
    ['trials', ({ good, trials }) => `${good} of ${trials}`],
    ['95 % interval, %', ({ good, trials }) => shareInterval(good, trials)],
    ['goal', ({ goal }) => goal],
    late,
  ];
  const stopColumns: Column<StopsRow>[] = [
    ['nobody speaks, but', ({ sound }) => sound],
    ['minutes', ({ minutes }) => grouped(minutes)],
    ['stops', ({ stops }) => `${stops}`],
    ['lowered', ({ lowered }) => `${lowered}`],
    ['goal', ({ goal }) => goal],
    late,
  ];
  const about = `Seed ${result.seed}; recorded speech: ${result.speakers.join(', ')}; ${result.calls} calls at a time; load average ${grouped(result.load)} on these cores, the calls' own included. Where the callers' own clock is late, the machine was too busy for the figure to mean much.`;
  return [
    about,
    markdownTable(latencyColumns, result.latencies),
    markdownTable(shareColumns, result.shares),
    markdownTable(stopColumns, result.stops),
  ].join('\n\n');
}
