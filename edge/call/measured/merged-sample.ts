/** One sample in the place of several that follow each other: sums of packets, and the worst of everything else. */
import { type QualitySample, sampleFlags } from '#shared/edge-protocol/measured.ts';

/** @param samples at least one, oldest first */
export function mergedSample(samples: readonly QualitySample[]): QualitySample {
  const last = samples.at(-1);
  if (!last) throw new Error('no samples to merge');
  const [at] = last;
  const column = <I extends keyof QualitySample & number>(index: I) => samples.map((sample) => sample[index]);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const known = (values: readonly (number | null)[]) => values.filter((value) => value !== null);
  const most = (values: readonly (number | null)[]) => {
    const all = known(values);
    return all.length === 0 ? null : Math.max(...all);
  };
  const least = (values: readonly (number | null)[]) => {
    const all = known(values);
    return all.length === 0 ? null : Math.min(...all);
  };
  const late = known(column(5));
  return [
    at,
    sum(column(1)),
    flagsOf(column(2)),
    sum(column(3)),
    sum(column(4)),
    late.length === 0 ? null : sum(late),
    most(column(6)),
    most(column(7)),
    meanLevel(samples, 8),
    sum(column(9)),
    most(column(10)),
    meanLevel(samples, 11),
    most(column(12)),
    least(column(13)),
    least(column(14)),
    most(column(15)),
  ];
}

/** What is true of all of them. */
function flagsOf(flags: readonly number[]): number {
  const { relayed, held } = sampleFlags;
  return flags.reduce((both, one) => both & one, relayed | held);
}

/** The level of their mean power, weighted by their lengths. */
function meanLevel(samples: readonly QualitySample[], index: 8 | 11): number | null {
  let power = 0;
  let length = 0;
  for (const sample of samples) {
    const level = sample[index];
    if (level === null) continue;
    power += 10 ** (level / 10) * sample[1];
    length += sample[1];
  }
  return length === 0 ? null : Math.round(100 * Math.log10(power / length)) / 10;
}
