/** Counters since the start, by name. A name is fixed at first use and becomes part of the Prometheus metrics. */
export class Metrics {
  readonly #counters = new Map<string, { value: number }>();

  count(name: string, by = 1): void {
    const counter = this.#counters.get(name);
    if (counter) counter.value += by;
    else this.#counters.set(name, { value: by });
  }

  snapshot(): Record<string, number> {
    return Object.fromEntries([...this.#counters].map(([name, { value }]) => [name, value]));
  }
}
