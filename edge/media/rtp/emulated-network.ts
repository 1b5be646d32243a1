/**
 * A network path for tests: loss in bursts, jitter, reordering, duplicates. All randomness comes from a seed, so
 * that failures are reproducible.
 */

export interface PathOptions {
  readonly seed: number;
  /** Share of packets lost, 0..1. */
  readonly loss?: number;
  /** Mean length of a run of losses, packets; 1: independent losses. */
  readonly burst?: number;
  /**
   * Packets are delayed by up to this much, evenly distributed; above the packet interval they overtake each
   * other.
   */
  readonly jitterMs?: number;
  /** Share of duplicated packets. */
  readonly duplicates?: number;
}

export interface Arrival<Packet> {
  readonly atMs: number;
  readonly packet: Packet;
}

const baseDelayMs = 30;

/** A generator of numbers from 0 to 1 (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Sends packets over the path. @returns those that arrive, in the order of arrival */
export function carry<Packet>(sent: readonly Arrival<Packet>[], options: PathOptions): Arrival<Packet>[] {
  const random = seededRandom(options.seed);
  const { loss = 0, burst = 1, jitterMs = 0, duplicates = 0 } = options;
  // Gilbert model: a run of losses ends with probability 1/burst, and starts so that the mean loss is `loss`.
  const ends = 1 / burst;
  const begins = loss >= 1 ? 1 : (loss * ends) / (1 - loss);
  const arrivals: Arrival<Packet>[] = [];
  let losing = false;
  for (const { atMs, packet } of sent) {
    losing = losing ? random() >= ends : random() < begins;
    const copies = losing ? 0 : random() < duplicates ? 2 : 1;
    for (let i = 0; i < copies; i++) {
      arrivals.push({ atMs: atMs + baseDelayMs + random() * jitterMs, packet });
    }
  }
  return arrivals.sort((a, b) => a.atMs - b.atMs);
}
