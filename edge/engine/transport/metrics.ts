/** Counters since the start, by name. A name is fixed at first use and becomes part of the Prometheus metrics. */
export class Metrics {
  readonly #counters = new Map<string, number>();

  count(name: string, by = 1): void {
    this.#counters.set(name, (this.#counters.get(name) ?? 0) + by);
  }

  snapshot(): Record<string, number> {
    return Object.fromEntries(this.#counters);
  }
}
