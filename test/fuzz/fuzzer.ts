/** A coverage-guided fuzzer: an input that makes the code do what none did before is kept, and changed further. */
import { Random } from '../simulation/random.ts';
import type { Instrument } from './instrument.ts';
import { mutated } from './mutate.ts';
import type { Target } from './targets.ts';

export interface Finding {
  readonly input: Buffer;
  readonly error: Error;
}

export interface Outcome {
  readonly finding: Finding | null;
  readonly tries: number;
  readonly kept: number;
  readonly blocks: number;
  /** The input that came closest to the limit of work; null without an instrument. */
  readonly heaviest: Work | null;
  /** CPU time of the slowest input, ms; 0: it was not measured. */
  readonly slowestMs: number;
}

/** What one input cost. */
export interface Work {
  /** Blocks that ran. */
  readonly blocks: number;
  readonly octets: number;
}

export interface Guide {
  /** What the target's code was loaded with; without it, inputs are changed blindly. */
  readonly instrument?: Instrument;
  /** Told of each input before it is tried, for who watches from outside. */
  readonly trying?: (input: Buffer) => void;
  /** CPU time that one input may take, ms; unset: it is not measured. */
  readonly mostCpuMs?: number;
}

/** Tries to make an input smaller. */
const mostShrinking = 1000;
/** Inputs between two questions whether to go on. */
const batch = 32;
/**
 * Blocks that may run for an input: linear in its length, by counting, so that no machine is too slow for it. In three
 * minutes of each target the heaviest input used 9 % of it: 119,769 blocks for 1,129 octets of SIP. Every run says
 * what its heaviest used.
 */
const workPerOctet = 1000;
const workOfAny = 200_000;

/** @param goOn asked between batches */
export function fuzz(
  target: Target,
  seed: number,
  goOn: (tries: number) => boolean,
  guide: Guide = {},
): Outcome {
  const random = new Random(seed);
  const corpus = [...target.corpus()];
  let tries = 0;
  let heaviest: Work | null = null;
  let slowestMs = 0;
  const measured = (input: Buffer): Tried => {
    const one = tried(target, input, guide);
    const work = { blocks: one.work, octets: input.length };
    if (guide.instrument && shareOfLimit(work) > (heaviest ? shareOfLimit(heaviest) : 0)) heaviest = work;
    slowestMs = Math.max(slowestMs, one.tookMs);
    return one;
  };
  const outcome = (finding: Finding | null): Outcome => ({
    finding,
    tries,
    kept: corpus.length,
    blocks: guide.instrument?.reached ?? 0,
    heaviest,
    slowestMs,
  });
  for (const input of corpus) {
    const { error } = measured(input);
    if (error) return outcome({ input, error });
  }
  while (goOn(tries)) {
    for (let count = 0; count < batch; count++) {
      tries++;
      const input = mutated(shorter(random.pick(corpus), random.pick(corpus)), corpus, target.words, random);
      const { error, isNew } = measured(input);
      if (error) return outcome({ input: smallest(target, input, guide), error });
      if (isNew) corpus.push(input);
    }
  }
  return outcome(null);
}

function shorter(one: Buffer, other: Buffer): Buffer {
  return one.length <= other.length ? one : other;
}

/** How much of the work that its length allows an input took, 0 to 1. */
export function shareOfLimit({ blocks, octets }: Work): number {
  return blocks / (workOfAny + workPerOctet * octets);
}

interface Tried {
  readonly error: Error | null;
  readonly isNew: boolean;
  /** Blocks that ran. */
  readonly work: number;
  /** CPU time, ms; 0: it was not measured. */
  readonly tookMs: number;
}

function tried(target: Target, input: Buffer, { instrument, trying, mostCpuMs }: Guide): Tried {
  trying?.(input);
  instrument?.reset();
  const begun = mostCpuMs === undefined ? null : process.threadCpuUsage();
  const judge = (): Error | null => {
    try {
      target.check(input);
      return null;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  };
  const failure = judge();
  const used = begun ? process.threadCpuUsage(begun) : { user: 0, system: 0 };
  const tookMs = (used.user + used.system) / 1000;
  if (failure) return { error: failure, isNew: false, work: 0, tookMs };
  if (tookMs > (mostCpuMs ?? Infinity))
    return { error: new Error(`took ${tookMs} ms of CPU`), isNew: false, work: 0, tookMs };
  const { isNew, work } = instrument?.take() ?? { isNew: false, work: 0 };
  const error =
    shareOfLimit({ blocks: work, octets: input.length }) > 1
      ? new Error(`ran ${work} blocks for ${input.length} octets`)
      : null;
  return { error, isNew, work, tookMs };
}

/** The input without what the failure does not need. */
function smallest(target: Target, input: Buffer, guide: Guide): Buffer {
  let small = input;
  let left = mostShrinking;
  for (let step = Math.ceil(small.length / 2); step >= 1; step = Math.floor(step / 2)) {
    for (let at = 0; at + step <= small.length && left > 0; ) {
      left--;
      const without = Buffer.concat([small.subarray(0, at), small.subarray(at + step)]);
      if (tried(target, without, guide).error) small = without;
      else at += step;
    }
  }
  return small;
}
