/** A coverage-guided fuzzer: an input that makes the code do what none did before is kept, and changed further. */
import { Random } from '../simulation/random.ts';
import { Coverage } from './coverage.ts';
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

/** An input may take so long, ms; a slow machine is slower, and a hang is much slower. */
const longestMs = 2000;
/** Tries to make an input smaller. */
const mostShrinking = 1000;
/** Inputs between two looks at the coverage, which cost more than an input. */
const batch = 32;

/** @param goOn asked between batches */
export function fuzz(target: Target, seed: number, goOn: (tries: number) => boolean): Outcome {
  const coverage = new Coverage();
  coverage.start();
  try {
    return guided(target, new Random(seed), coverage, goOn);
  } finally {
    coverage.stop();
  }
}

function guided(
  target: Target,
  random: Random,
  coverage: Coverage,
  goOn: (tries: number) => boolean,
): Outcome {
  const corpus = [...target.corpus()];
  let tries = 0;
  const outcome = (finding: Finding | null): Outcome => ({
    finding,
    tries,
    kept: corpus.length,
    blocks: coverage.size,
  });
  for (const input of corpus) {
    const error = failure(target, input);
    if (error) return outcome({ input, error });
  }
  coverage.take();
  while (goOn(tries)) {
    const inputs = Array.from({ length: batch }, () =>
      mutated(random.pick(corpus), corpus, target.words, random),
    );
    for (const input of inputs) {
      tries++;
      const error = failure(target, input);
      if (error) return outcome({ input: smallest(target, input), error });
    }
    if (!coverage.take()) continue;
    // One of them, or several: the whole batch is tried on, which finds out soon enough.
    corpus.push(random.pick(inputs), random.pick(inputs));
    for (const input of inputs) {
      failure(target, input);
      if (coverage.take()) corpus.push(input);
    }
  }
  return outcome(null);
}

function failure(target: Target, input: Buffer): Error | null {
  const begun = performance.now();
  try {
    target.check(input);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
  const took = performance.now() - begun;
  return took > longestMs ? new Error(`took ${Math.round(took)} ms`) : null;
}

/** The input without what the failure does not need. */
function smallest(target: Target, input: Buffer): Buffer {
  let small = input;
  let left = mostShrinking;
  for (let step = Math.ceil(small.length / 2); step >= 1; step = Math.floor(step / 2)) {
    for (let at = 0; at + step <= small.length && left > 0; ) {
      left--;
      const without = Buffer.concat([small.subarray(0, at), small.subarray(at + step)]);
      if (failure(target, without)) small = without;
      else at += step;
    }
  }
  return small;
}
