/** What the log says of a database that is down: each change, however often somebody looks. Balancers look every second. */
import type { Clock } from '#shared/clock.ts';

interface Log {
  error(facts: object, message: string): void;
  info(facts: object, message: string): void;
}

export class OutageLog {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #log: Log;
  #outage: { readonly since: number; cause: string } | null = null;

  constructor(clock: Pick<Clock, 'elapsed'>, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** @param cause another one than before is logged too */
  down(cause: string, error: unknown): void {
    if (this.#outage?.cause === cause) return;
    if (this.#outage === null) this.#outage = { since: this.#clock.elapsed(), cause };
    else this.#outage.cause = cause;
    this.#log.error({ err: error }, 'database is down');
  }

  up(): void {
    if (this.#outage === null) return;
    const down_s = Math.round((this.#clock.elapsed() - this.#outage.since) / 100) / 10;
    this.#outage = null;
    this.#log.info({ down_s }, 'database is back');
  }
}
