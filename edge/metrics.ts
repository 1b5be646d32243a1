/** Counters and gauges of the edge, by Prometheus name. */

/** Counters and gauges; labels are part of the key, as in the text format: `name{label="value"}`. */
export class Metrics {
  readonly #counters = new Map<string, number>();
  readonly #gauges = new Map<string, () => number>();

  /** Adds one to a counter. Label values must come from a fixed set, or the number of counters would be unbounded. */
  count(name: string, labels: Readonly<Record<string, string>> = {}): void {
    const key = keyOf(name, labels);
    this.#counters.set(key, (this.#counters.get(key) ?? 0) + 1);
  }

  /** A value that is read on export. */
  gauge(name: string, read: () => number): void {
    this.#gauges.set(name, read);
  }

  snapshot(): Record<string, number> {
    const values = Object.fromEntries(this.#counters);
    for (const [name, read] of this.#gauges) values[name] = read();
    return values;
  }
}

function keyOf(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
}
