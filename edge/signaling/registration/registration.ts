/**
 * One binding at a registrar (RFC 3261 section 10.2), kept as long as it is configured:
 *
 *             start                  200
 *     idle ----------> registering ------> bound <----------+
 *      ^                |  ^  ^              |  | refresh    | 200
 *      |             no |  |  +-- flow lost -+  +-> refreshing
 *      |                v  | time, tryNow    |        | no, flow lost: registering
 *      |               waiting               |        |
 *      |                                     |        |
 *      +- engine lost: from everywhere       +-- end --> ending --> ended <-- end: from everywhere else
 *
 * The flow is the connection over which the registrar's calls arrive. Engines do not report its loss, so it is
 * checked periodically. If the registrar reports the port that it sees us at, OPTIONS is enough: another port means
 * another connection, over which the registrar does not know us. Otherwise a REGISTER is sent, which also repairs a
 * lost flow.
 *
 * An attempt starts only within the budget of its organization at the registrar (refusal-budget.ts); otherwise
 * it waits.
 */
import type { Timer } from '#shared/clock.ts';
import { isSameHost } from '#shared/networks.ts';
import { unresolvedProblem } from '../../call/causes/cause-words.ts';
import type { Log } from '../../call/log.ts';
import type { DialTarget } from '../../call/ports/dialing.ts';
import type { Environment } from '../srf/environment.ts';
import type { Exchange } from '../srf/exchange.ts';
import { mostRefusals, type RefusalShare, refusalWindowMs } from './refusal-budget.ts';
import type { RefusedRegistration } from './refused-registrations.ts';
import type { Failure } from './register-answer.ts';
import { type BindOutcome, type Flow, RegisterExchange } from './register-exchange.ts';
import { type Registrar, registrarPlace } from './register-request.ts';
import { pauseAfter, type RetrySettings } from './register-schedule.ts';

export interface RegistrationSettings extends RetrySettings {
  /** Registrations started per second. */
  readonly perSecond: number;
  /** For one request, including connection setup, ms. */
  readonly timeoutMs: number;
  /** Interval of the connection checks, ms; 0: none. */
  readonly keepaliveMs: number;
}

/** Where a registrar can be reached, best target first; every target is permitted (contract 1.9). */
export type RegistrarPlaces =
  | { readonly ok: true; readonly targets: readonly DialTarget[] }
  | { readonly ok: false; readonly message: string };

/** State of a binding, for other components. */
export interface BindingState {
  readonly state: 'registering' | 'registered' | 'failed' | 'ended';
  /** When the binding ends unless it is refreshed, ms since the epoch; null without one. */
  readonly expiresAt: number | null;
  /** When the next attempt after a failure starts, ms since the epoch; null: none is pending. */
  readonly nextTryAt: number | null;
  /** Status of the registrar's last answer to a REGISTER. */
  readonly sipCode: number | null;
  /** One sentence; kept until the next success. With a binding: why it may not work. */
  readonly lastError: string | null;
}

export interface RegistrationParts {
  readonly environment: Pick<Environment, 'clock' | 'random' | 'publicAddress' | 'software'>;
  readonly log: Log;
  readonly registrar: Registrar;
  readonly exchange: Exchange;
  /** Never rejects. */
  readonly resolve: () => Promise<RegistrarPlaces>;
  readonly settings: RegistrationSettings;
  /** Whether its record was just attached or changed: the PBX may learn the password in the next minutes. */
  readonly setUp: boolean;
  /** The registrar's rejection from before the edge started; null: none that still applies. */
  readonly refused?: RefusedRegistration | null;
  readonly budget: RefusalShare;
  /** Called after every change of `state`, refreshes included. */
  readonly changed: () => void;
}

type Phase = 'idle' | 'registering' | 'waiting' | 'bound' | 'refreshing' | 'ending' | 'ended';

const moves: Readonly<Record<Phase, readonly Phase[]>> = {
  idle: ['registering', 'waiting', 'ended'],
  registering: ['bound', 'waiting', 'idle', 'ended'],
  waiting: ['registering', 'idle', 'ended'],
  bound: ['refreshing', 'registering', 'ending', 'idle', 'ended'],
  refreshing: ['bound', 'waiting', 'idle', 'ended'],
  ending: ['ended'],
  ended: [],
};

