/**
 * One binding at a registrar (RFC 3261 section 10.2), kept for as long as it is wanted:
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
 * The flow is the connection that calls of the registrar come over. No engine tells of its loss, so it is tried
 * every so often: by OPTIONS where the registrar tells the port that it sees us at, because another port is
 * another connection that the registrar does not know us by, else by a REGISTER, which repairs what is broken.
 *
 * A try begins only within the budget of its organization at the registrar (refusal-budget.ts); else it waits.
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
  /** Registrations begun per second. */
  readonly perSecond: number;
  /** For one request, a connection to be made included, ms. */
  readonly timeoutMs: number;
  /** Between two looks at the connection, ms; 0: none. */
  readonly keepaliveMs: number;
}

/** Where a registrar can be reached, best place first; every place may be contacted (contract 1.9). */
export type RegistrarPlaces =
  | { readonly ok: true; readonly targets: readonly DialTarget[] }
  | { readonly ok: false; readonly message: string };

/** How a binding stands, for those outside. */
export interface BindingState {
  readonly state: 'registering' | 'registered' | 'failed' | 'ended';
  /** When the binding ends unless it is refreshed, ms since the epoch; null without one. */
  readonly expiresAt: number | null;
  /** When the next attempt after a failed one begins, ms since the epoch; null: none is waited for. */
  readonly nextTryAt: number | null;
  /** Status of the registrar's last answer to a REGISTER. */
  readonly sipCode: number | null;
  /** One sentence; stays until the next success. Of a binding: why it may be of no use. */
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
  /** Whether its record was attached or changed now: the PBX may learn the password in the next minutes. */
  readonly setUp: boolean;
  /** What the registrar said before the edge was started; null: nothing that counts on. */
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

/** A registrar that grants less than this is asked again no sooner, ms. */
const shortestRefreshMs = 5_000;
/** Between two tries that changes of the record cause, ms: a client that updates in a loop floods no registrar. */
const shortestUpdateGapMs = 5_000;
/** A wait for the answers to others' tries is no news, ms. */
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
  /** Address of the registrar that gave the last binding; it outlives the binding, as calls may. */
  #boundAt: string | null = null;
  /** Failures in a row. */
  #failures = 0;
  /** Of those since the set-up, the refusals that only a person can end. */
  #refusals = 0;
  /** When the record was attached or changed, ms; null: before the edge was started, or it has registered since. */
  #setUpAt: number | null;
  /** When the last try began, ms. */
  #triedAt = Number.NEGATIVE_INFINITY;
  /** A registrar that refuses is left alone until then, whatever becomes of the engine; ms. */
  #refused: RefusedRegistration | null = null;
  /** The try under way began before somebody asked for one. */
  #again = false;
  /** The try under way counts in the budget. */
  #counted = false;
  /** Those who asked for a try wait for its outcome. */
  #asked: (() => void)[] = [];
  /** Of the attempt under way; what belongs to an earlier one comes too late. */
  #attempt = 0;
  readonly #timers = new Set<Timer>();
  #onEnded: (() => void) | null = null;
  /** Of waiting for the end. */
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

  /** Address of the registrar that gave the last binding; null: none has. */
  get boundAt(): string | null {
    return this.#boundAt;
  }

  /** The refusal for which the registrar is left alone; null: there is none. */
  get refused(): RefusedRegistration | null {
    return this.#refused;
  }

  /** Begins to register; without effect unless idle. */
  start() {
    if (this.#phase !== 'idle' || this.#onEnded) return;
    const refused = this.#refused;
    if (refused && refused.until > this.#now) this.#wait(this.#until(refused.until, refused.pauseMs));
    else this.#register('registering');
  }

  /**
   * Tries now instead of later, and refreshes a binding. A try that is under way is followed by another should it fail.
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

  /** The record was changed: a registration that has failed is tried at once, and closely from now on. */
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

  /** The engine is lost, and every connection and answer with it. `start` begins anew. */
  engineLost() {
    if (this.#phase === 'ended') return;
    this.#halt();
    this.#flow = null;
    if (this.#onEnded) return this.#finish();
    if (this.#phase === 'idle') return;
    this.#move('idle');
    // What the registrar said counts on.
    if ((this.#refused?.until ?? this.#now) <= this.#now) {
      const lastError = 'The SIP engine of the edge was lost.';
      this.#tell({ state: 'failed', expiresAt: null, nextTryAt: null, lastError });
    }
    this.#again = false;
    this.#settle();
  }

  /**
   * Removes the binding and calls `ended`, once.
   * @param limitMs after which the registrar is waited for no longer
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
    // RFC 3261 section 10.2: no new REGISTER before the last one has its answer.
    if (this.#phase === 'bound') this.#unregister();
  }

  get #now(): number {
    return this.#parts.environment.clock.now();
  }

  /** ms until then; not more than the whole pause when the clock was set back meanwhile. */
  #until(at: number, wholeMs: number): number {
    return Math.min(wholeMs, Math.max(0, at - this.#now));
  }

  #move(to: Phase) {
    if (!moves[this.#phase].includes(to)) {
      throw new Error(`a registration cannot go from ${this.#phase} to ${to}`);
    }
    this.#phase = to;
  }

  /** A refusal whose pause is not over, by a clock that may have been set meanwhile. */
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

  /** Ends waiting, and makes what is on its way come too late. */
  #halt() {
    this.#attempt++;
    this.#requests.abandon();
    if (this.#counted) this.#parts.budget.end();
    this.#counted = false;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  /** A value from `low` to `high` times `ms`. */
  #jittered(ms: number, low: number, high: number): number {
    return Math.round(ms * (low + (high - low) * this.#parts.environment.random()));
  }

  // ---------------------------------------------------------------- register and refresh

  /** Begins anew. @param lastError what ended the binding; null: what was said before stays */
  #begin(lastError: string | null) {
    if (!this.#register('registering')) return;
    this.#tell({
      state: 'registering',
      expiresAt: null,
      nextTryAt: null,
      ...(lastError !== null && { lastError }),
    });
  }

  /** @returns false when the registrar has refused too much, and what is waited for was told */
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
      // A refresh goes to where the binding is, while the registrar still has that place.
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

  /** @returns when the next try begins, ms since the epoch */
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
    // RFC 5626 section 4.4: 80 to 100 %, so that many flows do not fall into step.
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
  // Without addresses both are what the registrar's name leads to.
  return one.address === other.address || isSameHost(one.address ?? '', other.address ?? '');
}
