/** An application that keeps up says that a call rings, or what else becomes of it, within a fraction of a second. */
const behindMs = 2_000;

/**
 * How far an application is behind with new INVITEs, by how long the last one waited for a first response. More calls than
 * it can take would make all of them wait longer and longer, until their callers give up and none is answered, and until so
 * much is queued for it that it is disconnected. Those refused at once find another edge, and cost it nothing.
 */
export class FirstWords {
  #waiting = 0;
  #lastWaitMs = 0;

  /** The application has got one more. */
  asked(): void {
    this.#waiting++;
  }

  /** One has its first response, or is over. */
  said(waitMs: number): void {
    this.#waiting--;
    this.#lastWaitMs = waitMs;
  }

  /** Not when it has answered all: the next one shows whether it keeps up again. */
  get behind(): boolean {
    return this.#waiting > 0 && this.#lastWaitMs > behindMs;
  }
}
