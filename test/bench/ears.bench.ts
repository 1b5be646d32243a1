/**
 * How well and how cheaply the edge hears callers, on sound with known truth (test/kit/ears/scenes.ts): missed speech,
 * the delay until a voice is noticed, false starts, CPU. Deterministic but for the CPU.
 */
import { WebrtcDetectors } from '../../edge/agent/ears/webrtc-detector.ts';
import { type Column, grouped, markdownTable } from '../../scripts/bench/table.ts';
import { Flite } from '../../shared/models/flite.ts';
import { type Heard, hear, percentile } from '../kit/ears/judge.ts';
import { scenes } from '../kit/ears/scenes.ts';

export interface EarsBenchRow extends Heard {
  readonly scene: string;
  readonly cpuMs: number;
}

const sentences = 60;

export async function runEarsBench(): Promise<EarsBenchRow[]> {
  const tts = new Flite();
  const all = await scenes(tts, 1, sentences);
  await tts.close();
  const detectors = new WebrtcDetectors();
  const rows: EarsBenchRow[] = [];
  for (const [scene, sound] of Object.entries(all)) {
    const before = process.cpuUsage();
    const heard = await hear(detectors, sound);
    const { user, system } = process.cpuUsage(before);
    rows.push({ scene, ...heard, cpuMs: (user + system) / 1000 });
  }
  return rows;
}

export function formatEarsBench(rows: readonly EarsBenchRow[]): string {
  const onset = (share: number) => (row: EarsBenchRow) => {
    const ms = percentile(row.onsetsMs, share);
    return ms === null ? '–' : `${ms}`;
  };
  const columns: Column<EarsBenchRow>[] = [
    ['scene', ({ scene }) => scene],
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
    ['CPU, % of a core per call', (row) => grouped(row.cpuMs / (row.minutes * 600))],
  ];
  return markdownTable(columns, rows);
}
