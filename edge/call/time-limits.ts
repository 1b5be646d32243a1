/** The time limits of one call: its timers, its maximum duration, and the silence of its peer. */
import type { Clock, Timer } from '#shared/clock.ts';
import { counted } from '#shared/counted.ts';
import { Timers } from '#shared/timers.ts';
import type { CallDeps } from './call-deps.ts';
import type { LiveCall } from './live-call.ts';
import { SilenceWatch } from './silence-watch.ts';

/**
 * Interval at which a silent peer on hold is probed, ms: a vanished peer costs only minutes, and the probes stay rare.
 * No media is due on hold, so this is independent of `MEDIA_TIMEOUT_S`.
 */
const usualHoldQuestionMs = 60_000;

/** Longest call of a browser that has no agent, as the longest `max_duration`. */
const longestDialMinutes = 720;

export class TimeLimits {
  readonly silence: SilenceWatch;
  readonly #call: LiveCall;
  readonly #clock: Clock;
  readonly #timers: Timers;
  #deadline: number | null = null;

  constructor(call: LiveCall, { clock, settings }: Pick<CallDeps, 'clock' | 'settings'>) {
    this.#call = call;
    this.#clock = clock;
    this.#timers = new Timers(clock);
    const { mediaTimeoutMs: mediaMs, holdQuestionMs: holdMs = usualHoldQuestionMs } = settings;
    this.silence = new SilenceWatch(call, clock, { mediaMs, holdMs });
  }

  /** When the maximum duration expires, ms of the clock's elapsed time; null before the answer, or without one. */
  get deadline(): number | null {
    return this.#deadline;
  }

  /** The maximum duration starts with the answer. */
  answered(): void {
    const { plan } = this.#call;
    const isBrowsers = plan.dial !== undefined || plan.supervises !== undefined;
    const minutes = plan.agent?.max_duration ?? (isBrowsers ? longestDialMinutes : 0);
    if (minutes === 0) return;
    const now = this.#clock.elapsed();
    this.#endAt(plan.deadline ?? now + minutes * 60_000, `The call lasted ${counted(minutes, 'minute')}.`);
  }

  /** It goes on without the call that would have ended it then. */
  endBy(deadline: number | null): void {
    if (deadline === null || (this.#deadline ?? Number.POSITIVE_INFINITY) <= deadline) return;
    this.#endAt(deadline, 'The maximum duration of the call that it was joined with is over.');
  }

  #endAt(deadline: number, detail: string): void {
    this.#deadline = deadline;
    this.after(Math.max(0, deadline - this.#clock.elapsed()), () =>
      this.#call.end({ code: 'max_duration', detail }),
    );
  }

  /** A timer that ends with the call. */
  after(ms: number, fire: () => void): Timer {
    return this.#timers.after(ms, fire);
  }

  /** At the end. */
  stop(): void {
    this.#timers.stop();
    this.silence.stop();
  }
}
