/** When one registration may be tried again: its failures so far, and the registrar's rejection while it applies. */
import type { Environment } from '../srf/environment.ts';
import type { RefusedRegistration } from './refused-registrations.ts';
import type { Failure } from './register-answer.ts';
import { pauseAfter, type RetrySettings } from './register-schedule.ts';

/** Between two attempts caused by record changes, ms: a client that updates in a loop must not flood a registrar. */
const shortestUpdateGapMs = 5_000;

interface Rejection {
  readonly kept: RefusedRegistration;
  /** On the clock's elapsed time. */
  readonly endsAt: number;
}

/** All times are measured on the clock's elapsed time, except those that are kept over a restart. */
export class RegisterRetries {
  readonly #environment: Pick<Environment, 'clock' | 'random'>;
  readonly #settings: RetrySettings;
  /** Consecutive failures. */
  #failures = 0;
  /** Rejections since setup that need manual action. */
  #refusals = 0;
  /** When the record was attached or changed; null: before the edge started, or it has registered since. */
  #setUpAt: number | null = null;
  /** When the last attempt started. */
  #triedAt = Number.NEGATIVE_INFINITY;
  /** The registrar is not contacted until it ends, even if the engine is lost. */
  #rejection: Rejection | null;

  /** @param refused the registrar's rejection from before the edge started */
  constructor(
    environment: Pick<Environment, 'clock' | 'random'>,
    settings: RetrySettings,
    refused: RefusedRegistration | null,
  ) {
    this.#environment = environment;
    this.#settings = settings;
    this.#rejection = refused === null ? null : this.#remaining(refused);
  }

  /** The rejection because of which the registrar is not contacted; null: there is none. */
  get refused(): RefusedRegistration | null {
    return this.#rejection?.kept ?? null;
  }

  /** How long that rejection still applies, ms. */
  get heldMs(): number {
    return this.#rejection === null ? 0 : Math.max(0, this.#rejection.endsAt - this.#elapsed);
  }

  /** How long an attempt that a change of the record causes must still wait, ms. */
  get updateGapMs(): number {
    return Math.max(0, this.#triedAt + shortestUpdateGapMs - this.#elapsed);
  }

  /** The record was attached or changed: retries are frequent from now on. */
  setUp(): void {
    this.#setUpAt = this.#elapsed;
    this.#failures = 0;
    this.#refusals = 0;
  }

  /** Somebody wants an attempt in spite of the rejection. */
  forget(): void {
    this.#rejection = null;
  }

  started(): void {
    this.#triedAt = this.#elapsed;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#refusals = 0;
    this.#setUpAt = null;
    this.#rejection = null;
  }

  failed({ lasting }: Failure): void {
    this.#failures++;
    if (lasting) this.#refusals++;
  }

  /** The pause after the last failure, ms. A lasting failure applies until its end. */
  pauseAfter(failure: Failure): number {
    const { clock, random } = this.#environment;
    const sinceSetUpMs = this.#setUpAt === null ? null : this.#elapsed - this.#setUpAt;
    const tries = { failures: this.#failures, refusals: this.#refusals, sinceSetUpMs };
    const pauseMs = pauseAfter(failure, tries, this.#settings, random);
    if (failure.lasting) {
      const { sipCode, error } = failure;
      const kept = { until: clock.now() + pauseMs, pauseMs, sipCode, error };
      this.#rejection = { kept, endsAt: this.#elapsed + pauseMs };
    } else if (this.heldMs === 0) {
      this.#rejection = null;
    }
    return pauseMs;
  }

  get #elapsed(): number {
    return this.#environment.clock.elapsed();
  }

  /** A rejection whose pause is not over. It lasts no longer than that pause: the host's clock may have been set. */
  #remaining(refused: RefusedRegistration): Rejection | null {
    const now = this.#environment.clock.now();
    const leftMs = Math.min(refused.until - now, refused.pauseMs);
    if (leftMs <= 0) return null;
    return { kept: { ...refused, until: now + leftMs }, endsAt: this.#elapsed + leftMs };
  }
}
