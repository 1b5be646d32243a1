/** What an edge's clock shows, by the times that it put into its frames. */

/** The edge sends a status every 10 s: a clock that was set back is known for sure after a minute. */
const mostKept = 6;

export class EdgeTime {
  /** How far the edge's clock seemed to be ahead of ours, ms. The way of a frame makes it seem less than it is. */
  #ahead: number[] = [];

  /** @param at what the edge's clock showed, ISO; absent in frames of older edges @param now ours, ms */
  note(at: string | undefined, now: number): void {
    const shown = Date.parse(at ?? '');
    if (Number.isNaN(shown)) return;
    this.#ahead = [...this.#ahead.slice(1 - mostKept), shown - now];
  }

  /**
   * What the edge's clock shows when ours shows `time` (ms), or a moment before: never later than that.
   * @returns ISO; null while nothing is known
   */
  at(time: number): string | null {
    if (this.#ahead.length === 0) return null;
    return new Date(time + Math.max(...this.#ahead)).toISOString();
  }
}
