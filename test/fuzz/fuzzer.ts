/** A coverage-guided fuzzer: an input that reaches new coverage is kept and mutated further. */
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
  /** The input closest to the limit of work; null without instrumentation. */
  readonly heaviest: Work | null;
  /** CPU time of the slowest input, ms; 0: not measured. */
  readonly slowestMs: number;
}

/** The cost of one input. */
export interface Work {
  /** Blocks that ran. */
  readonly blocks: number;
  readonly octets: number;
}

export interface Guide {
  /** The instrumentation of the target's code; without it, inputs are mutated blindly. */
  readonly instrument?: Instrument;
  /** Called with each input before it runs, for a watching process. */
  readonly trying?: (input: Buffer) => void;
  /** Limit of CPU time for one input, ms; unset: not measured. */
  readonly mostCpuMs?: number;
}

/** Attempts to make an input smaller. */
const mostShrinking = 1000;
/** Inputs between two checks whether to continue. */
const batch = 32;
/**
 * Limit of blocks for an input: linear in its length, and counted, so that it does not depend on the machine's speed. In
 * three minutes of each target the heaviest input used 9 % of it: 119,769 blocks for 1,129 octets of SIP. Every run
 * prints the share of its heaviest input.
 */
const workPerOctet = 1000;
const workOfAny = 200_000;

/** @param goOn checked between batches */
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

/** Work of an input as a share of the limit for its length, 0 to 1. */
export function shareOfLimit({ blocks, octets }: Work): number {
  return blocks / (workOfAny + workPerOctet * octets);
}

interface Tried {
  readonly error: Error | null;
  readonly isNew: boolean;
  /** Blocks that ran. */
  readonly work: number;
  /** CPU time, ms; 0: not measured. */
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

/** The input without parts that the failure does not need. */
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
