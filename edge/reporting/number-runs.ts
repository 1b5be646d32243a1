/** Numbers without a gap, both ends included. */
export interface NumberRun {
  readonly first: number;
  readonly last: number;
}

/** The numbers of reports that are not acknowledged, as runs without gaps: each start leaves a gap. Pure. */
export class NumberRuns {
  readonly #runs: { first: number; last: number }[] = [];
  /** How many there are. */
  size = 0;
  /** The highest number ever added. */
  last = 0;

  /** @param first above all numbers so far */
  add(first: number, count: number): void {
    const run = this.#runs.at(-1);
    this.last = first + count - 1;
    if (run?.last === first - 1) run.last = this.last;
    else this.#runs.push({ first, last: this.last });
    this.size += count;
  }

  /** Ascending. */
  get runs(): readonly NumberRun[] {
    return this.#runs;
  }

  /** All numbers up to `seq` are acknowledged. */
  acknowledge(seq: number): void {
    for (let run = this.#runs[0]; run && run.first <= seq; run = this.#runs[0]) {
      const next = Math.min(seq, run.last) + 1;
      this.size -= next - run.first;
      run.first = next;
      if (run.first <= run.last) return;
      this.#runs.shift();
    }
  }
}

/** The numbers above `after` of `expected`, which is in any order, that `present` does not have. */
export function missingNumbers(
  expected: readonly NumberRun[],
  present: readonly NumberRun[],
  after: number,
): NumberRuns {
  const missing = new NumberRuns();
  let next = after + 1;
  for (const { first, last } of expected.toSorted((one, other) => one.first - other.first)) {
    next = Math.max(next, first);
    for (const run of present) {
      if (run.last < next) continue;
      if (run.first > last) break;
      if (run.first > next) missing.add(next, run.first - next);
      next = run.last + 1;
    }
    if (next <= last) missing.add(next, last - next + 1);
    next = Math.max(next, last + 1);
  }
  return missing;
}

/** The numbers of `runs` up to `most`. */
export function runsUpTo(most: number, runs: readonly NumberRun[]): NumberRun[] {
  return runs
    .filter(({ first }) => first <= most)
    .map(({ first, last }) => ({ first, last: Math.min(last, most) }));
}

/** How many numbers above `after` both have. */
export function commonNumbers(one: readonly NumberRun[], other: readonly NumberRun[], after: number): number {
  const present = other.filter(({ first, last }) => first <= last);
  return missingNumbers(one, [], after).size - missingNumbers(one, present, after).size;
}
