/**
 * How well and how cheaply the edge hears callers, on sound with known truth (test/kit/ears/scenes.ts): missed speech,
 * the delay until a voice is noticed, false starts, CPU. Deterministic but for the CPU.
 */
import { Ear } from '../../edge/agent/ears/ear.ts';
import { WebrtcDetectors } from '../../edge/agent/ears/webrtc-detector.ts';
import { type Column, grouped, markdownTable } from '../../scripts/bench/table.ts';
import { Flite } from '../../shared/models/flite.ts';
import { type Heard, hear, percentile } from '../kit/ears/judge.ts';
import { type Judging, startJudging } from '../kit/ears/judging.ts';
import { type Scene, scenes } from '../kit/ears/scenes.ts';
import { framesOf } from '../kit/fakes/sounds.ts';

interface QualityRow extends Heard {
  readonly scene: string;
  readonly stages: 'first' | 'both';
}

interface CostRow {
  readonly scene: string;
  readonly calls: number;
  /** % of a core per call */
  readonly first: number;
  readonly both: number;
}

export interface EarsBenchResult {
  readonly quality: readonly QualityRow[];
  readonly cost: readonly CostRow[];
}

const sentences = 30;
const costSeconds = 20;

export async function runEarsBench(): Promise<EarsBenchResult> {
  const tts = new Flite();
  const all = await scenes(tts, 1, sentences);
  await tts.close();
  const first = new WebrtcDetectors();
  const judging = await startJudging();
  const quality: QualityRow[] = [];
  for (const [scene, sound] of Object.entries(all)) {
    quality.push({ scene, stages: 'first', ...(await hear(first, sound)) });
    quality.push({ scene, stages: 'both', ...(await hear(judging.detectors, sound, judging.settled)) });
  }
  const cost: CostRow[] = [];
  for (const [scene, sound] of Object.entries(all)) {
    if (!['clean', 'music at 10 dB', 'line noise alone'].includes(scene)) continue;
    for (const calls of [1, 10, 50]) {
      const both = await costOf(judging.detectors, sound, calls, judging);
      cost.push({ scene, calls, first: await costOf(first, sound, calls), both });
    }
  }
  await judging.silero.close();
  return { quality, cost };
}

/** CPU of that many calls that hear the same sound, % of a core per call. */
async function costOf(
  detectors: WebrtcDetectors | Judging['detectors'],
  { received }: Scene,
  calls: number,
  judging?: Judging,
): Promise<number> {
  const nothing = () => undefined;
  const ears: Ear[] = [];
  for (let i = 0; i < calls; i++) {
    const ear = new Ear(detectors, 8000, {
      firstSound: nothing,
      begins: nothing,
      voiced: nothing,
      paused: nothing,
    });
    await ear.prepare();
    ears.push(ear);
  }
  const frames = framesOf(received).slice(0, costSeconds * 50);
  const before = process.cpuUsage();
  for (const frame of frames) {
    for (const ear of ears) {
      ear.sent(null);
      ear.write(frame);
    }
    await judging?.settled();
  }
  const { user, system } = process.cpuUsage(before);
  for (const ear of ears) ear.close();
  return (user + system) / 1e4 / costSeconds / calls;
}

export function formatEarsBench({ quality, cost }: EarsBenchResult): string {
  const onset = (share: number) => (row: QualityRow) => `${percentile(row.onsetsMs, share) ?? '–'}`;
  const qualityColumns: Column<QualityRow>[] = [
    ['scene', ({ scene }) => scene],
    ['stages', ({ stages }) => stages],
    [
      'utterances noticed',
      ({ onsetsMs, utterances }) => (utterances === 0 ? '–' : `${onsetsMs.length} of ${utterances}`),
    ],
    ['after, ms (median)', onset(0.5)],
    ['after, ms (p90)', onset(0.9)],
    [
      'speech missed, %',
      (row) => (row.speechFrames === 0 ? '–' : grouped((100 * row.missedFrames) / row.speechFrames)),
    ],
    ['false starts a minute', ({ falseStarts, minutes }) => grouped(falseStarts / minutes)],
  ];
  const costColumns: Column<CostRow>[] = [
    ['CPU per call', ({ scene }) => scene],
    ['calls at a time', ({ calls }) => `${calls}`],
    ['first stage, % of a core', ({ first }) => grouped(first)],
    ['both stages, % of a core', ({ both }) => grouped(both)],
  ];
  return `${markdownTable(qualityColumns, quality)}\n\n${markdownTable(costColumns, cost)}`;
}
