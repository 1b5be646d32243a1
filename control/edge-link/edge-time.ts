/** An edge's clock, estimated from the times in its frames. */

/** The edge sends a status every 10 s, so a clock set back is known for sure after a minute. */
const mostKept = 6;

export class EdgeTime {
  /** How far the edge's clock seemed to be ahead of ours, ms. Network delay makes it look like less. */
  #ahead: number[] = [];

  /** @param at the edge's time, ISO; absent in frames of older edges @param now our time, ms */
  note(at: string | undefined, now: number): void {
    const shown = Date.parse(at ?? '');
    if (Number.isNaN(shown)) return;
    this.#ahead = [...this.#ahead.slice(1 - mostKept), shown - now];
  }

  /** The edge's time when ours is `time` (ms), or slightly earlier, never later. @returns ISO; null while unknown */
  at(time: number): string | null {
    if (this.#ahead.length === 0) return null;
    return new Date(time + Math.max(...this.#ahead)).toISOString();
  }
}
