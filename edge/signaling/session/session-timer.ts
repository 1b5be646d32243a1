/** Session timers (RFC 4028): the negotiation as pure functions, and the timer that results from it. */
import type { Clock, Timer } from '#shared/clock.ts';
import type { SessionSettings } from '../srf/environment.ts';
import { type HeaderFields, headerOf, tokensOf } from '../srf/headers.ts';

export const sessionIntervals: SessionSettings = {
  // RFC 4028 section 4 recommends half an hour.
  expiresS: 1800,
  // The least that RFC 4028 allows: a peer that wants short intervals gets them.
  minS: 90,
};

/**
 * The session timer fields of a request or response. `refresher` as written: the uac or uas of that message's
 * transaction. Intervals are limited to `longestS`.
 */
export interface SessionTimerFields {
  readonly supportsTimer: boolean;
  readonly expiresS: number | null;
  readonly refresher: 'uac' | 'uas' | null;
  readonly minS: number | null;
}

export function readSession(headers: HeaderFields): SessionTimerFields {
  const expires = headerOf(headers, 'session-expires');
  const refresher = /;\s*refresher\s*=\s*"?(uac|uas)"?/i.exec(expires ?? '')?.[1]?.toLowerCase();
  const options = [...tokensOf(headerOf(headers, 'supported')), ...tokensOf(headerOf(headers, 'require'))];
  return {
    supportsTimer: options.includes('timer'),
    expiresS: secondsOf(expires),
    refresher: refresher === 'uac' || refresher === 'uas' ? refresher : null,
    minS: secondsOf(headerOf(headers, 'min-se')),
  };
}

/**
 * Longest session interval accepted from a peer, seconds: a day, as for registrations. RFC 4028 has no upper
 * bound, but a refresh less often than daily detects nothing.
 */
const longestS = 86_400;

/** Leading delta-seconds of a value, null when there are none. */
function secondsOf(value: string | undefined): number | null {
  const digits = /^\s*(\d+)/.exec(value ?? '')?.[1];
  return digits === undefined ? null : Math.min(Number(digits), longestS);
}

/** RFC 4028 section 4: the minimum interval. */
const absoluteMinS = 90;

/** RFC 4028 section 7.4: how often a 422 may raise the interval of one request, or of one refresh. */
export const maxIntervalTries = 3;

export type SessionAnswer =
  /** 422 with this Min-SE. */
  | { readonly kind: 'too_small'; readonly minS: number }
  /** The session does not expire. */
  | { readonly kind: 'none' }
  | { readonly kind: 'timer'; readonly expiresS: number; readonly refresher: 'uac' | 'uas' };

/**
 * The UAS's choice for an INVITE or UPDATE (RFC 4028 section 9 and its table 2).
 * @param unnamedRefresher when the request has an interval but names no refresher
 */
export function answerSession(
  fields: SessionTimerFields,
  settings: SessionSettings,
  unnamedRefresher: 'uac' | 'uas' = 'uac',
): SessionAnswer {
  const ourMin = Math.max(settings.minS, absoluteMinS);
  if (fields.expiresS === null) {
    if (!fields.supportsTimer) return { kind: 'none' };
    const expiresS = Math.max(settings.expiresS, fields.minS ?? 0, ourMin);
    return { kind: 'timer', expiresS, refresher: fields.refresher ?? 'uas' };
  }
  // A caller without the extension cannot handle a 422: the interval came from a proxy.
  if (fields.expiresS < ourMin && fields.supportsTimer) return { kind: 'too_small', minS: ourMin };
  const expiresS = Math.max(Math.min(fields.expiresS, settings.expiresS), fields.minS ?? 0, ourMin);
  if (!fields.supportsTimer) return { kind: 'timer', expiresS, refresher: 'uas' };
  return { kind: 'timer', expiresS, refresher: fields.refresher ?? unnamedRefresher };
}

/**
 * How our session runs after the 2xx to our request; null: it does not expire.
 * @param askedS applies when the 2xx names no interval (RFC 4028 section 7.2: for the first INVITE, a missing
 * interval means no session timer)
 */
export function runOfAnswer(
  { expiresS, refresher }: SessionTimerFields,
  askedS: number | null,
): SessionRun | null {
  const agreedS = expiresS ?? askedS;
  if (agreedS === null) return null;
  // An interval below the minimum is not followed: constant refreshes would end the call too.
  return { expiresS: Math.max(agreedS, absoluteMinS), weRefresh: refresher !== 'uas' };
}

/** Headers of a 2xx for the negotiated session. A uac as refresher is announced with Require (section 9). */
export function sessionHeaders(answer: SessionAnswer): Record<string, string> {
  if (answer.kind !== 'timer') return {};
  return {
    'Session-Expires': `${answer.expiresS};refresher=${answer.refresher}`,
    ...(answer.refresher === 'uac' ? { Require: 'timer' } : {}),
  };
}

/** The refresh behavior of a session. */
export interface SessionRun {
  readonly expiresS: number;
  readonly weRefresh: boolean;
}

/** The timer of one session. Refreshes at a share of the interval, or gives up shortly before its end (section 10). */
export class SessionTimer {
  readonly #clock: Clock;
  readonly #refresh: () => void;
  readonly #expired: () => void;
  #timers: Timer[] = [];
  readonly #share: () => number;
  #run: SessionRun | null = null;
  #expiresAt = 0;

  /** @param share of the interval after which `refresh` is due */
  constructor(clock: Clock, refresh: () => void, expired: () => void, share: () => number) {
    this.#clock = clock;
    this.#share = share;
    this.#refresh = refresh;
    this.#expired = expired;
  }

  /** The running session, null when it does not expire. */
  get run(): SessionRun | null {
    return this.#run;
  }

  /** Milliseconds until the session is given up; null: it does not expire. */
  get leftMs(): number | null {
    return this.#run === null ? null : Math.max(0, this.#expiresAt - this.#clock.elapsed());
  }

  /** Restarts the timer after each 2xx that refreshed the session; null: it no longer expires. */
  restart(run: SessionRun | null): void {
    this.stop();
    this.#run = run;
    if (!run) return;
    const margin = Math.min(32, run.expiresS / 3);
    const leftMs = (run.expiresS - margin) * 1000;
    this.#expiresAt = this.#clock.elapsed() + leftMs;
    this.#timers.push(this.#clock.after(leftMs, this.#expired));
    if (run.weRefresh)
      this.#timers.push(this.#clock.after(run.expiresS * 1000 * this.#share(), this.#refresh));
  }

  stop(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers = [];
    this.#run = null;
  }
}