/** With a shorter granted interval, the refresh is still no sooner than this, ms. */
const shortestRefreshMs = 5_000;
/** Between two attempts caused by record changes, ms: a client that updates in a loop must not flood a registrar. */
const shortestUpdateGapMs = 5_000;
/** Shorter waits for the answers to other attempts are not reported, ms. */
const tellingMs = 1_000;

export class Registration {
  readonly #parts: RegistrationParts;
  readonly #requests: RegisterExchange;
  #phase: Phase = 'idle';
  #state: BindingState = {
    state: 'registering',
    expiresAt: null,
    nextTryAt: null,
    sipCode: null,
    lastError: null,
  };
  #flow: Flow | null = null;
  /**
   * Address of the registrar that granted the last binding; kept after the binding ends, as calls may still
   * arrive.
   */
  #boundAt: string | null = null;
  /** Consecutive failures. */
  #failures = 0;
  /** Rejections since setup that need manual action. */
  #refusals = 0;
  /** When the record was attached or changed, ms; null: before the edge started, or it has registered since. */
  #setUpAt: number | null;
  /** When the last attempt started, ms. */
  #triedAt = Number.NEGATIVE_INFINITY;
  /** The registrar's rejection: it is not contacted until the pause ends, even if the engine is lost. */
  #refused: RefusedRegistration | null = null;
  /** The pending attempt started before someone requested one. */
  #again = false;
  /** The pending attempt counts in the budget. */
  #counted = false;
  /** Callbacks that wait for the outcome of a requested attempt. */
  #asked: (() => void)[] = [];
  /** The current attempt; results of an earlier one are ignored. */
  #attempt = 0;
  readonly #timers = new Set<Timer>();
  #onEnded: (() => void) | null = null;
  /** Limits the wait for the end. */
  #limit: Timer | null = null;

  constructor(parts: RegistrationParts) {
    this.#parts = parts;
    this.#setUpAt = parts.setUp ? parts.environment.clock.now() : null;
    this.#refused = this.#stillRefused(parts.refused ?? null);
    if (this.#refused) {
      const { until: nextTryAt, sipCode, error: lastError } = this.#refused;
      this.#state = { ...this.#state, state: 'failed', nextTryAt, sipCode, lastError };
    }
    this.#requests = new RegisterExchange({ ...parts, timeoutMs: parts.settings.timeoutMs });
  }

  get state(): BindingState {
    return this.#state;
  }

  /** Address of the registrar that granted the last binding; null: none has. */
  get boundAt(): string | null {
    return this.#boundAt;
  }

  /** The rejection because of which the registrar is not contacted; null: there is none. */
  get refused(): RefusedRegistration | null {
    return this.#refused;
  }

  /** Starts to register; no effect unless idle. */
  start() {
    if (this.#phase !== 'idle' || this.#onEnded) return;
    const refused = this.#refused;
    if (refused && refused.until > this.#now) this.#wait(this.#until(refused.until, refused.pauseMs));
    else this.#register('registering');
  }

  /**
   * Tries now instead of later, and refreshes a binding. If an attempt is pending and fails, another one follows.
   * @param settled called once, with the outcome in `state`
   */
  tryNow(settled: () => void = () => {}) {
    if (this.#onEnded) return settled();
    this.#asked.push(settled);
    this.#refused = null;
    switch (this.#phase) {
      case 'waiting':
        return this.#begin(null);
      case 'bound':
        return this.#register('refreshing');
      case 'registering':
      case 'refreshing':
        this.#again = true;
    }
  }

  /** The record was changed: a failed registration is tried at once, with frequent retries from now on. */
  setUpAgain() {
    if (this.#phase === 'bound' || this.#phase === 'refreshing') return;
    this.#setUpAt = this.#now;
    this.#failures = 0;
    this.#refusals = 0;
    const earliest = this.#triedAt + shortestUpdateGapMs;
    if (this.#phase !== 'waiting' || earliest <= this.#now) this.tryNow();
    else if ((this.#state.nextTryAt ?? 0) > earliest) {
      this.#halt();
      this.#tell({ nextTryAt: this.#tryAfter(this.#until(earliest, shortestUpdateGapMs)) });
    }
  }

  /** The engine is lost, and with it every connection and pending answer. `start` starts again. */
  engineLost() {
    if (this.#phase === 'ended') return;
    this.#halt();
    this.#flow = null;
    if (this.#onEnded) return this.#finish();
    if (this.#phase === 'idle') return;
    this.#move('idle');
    // The registrar's rejection still applies.
    if ((this.#refused?.until ?? this.#now) <= this.#now) {
      const lastError = 'The SIP engine of the edge was lost.';
      this.#tell({ state: 'failed', expiresAt: null, nextTryAt: null, lastError });
    }
    this.#again = false;
    this.#settle();
  }

  /**
   * Removes the binding and calls `ended`, once.
   * @param limitMs maximum wait for the registrar
   */
  end(limitMs: number, ended: () => void) {
    if (this.#phase === 'ended') return ended();
    const before = this.#onEnded;
    this.#onEnded = () => {
      before?.();
      ended();
    };
    if (before) return;
    if (this.#phase === 'idle' || this.#phase === 'waiting') return this.#finish();
    this.#limit = this.#parts.environment.clock.after(limitMs, () => this.#finish());
    // RFC 3261 section 10.2: no new REGISTER before the last one is answered.
    if (this.#phase === 'bound') this.#unregister();
  }

  get #now(): number {
    return this.#parts.environment.clock.now();
  }

  /** ms until then; at most the whole pause, when the clock was set back meanwhile. */
  #until(at: number, wholeMs: number): number {
    return Math.min(wholeMs, Math.max(0, at - this.#now));
  }

  #move(to: Phase) {
    if (!moves[this.#phase].includes(to)) {
      throw new Error(`a registration cannot go from ${this.#phase} to ${to}`);
    }
    this.#phase = to;
  }

  /** A rejection whose pause is not over; the clock may have been set meanwhile. */
  #stillRefused(refused: RefusedRegistration | null): RefusedRegistration | null {
    if (refused === null || refused.until <= this.#now) return null;
    return { ...refused, until: Math.min(refused.until, this.#now + refused.pauseMs) };
  }

  #tell(news: Partial<BindingState>) {
    this.#state = { ...this.#state, ...news };
    this.#parts.changed();
  }

  #settle() {
    for (const settled of this.#asked.splice(0)) settled();
  }

  #after(ms: number, fire: () => void) {
    const timer = this.#parts.environment.clock.after(ms, () => {
      this.#timers.delete(timer);
      fire();
    });
    this.#timers.add(timer);
  }

  /** Stops waiting, and makes pending results ignored. */
  #halt() {
    this.#attempt++;
    this.#requests.abandon();
    if (this.#counted) this.#parts.budget.end();
    this.#counted = false;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  /** A random value from `low` to `high` times `ms`. */
  #jittered(ms: number, low: number, high: number): number {
    return Math.round(ms * (low + (high - low) * this.#parts.environment.random()));
  }

  // ---------------------------------------------------------------- register and refresh

  /** Starts again. @param lastError what ended the binding; null: keeps the previous text */
  #begin(lastError: string | null) {
    if (!this.#register('registering')) return;
    this.#tell({
      state: 'registering',
      expiresAt: null,
      nextTryAt: null,
      ...(lastError !== null && { lastError }),
    });
  }

  /** @returns false when the budget is used up, and the wait was reported */
  #register(phase: 'registering' | 'refreshing'): boolean {
    this.#halt();
    this.#move(phase);
    // A refresh keeps what the registrar has accepted.
    if (phase === 'registering') {
      const waitMs = this.#parts.budget.begin();
      if (waitMs > 0) return this.#waitForBudget(waitMs);
      this.#counted = true;
    }
    this.#triedAt = this.#now;
    const attempt = this.#attempt;
    void this.#parts.resolve().then((places) => {
      if (attempt !== this.#attempt) return;
      if (this.#onEnded && phase === 'registering') return this.#finish();
      if (!places.ok) return this.#failed(unresolved(this.#parts.registrar, places.message));
      // A refresh goes to the target with the binding, while the registrar still has that target.
      const known = places.targets.find((target) => isSamePlace(target, this.#flow?.target));
      const others = places.targets.filter((target) => target !== known);
      this.#requests.bind(known ? [known, ...others] : others, (outcome) => {
        if (outcome.kind === 'bound') this.#bound(outcome);
        else this.#failed(outcome.failure);
      });
    });
    return true;
  }

  #waitForBudget(waitMs: number): boolean {
    const nextTryAt = this.#wait(waitMs);
    if (waitMs < tellingMs) return true;
    const lastError = overBudget(this.#parts.registrar);
    this.#parts.log.warn({ error: lastError, retry_ms: waitMs }, 'not registered');
    this.#tell({ state: 'failed', expiresAt: null, nextTryAt, lastError });
    this.#settle();
    return false;
  }

  #bound({ flow, expiresS, sipCode, doubt }: Extract<BindOutcome, { kind: 'bound' }>) {
    this.#halt();
    this.#move('bound');
    this.#flow = flow;
    this.#boundAt = flow.target.address ?? null;
    this.#failures = 0;
    this.#refusals = 0;
    this.#refused = null;
    this.#setUpAt = null;
    this.#again = false;
    if (this.#onEnded) return this.#unregister();
    const expiresMs = expiresS * 1000;
    this.#after(Math.max(shortestRefreshMs, this.#jittered(expiresMs, 0.6, 0.8)), () =>
      this.#register('refreshing'),
    );
    this.#scheduleKeepalive(flow);
    const expiresAt = this.#now + expiresMs;
    this.#tell({ state: 'registered', expiresAt, nextTryAt: null, sipCode, lastError: doubt });
    this.#settle();
  }

  #failed(failure: Failure) {
    this.#halt();
    this.#flow = null;
    if (this.#onEnded) return this.#finish();
    this.#failures++;
    if (failure.lasting) {
      this.#refusals++;
      this.#parts.budget.refused();
    }
    const { environment, settings, log } = this.#parts;
    const sinceSetUpMs = this.#setUpAt === null ? null : this.#now - this.#setUpAt;
    const tries = { failures: this.#failures, refusals: this.#refusals, sinceSetUpMs };
    if (this.#again) {
      this.#again = false;
      this.#move('waiting');
      return this.#begin(null);
    }
    const waitMs = pauseAfter(failure, tries, settings, environment.random);
    const { error, sipCode } = failure;
    this.#refused = failure.lasting
      ? { until: this.#now + waitMs, pauseMs: waitMs, sipCode, error }
      : this.#stillRefused(this.#refused);
    log.warn({ sip_status: sipCode, error, retry_ms: waitMs }, 'not registered');
    const nextTryAt = this.#wait(waitMs);
    this.#tell({ state: 'failed', expiresAt: null, nextTryAt, sipCode, lastError: error });
    this.#settle();
  }

  /** @returns when the next attempt starts, ms since the epoch */
  #wait(ms: number): number {
    this.#move('waiting');
    return this.#tryAfter(ms);
  }

  #tryAfter(ms: number): number {
    this.#after(ms, () => this.#register('registering'));
    return this.#now + ms;
  }

  // ---------------------------------------------------------------- the flow

  #scheduleKeepalive(flow: Flow) {
    const { keepaliveMs } = this.#parts.settings;
    if (keepaliveMs === 0) return;
    // RFC 5626 section 4.4: 80 to 100 %, so that many flows do not synchronize.
    this.#after(this.#jittered(keepaliveMs, 0.8, 1), () => {
      if (flow.rport === null) return this.#register('refreshing');
      this.#requests.keepAlive(flow, (lost) => {
        if (lost === null) this.#scheduleKeepalive(flow);
        else this.#flowLost(lost);
      });
    });
  }

  #flowLost(lastError: string) {
    this.#parts.log.warn({ error: lastError }, 'registration lost');
    this.#begin(lastError);
  }

  // ---------------------------------------------------------------- the end

  #unregister() {
    const flow = this.#flow;
    if (!flow) return this.#finish();
    this.#halt();
    this.#move('ending');
    this.#requests.unbind(flow.target, () => this.#finish());
  }

  #finish() {
    if (this.#phase === 'ended') return;
    this.#halt();
    this.#limit?.cancel();
    this.#move('ended');
    this.#flow = null;
    this.#tell({ state: 'ended', expiresAt: null, nextTryAt: null });
    this.#settle();
    this.#onEnded?.();
  }
}

function unresolved(registrar: Registrar, why: string): Failure {
  const error = unresolvedProblem(registrarPlace(registrar), why);
  return { error, sipCode: null, retryAfterS: null, lasting: false };
}

function overBudget(registrar: Registrar): string {
  const minutes = refusalWindowMs / 60_000;
  return (
    `${registrarPlace(registrar)} has refused ${mostRefusals} registrations of this organization within ${minutes} ` +
    'minutes. More would have the edge banned there for everybody; correct user names and passwords.'
  );
}

function isSamePlace(one: DialTarget, other: DialTarget | undefined): boolean {
  if (one.port !== other?.port) return false;
  // Without addresses, both resolve from the registrar's name.
  return one.address === other.address || isSameHost(one.address ?? '', other.address ?? '');
}
