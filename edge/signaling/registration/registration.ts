/**
 * One binding at a registrar, kept as long as it is configured: performs the actions of registration-state.ts.
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
import { Stateful } from '#shared/state-machine.ts';
import { Timers } from '#shared/timers.ts';
import type { Log } from '../../call/log.ts';
import type { Environment } from '../srf/environment.ts';
import type { Exchange } from '../srf/exchange.ts';
import { type BindingState, underWay, untried } from './binding-state.ts';
import type { RefusalShare } from './refusal-budget.ts';
import type { RefusedRegistration } from './refused-registrations.ts';
import type { Failure } from './register-answer.ts';
import {
  type BindOutcome,
  type Flow,
  type Found,
  RegisterExchange,
  type RegistrarTargets,
} from './register-exchange.ts';
import { type Registrar, registrarHostPort } from './register-request.ts';
import { RegisterRetries } from './register-retries.ts';
import { isRenewalDue, type RetrySettings } from './register-schedule.ts';
import { budgetProblem } from './register-words.ts';
import { registration } from './registration-state.ts';

export interface RegistrationSettings extends RetrySettings {
  /** Registrations started per second. */
  readonly perSecond: number;
  /** For one request, including connection setup, ms. */
  readonly timeoutMs: number;
  /** Interval of the connection checks, ms; 0: none. */
  readonly keepaliveMs: number;
}

export interface RegistrationParts {
  readonly environment: Pick<
    Environment,
    'clock' | 'random' | 'publicAddress' | 'software' | 'engineIsEmbedded'
  >;
  readonly log: Log;
  readonly registrar: Registrar;
  readonly exchange: Exchange;
  /** Never rejects. */
  readonly resolve: () => Promise<RegistrarTargets>;
  readonly settings: RegistrationSettings;
  /** Whether its record was just attached or changed: the PBX may learn the password in the next minutes. */
  readonly setUp: boolean;
  /** The registrar's rejection from before the edge started; null: none, or it no longer applies. */
  readonly refused?: RefusedRegistration | null;
  readonly budget: RefusalShare;
  /** Called after every change of `state`, refreshes included. */
  readonly changed: () => void;
}

/** With a shorter granted interval, the refresh is still no sooner than this, ms. */
const shortestRefreshMs = 5_000;
/** Shorter waits for the answers to other attempts are not reported, ms. */
const reportedDelayMs = 1_000;

type Bound = Extract<BindOutcome, { kind: 'bound' }>;

export class Registration {
  readonly #parts: RegistrationParts;
  readonly #requests: RegisterExchange;
  readonly #retries: RegisterRetries;
  readonly #machine = new Stateful(registration, 'idle');
  #state: BindingState = untried;
  #flow: Flow | null = null;
  /**
   * Address of the registrar that granted the last binding; kept after the binding ends, as calls may still
   * arrive.
   */
  #boundAt: string | null = null;
  /** When the pause ends, on the clock's elapsed time. */
  #retryAt = 0;
  /** The pending attempt started before somebody requested one: if it fails, another one follows. */
  #again = false;
  /** Ends the pending attempt in the budget; null: none counts there. */
  #counted: (() => void) | null = null;
  /** Callbacks that wait for the outcome of a requested attempt. */
  #asked: (() => void)[] = [];
  readonly #timers: Timers;
  #onEnded: (() => void)[] = [];
  /** Limits the wait for the end. */
  #limit: Timer | null = null;

  constructor(parts: RegistrationParts) {
    const { environment, settings } = parts;
    this.#parts = parts;
    this.#timers = new Timers(environment.clock);
    this.#retries = new RegisterRetries(environment, settings, parts.refused ?? null);
    if (parts.setUp) this.#retries.setUp();
    const { refused } = this.#retries;
    if (refused) {
      const { until: nextTryAt, sipCode, error: lastError } = refused;
      this.#state = { ...untried, state: 'failed', nextTryAt, sipCode, lastError };
    }
    this.#requests = new RegisterExchange({ ...parts, timeoutMs: settings.timeoutMs });
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
    return this.#retries.refused;
  }

  /** Starts to register; no effect unless idle. */
  start() {
    const { heldMs } = this.#retries;
    if (heldMs > 0) this.#machine.take('start later', { wait: () => this.#wait(heldMs) });
    else this.#machine.take('start', { begin: () => this.#begin(null) });
  }

