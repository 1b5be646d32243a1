import { RoomyMap } from '#shared/roomy-map.ts';

/** An application that keeps up says that a call rings, or what else becomes of it, within a fraction of a second. */
const behindMs = 1_000;

/**
 * How far an application is behind with new INVITEs, by how long the last one waited for a first response. More calls than
 * it can take would make all of them wait longer and longer, until their callers give up and none is answered. Those that
 * are refused at once find another edge, and cost the application nothing.
 */
export class FirstWords {
  /** INVITEs that wait, by source. */
  readonly #waitingOf = new RoomyMap<string, number>();
  #waiting = 0;
  #lastWaitMs = 0;

  /** The application has got one more. @param source who shares limits with its sender (`Flow.group`) */
  asked(source: string): void {
    this.#waiting++;
    this.#waitingOf.set(source, (this.#waitingOf.get(source) ?? 0) + 1);
  }

  /** One has its first response, or is over. */
  said(source: string, waitMs: number): void {
    this.#waiting--;
    const left = (this.#waitingOf.get(source) ?? 0) - 1;
    if (left > 0) this.#waitingOf.set(source, left);
    else this.#waitingOf.delete(source);
    this.#lastWaitMs = waitMs;
  }

  /**
   * Whether another one of this source is too much. Not when all have been answered: the next one shows whether the
   * application keeps up again. And not of a source that has fewer of them than most: it is not the reason.
   */
  tooMuchOf(source: string): boolean {
    if (this.#waiting === 0 || this.#lastWaitMs <= behindMs) return false;
    return (this.#waitingOf.get(source) ?? 0) >= this.#waiting / this.#waitingOf.size;
  }
}
