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
