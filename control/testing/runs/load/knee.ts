/** The knee of a load: the last level before it gets certainly worse than the first one (contract 6.16). Pure. */
import type { Knee, LoadFigures, LoadLevelView } from '#shared/api/agent-testing/loads.ts';
import { counted } from '#shared/counted.ts';
import { newcombe, overDistinct } from '../../judging/statistics.ts';

/** How much longer an answer takes before that counts. */
const longer = 1.25;

type Measured = { readonly concurrency: number; readonly figures: LoadFigures };
type Because = NonNullable<Knee['because']>;

/** @returns null while no level has ended */
export function kneeOf(levels: readonly Pick<LoadLevelView, 'concurrency' | 'figures'>[]): Knee | null {
  const measured = levels.flatMap(({ concurrency, figures }) =>
    figures && figures.calls > 0 ? [{ concurrency, figures }] : [],
  );
  const [first] = measured;
  if (!first) return null;
  if (first.figures.answered === 0) {
    const sentence = `No call was answered at the first level, ${atOnce(first.concurrency)}.`;
    return { concurrency: null, breaks_at: first.concurrency, because: 'answered', sentence };
  }
  for (const [place, level] of measured.entries()) {
    const broken = place === 0 ? null : breakOf(level, first);
    const before = measured[place - 1];
    if (!broken || !before) continue;
    return {
      concurrency: before.concurrency,
      breaks_at: level.concurrency,
      because: broken.because,
      sentence: `The knee is at ${atOnce(before.concurrency)}: with ${level.concurrency}, ${broken.how}.`,
    };
  }
  return { concurrency: null, breaks_at: null, because: null, sentence: noKnee(measured) };
}

function noKnee(measured: readonly Measured[]): string {
  const most = Math.max(...measured.map(({ concurrency }) => concurrency));
  if (measured.length === 1) return `One level, ${atOnce(most)}: there is none to compare it with.`;
  return `No level up to ${atOnce(most)} is certainly worse than the first one.`;
}

function breakOf(level: Measured, first: Measured): { because: Because; how: string } | null {
  const { figures: now } = level;
  const { figures: then } = first;
  const answered = newcombe({ passed: now.answered, n: now.calls }, { passed: then.answered, n: then.calls });
  if (answered && answered.high < 0)
    return {
      because: 'answered',
      how: `${now.answered} of ${counted(now.calls, 'call')} were answered, and ${then.answered} of ${then.calls} with ${first.concurrency}`,
    };
  const slower = slowerOf(now.latency_ms, then.latency_ms, first.concurrency);
  if (slower) return { because: 'latency', how: slower };
  const passed = newcombe(samplesOf(now), samplesOf(then));
  const enough = Math.min(now.distinct_conversations, then.distinct_conversations) > 1;
  if (enough && passed && passed.high < 0)
    return {
      because: 'passed',
      how: `${now.passed} of ${counted(now.passed + now.failed, 'conversation')} passed, and ${then.passed} of ${then.passed + then.failed} with ${first.concurrency}`,
    };
  return null;
}

/** Answers take certainly longer: by a quarter and more, and the intervals do not overlap. Null: not certainly. */
function slowerOf(
  now: LoadFigures['latency_ms'],
  then: LoadFigures['latency_ms'],
  concurrency: number,
): string | null {
  for (const [name, words] of [
    ['p95', '95th percentile of the latency of answers'],
    ['p50', 'median latency of answers'],
  ] as const) {
    const [ms, before] = [now[name], then[name]];
    const low = now[`${name}_interval`]?.low ?? null;
    const high = then[`${name}_interval`]?.high ?? null;
    if (ms === null || before === null || low === null || high === null) continue;
    if (ms > before * longer && low > high)
      return `the ${words} is ${ms} ms (at least ${low}), and ${before} ms (at most ${high}) with ${concurrency}`;
  }
  return null;
}

function samplesOf({ distinct_conversations, failed, passed }: LoadFigures) {
  return overDistinct(passed, passed + failed, distinct_conversations);
}

function atOnce(concurrency: number): string {
  return concurrency === 1 ? '1 call' : `${counted(concurrency, 'call')} at once`;
}