  /**
   * Tries now instead of later, and refreshes a binding. If an attempt is pending and fails, another one follows.
   * @param settled called once, with the outcome in `state`
   */
  tryNow(settled: () => void = () => {}) {
    this.#machine.take('try now', {
      'keep order': () => this.#asked.push(settled),
      'forget rejection': () => this.#retries.forget(),
      'repeat on failure': this.#repeatOnFailure,
      'begin visibly': () => this.#begin(underWay),
      refresh: this.#refresh,
      settle: settled,
    });
  }

  /** The record was changed: a failed registration is tried at once, with frequent retries from now on. */
  setUpAgain() {
    this.#machine.take('record changed', {
      'begin to retry often': () => this.#retries.setUp(),
      'forget rejection': () => this.#retries.forget(),
      'repeat on failure': this.#repeatOnFailure,
      'try soon': () => this.#trySoon(),
    });
  }

  /** The engine is lost, and with it every connection and pending answer. `start` starts again. */
  engineLost() {
    this.#machine.take('engine lost', {
      'report engine lost': () => this.#reportEngineLost(),
      settle: this.#settle,
      finish: this.#finish,
    });
  }

  /**
   * Removes the binding and calls `ended`, once.
   * @param limitMs maximum wait for the registrar
   */
  end(limitMs: number, ended: () => void) {
    this.#onEnded.push(ended);
    this.#machine.take('end', {
      'limit end': () => {
        this.#limit = this.#parts.environment.clock.after(limitMs, () =>
          this.#machine.take('limit', { finish: this.#finish }),
        );
      },
      unregister: this.#unregister,
      finish: this.#finish,
      'confirm end': this.#confirmEnd,
    });
  }

  #report(news: Partial<BindingState>) {
    this.#state = { ...this.#state, ...news };
    this.#parts.changed();
  }

  readonly #settle = (): void => {
    for (const settled of this.#asked.splice(0)) settled();
  };

  /** Stops waiting, and makes pending results ignored. */
  #halt() {
    this.#requests.abandon();
    this.#counted?.();
    this.#counted = null;
    this.#timers.stop();
  }

  /** A random value from `low` to `high` times `ms`. */
  #jittered(ms: number, low: number, high: number): number {
    return Math.round(ms * (low + (high - low) * this.#parts.environment.random()));
  }

  // ---------------------------------------------------------------- attempts

  /** @param news reported once the attempt is under way, or waits only for the answers to others; null: nothing */
  #begin(news: Partial<BindingState> | null) {
    this.#halt();
    const { budget } = this.#parts;
    const waitMs = budget.begin();
    if (waitMs >= reportedDelayMs) {
      return this.#machine.take('over budget', {
        wait: () => this.#wait(waitMs),
        'report over budget': () => this.#reportOverBudget(waitMs),
        settle: this.#settle,
      });
    }
    if (waitMs > 0) this.#machine.take('budget pending', { wait: () => this.#wait(waitMs) });
    else {
      this.#counted = () => budget.end();
      this.#find();
    }
    if (news) this.#report(news);
  }

  /** A refresh keeps what the registrar has accepted, and is in no budget. */
  readonly #refresh = (): void => {
    this.#halt();
    this.#find();
  };

  #find(): void {
    this.#retries.started();
    this.#requests.find(this.#flow?.target ?? null, (found) => {
      if (found.kind === 'failed') this.#failed(found.failure);
      else this.#machine.take('resolved', { 'send REGISTER': () => this.#register(found) });
    });
  }

  #register({ targets }: Extract<Found, { kind: 'found' }>): void {
    this.#requests.bind(targets, (outcome) => {
      if (outcome.kind === 'bound') this.#granted(outcome);
      else this.#failed(outcome.failure);
    });
  }

  readonly #repeatOnFailure = (): void => {
    this.#again = true;
  };

  #granted(outcome: Bound) {
    this.#machine.take('granted', {
      'learn binding': () => {
        this.#halt();
        this.#flow = outcome.flow;
        this.#boundAt = outcome.flow.target.address ?? null;
        this.#again = false;
        this.#retries.succeeded();
      },
      'schedule refresh': () => this.#keepBinding(outcome),
      settle: this.#settle,
      unregister: this.#unregister,
    });
  }

  #keepBinding({ flow, expiresS, sipCode, doubt }: Bound): void {
    const expiresMs = expiresS * 1000;
    this.#timers.after(Math.max(shortestRefreshMs, this.#jittered(expiresMs, 0.6, 0.8)), () =>
      this.#machine.take('refresh due', { refresh: this.#refresh }),
    );
    this.#scheduleCheck(flow);
    const expiresAt = this.#parts.environment.clock.now() + expiresMs;
    this.#report({ state: 'registered', expiresAt, nextTryAt: null, sipCode, lastError: doubt });
  }

  #failed(failure: Failure) {
    const count = () => {
      this.#halt();
      this.#flow = null;
      this.#again = false;
      this.#retries.failed(failure);
      if (failure.lasting) this.#parts.budget.refused();
    };
    if (this.#again) {
      this.#machine.take('repeat', {
        'count failure': count,
        'begin visibly': () => this.#begin(underWay),
        finish: this.#finish,
      });
    } else {
      this.#machine.take('rejected', {
        'count failure': count,
        'plan retry': () => this.#planRetry(failure),
        settle: this.#settle,
        finish: this.#finish,
      });
    }
  }

  #planRetry(failure: Failure): void {
    const { sipCode, error } = failure;
    const waitMs = this.#retries.pauseAfter(failure);
    this.#parts.log.warn({ sip_status: sipCode, error, retry_ms: waitMs }, 'not registered');
    this.#wait(waitMs);
    this.#report({ state: 'failed', expiresAt: null, ...this.#nextTry(), sipCode, lastError: error });
  }

  #wait(ms: number) {
    const { clock } = this.#parts.environment;
    this.#retryAt = clock.elapsed() + ms;
    this.#timers.after(ms, () => this.#machine.take('pause over', { begin: () => this.#begin(null) }));
  }

  /** The end of the pause as wall-clock time. */
  #nextTry(): Pick<BindingState, 'nextTryAt'> {
    const { clock } = this.#parts.environment;
    return { nextTryAt: clock.now() + this.#retryAt - clock.elapsed() };
  }

  /** While it waits: at once, unless the last attempt was just now. */
  #trySoon(): void {
    const { updateGapMs } = this.#retries;
    if (updateGapMs === 0) this.tryNow();
    else if (this.#retryAt > this.#parts.environment.clock.elapsed() + updateGapMs) {
      this.#halt();
      this.#wait(updateGapMs);
      this.#report(this.#nextTry());
    }
  }

  #reportOverBudget(waitMs: number): void {
    const lastError = budgetProblem(registrarHostPort(this.#parts.registrar));
    this.#parts.log.warn({ error: lastError, retry_ms: waitMs }, 'not registered');
    this.#report({ state: 'failed', expiresAt: null, ...this.#nextTry(), lastError });
  }

  #reportEngineLost(): void {
    this.#halt();
    this.#flow = null;
    this.#again = false;
    // The registrar's rejection still applies.
    if (this.#retries.heldMs > 0) return;
    const lastError = 'The SIP engine of the edge was lost.';
    this.#report({ state: 'failed', expiresAt: null, nextTryAt: null, lastError });
  }

  // ---------------------------------------------------------------- the flow

  #scheduleCheck(flow: Flow, boundAt = this.#parts.environment.clock.elapsed()) {
    const { environment, settings } = this.#parts;
    const { keepaliveMs } = settings;
    if (keepaliveMs === 0) return;
    // RFC 5626 section 4.4: 80 to 100 %, so that many flows do not synchronize.
    this.#timers.after(this.#jittered(keepaliveMs, 0.8, 1), () => {
      const sinceBoundMs = environment.clock.elapsed() - boundAt;
      if (isRenewalDue(flow.rport, environment.engineIsEmbedded(), sinceBoundMs))
        this.#machine.take('refresh due', { refresh: this.#refresh });
      else this.#machine.take('check due', { 'send OPTIONS': () => this.#check(flow, boundAt) });
    });
  }

  #check(flow: Flow, boundAt: number): void {
    this.#requests.keepAlive(flow, (lastError) => {
      if (lastError === null) {
        return this.#machine.take('flow works', {
          'schedule check': () => this.#scheduleCheck(flow, boundAt),
        });
      }
      this.#parts.log.warn({ error: lastError }, 'registration lost');
      this.#machine.take('flow lost', { 'begin visibly': () => this.#begin({ ...underWay, lastError }) });
    });
  }

  // ---------------------------------------------------------------- the end

  readonly #unregister = (): void => {
    const flow = this.#flow;
    this.#halt();
    const unbound = () => this.#machine.take('unbound', { finish: this.#finish });
    if (flow) this.#requests.unbind(flow.target, unbound);
    else unbound();
  };

  readonly #finish = (): void => {
    this.#halt();
    this.#limit?.cancel();
    this.#flow = null;
    this.#report({ state: 'ended', expiresAt: null, nextTryAt: null });
    this.#settle();
    this.#confirmEnd();
  };

  readonly #confirmEnd = (): void => {
    for (const ended of this.#onEnded.splice(0)) ended();
  };
}
