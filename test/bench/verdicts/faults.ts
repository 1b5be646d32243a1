/** Whether analysis without a model names class and node of planted faults, and whether its confidence is honest. */
import { analyzed, isRight } from '../../kit/verdicts/analyzed.ts';
import { type Planted, plantedIn, seenFaults } from '../../kit/verdicts/faults.ts';
import { heldOutBusinesses, heldOutFaults } from '../../kit/verdicts/faults-held-out.ts';
import { seenBusinesses } from '../../kit/verdicts/faults-seen.ts';
import type { Row, Section } from './section.ts';

const seen = plantedIn(seenBusinesses, seenFaults);
const heldOut = plantedIn(heldOutBusinesses, heldOutFaults);

async function row(half: Row['half'], planted: readonly Planted[]): Promise<Row> {
  const counts: Record<string, number> = {};
  const add = (key: string) => {
    counts[key] = (counts[key] ?? 0) + 1;
  };
  let right = 0;
  let open = 0;
  for (const one of planted) {
    const { findings, status } = await analyzed(one);
    const [first] = findings;
    if (status !== 'FAILED' || !first) open++;
    else add(`${one.fault.cause} as ${first.cause}`);
    if (status === 'FAILED' && isRight(one, first)) right++;
  }
  return {
    half,
    lines: planted.length,
    counts: { 'Class and node right': right, ...Object.fromEntries(Object.entries(counts).toSorted()) },
    wrong: planted.length - right - open,
    open,
  };
}

export const plantedFaults: Section = {
  title: 'Planted faults: class and node of the first finding',
  measure: async () => [await row('seen', seen), await row('held out', heldOut)],
};

const bands = [
  ['below 0.6', 0, 0.6],
  ['0.6 to 0.75', 0.6, 0.75],
  ['0.75 to 0.9', 0.75, 0.9],
  ['0.9 and more', 0.9, 1.01],
] as const;

async function calibration(half: Row['half'], planted: readonly Planted[]): Promise<Row> {
  const counts: Record<string, number> = {};
  let wrong = 0;
  let lines = 0;
  for (const one of planted) {
    for (const [place, finding] of (await analyzed(one)).findings.entries()) {
      const band = bands.find(([, from, to]) => finding.confidence >= from && finding.confidence < to);
      if (!band) continue;
      lines++;
      const isTrue = isRight(one, finding);
      if (!isTrue && place === 0) wrong++;
      for (const key of [`${band[0]}: all`, ...(isTrue ? [`${band[0]}: right`] : [])]) {
        counts[key] = (counts[key] ?? 0) + 1;
      }
    }
  }
  const keys = bands.flatMap(([name]) => [`${name}: all`, `${name}: right`]);
  return {
    half,
    lines,
    counts: Object.fromEntries(keys.map((key) => [key, counts[key] ?? 0])),
    wrong,
    open: 0,
  };
}

export const confidence: Section = {
  title: 'Findings on planted faults by their confidence (wrong: those that came first)',
  measure: async () => [await calibration('seen', seen), await calibration('held out', heldOut)],
};
