/** Counters since the start, by name. Names are fixed by their first use and end up in Prometheus. */
export class Metrics {
  readonly #counters = new Map<string, number>();

  count(name: string, by = 1): void {
    this.#counters.set(name, (this.#counters.get(name) ?? 0) + by);
  }

  snapshot(): Record<string, number> {
    return Object.fromEntries(this.#counters);
  }
}
