/**
 * What the log says of work that is tried again and again, several times a second, such as that of a replica while the
 * database is away: the first failure and each other one, not each repetition.
 */
export class FailureLog {
  readonly #log: { error(facts: object, message: string): void };
  readonly #message: string;
  #last: string | null = null;

  constructor(log: { error(facts: object, message: string): void }, message: string) {
    this.#log = log;
    this.#message = message;
  }

  failed(error: unknown): void {
    const text = String(error);
    if (text === this.#last) return;
    this.#last = text;
    this.#log.error({ err: error }, this.#message);
  }

  /** The next failure is news again. */
  worked(): void {
    this.#last = null;
  }
}
