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
 * Blocks that may run for an input: linear in its length, by counting, so that no machine is too slow for it. The
 * heaviest input of any target runs some 150 for each octet.
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
  const outcome = (finding: Finding | null): Outcome => ({
    finding,
    tries,
    kept: corpus.length,
    blocks: guide.instrument?.reached ?? 0,
  });
  for (const input of corpus) {
    const { error } = tried(target, input, guide);
    if (error) return outcome({ input, error });
  }
  while (goOn(tries)) {
    for (let count = 0; count < batch; count++) {
      tries++;
      const input = mutated(shorter(random.pick(corpus), random.pick(corpus)), corpus, target.words, random);
      const { error, isNew } = tried(target, input, guide);
      if (error) return outcome({ input: smallest(target, input, guide), error });
      if (isNew) corpus.push(input);
    }
  }
  return outcome(null);
}

function shorter(one: Buffer, other: Buffer): Buffer {
  return one.length <= other.length ? one : other;
}

function tried(
  target: Target,
  input: Buffer,
  { instrument, trying, mostCpuMs }: Guide,
): { error: Error | null; isNew: boolean } {
  trying?.(input);
  instrument?.reset();
  const begun = mostCpuMs === undefined ? null : process.threadCpuUsage();
  try {
    target.check(input);
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)), isNew: false };
  }
  if (begun) {
    const { user, system } = process.threadCpuUsage(begun);
    const tookMs = (user + system) / 1000;
    if (tookMs > (mostCpuMs ?? 0)) return { error: new Error(`took ${tookMs} ms of CPU`), isNew: false };
  }
  const { isNew, work } = instrument?.take() ?? { isNew: false, work: 0 };
  const error =
    work > workOfAny + workPerOctet * input.length
      ? new Error(`ran ${work} blocks for ${input.length} octets`)
      : null;
  return { error, isNew };
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
