/**
 * One binding at a registrar (RFC 3261 section 10.2), kept for as long as it is wanted:
 *
 *             start                  200
 *     idle ----------> registering ------> bound <----------+
 *      ^                |  ^  ^              |  | refresh    | 200
 *      |             no |  |  +-- flow lost -+  +-> refreshing
 *      |                v  | time            |        | no, flow lost: registering
 *      |               waiting               |        |
 *      |                                     |        |
 *      +- engine lost: from everywhere       +-- end --> ending --> ended <-- end: from everywhere else
 *
 * The flow is the connection that calls of the registrar come over. No engine tells of its loss, so it is tried
 * every so often: by OPTIONS where the registrar tells the port that it sees us at, because another port is
 * another connection that the registrar does not know us by, else by a REGISTER, which mends what is broken.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Timer } from '#shared/clock.ts';
import type { Log } from '../call/log.ts';
import type { DialTarget } from '../call/ports/dialing.ts';
import { type AuthenticatedRequest, Authenticator, type ChallengedRequest } from './authenticator.ts';
import type { Environment } from './environment.ts';
import type { Exchange, Outcome } from './exchange.ts';
import { challengeFailure, type Failure, judgeRegister, rportOf } from './register-answer.ts';
import { keepaliveOf, type Registrar, registerOf, registrarUri } from './register-request.ts';

export interface RegistrationSettings {
  /** Registrations begun per second. */
  readonly perSecond: number;
  /** For one request, a connection to be made included, ms. */
  readonly timeoutMs: number;
  /** Between two looks at the connection, ms; 0: none. */
  readonly keepaliveMs: number;
  /** RFC 5626 section 4.5: base and bound of the pauses after failures, ms. */
  readonly retryMs: number;
  readonly retryMaxMs: number;
  /** Pause after a refusal that only a person can mend, ms. */
  readonly refusedPauseMs: number;
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
  /** Status of the registrar's last answer to a REGISTER. */
  readonly sipCode: number | null;
  /** One sentence; stays until the next success. Of a binding: what speaks against it. */
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
  /** Called after every change of `state`, refreshes included. */
  readonly changed: () => void;
}

type Phase = 'idle' | 'registering' | 'waiting' | 'bound' | 'refreshing' | 'ending' | 'ended';

const moves: Readonly<Record<Phase, readonly Phase[]>> = {
  idle: ['registering', 'ended'],
  registering: ['bound', 'waiting', 'idle', 'ended'],
  waiting: ['registering', 'idle', 'ended'],
  bound: ['refreshing', 'registering', 'ending', 'idle', 'ended'],
  refreshing: ['bound', 'waiting', 'idle', 'ended'],
  ending: ['ended'],
  ended: [],
};

/** Where and how the registrar knows us. */
interface Flow {
  readonly target: DialTarget;
  /** Port that the registrar sees us at; null: it does not tell. */
  readonly rport: number | null;
}

/** Asks of one attempt that end with 423 at most. */
const mostIntervals = 3;
/** A registrar that grants less than this is asked again no sooner, ms. */
const shortestRefreshMs = 5_000;

export class Registration {
  readonly #parts: RegistrationParts;
  readonly #authenticator: Authenticator;
  readonly #callId = randomUUID();
  readonly #fromTag = randomBytes(8).toString('hex');
  #cseq = 0;
  #expiresS: number;
  #phase: Phase = 'idle';
  #state: BindingState = { state: 'registering', expiresAt: null, sipCode: null, lastError: null };
  #flow: Flow | null = null;
  /** Failures in a row. */
  #failures = 0;
  /** Of the attempt under way; what belongs to an earlier one comes too late. */
  #attempt = 0;
  readonly #timers = new Set<Timer>();
  #onEnded: (() => void) | null = null;
  /** Of waiting for the end. */
  #limit: Timer | null = null;

  constructor(parts: RegistrationParts) {
    this.#parts = parts;
    this.#expiresS = parts.registrar.expiresS;
    const { username, password } = parts.registrar;
    this.#authenticator = new Authenticator({ username, password, realm: null }, parts.log);
  }

  get state(): BindingState {
    return this.#state;
  }

  /** Begins to register; without effect unless idle. */
  start() {
    if (this.#phase === 'idle' && !this.#onEnded) this.#register('registering');
  }

  /** The engine is lost, and every connection and answer with it. `start` begins anew. */
  engineLost() {
    if (this.#phase === 'ended') return;
    this.#halt();
    this.#flow = null;
    if (this.#onEnded) return this.#finish();
    if (this.#phase === 'idle') return;
    this.#move('idle');
    this.#tell({ state: 'failed', expiresAt: null, lastError: 'The SIP engine of the edge was lost.' });
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

  get #challenged(): ChallengedRequest {
    return { method: 'REGISTER', uri: registrarUri(this.#parts.registrar), body: '' };
  }

  #move(to: Phase) {
    if (!moves[this.#phase].includes(to)) {
      throw new Error(`a registration cannot go from ${this.#phase} to ${to}`);
    }
    this.#phase = to;
  }

  #tell(news: Partial<BindingState>) {
    this.#state = { ...this.#state, ...news };
    this.#parts.changed();
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
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  /** A value from `low` to `high` times `ms`. */
  #jittered(ms: number, low: number, high: number): number {
    return Math.round(ms * (low + (high - low) * this.#parts.environment.random()));
  }

  // ---------------------------------------------------------------- register and refresh

  #register(phase: 'registering' | 'refreshing') {
    this.#halt();
    this.#move(phase);
    const attempt = this.#attempt;
    void this.#parts.resolve().then((places) => {
      if (attempt !== this.#attempt) return;
      if (this.#onEnded && phase === 'registering') return this.#finish();
      if (!places.ok) return this.#failed(unresolved(places.message));
      // A refresh goes to where the binding is, while the registrar still has that place.
      const known = places.targets.find((target) => isSamePlace(target, this.#flow?.target));
      const others = places.targets.filter((target) => target !== known);
      this.#try(known ? [known, ...others] : others, unresolved('it has no address'));
    });
  }

  /** Asks the first of `targets`, and the others should it be unavailable. */
  #try([target, ...others]: readonly DialTarget[], failure: Failure) {
    if (target) this.#ask(target, others, this.#authenticator.request(), mostIntervals);
    else this.#failed(failure);
  }

  #ask(target: DialTarget, others: readonly DialTarget[], request: AuthenticatedRequest, intervals: number) {
    const askedS = this.#expiresS;
    this.#send(target, askedS, request, (outcome) => {
      const verdict = judgeRegister(outcome, askedS);
      switch (verdict.kind) {
        case 'bound':
          return this.#bound(
            { target, rport: verdict.rport },
            verdict.expiresS,
            statusOf(outcome),
            verdict.doubt,
          );
        case 'challenged': {
          const { status, headers } = verdict;
          const answered = Object.keys(request.headers).length > 0;
          if (request.take(headers, this.#challenged)) return this.#ask(target, others, request, intervals);
          return this.#failed(challengeFailure(status, headers, answered));
        }
        case 'too_brief':
          if (intervals <= 1) return this.#failed(tooManyIntervals);
          this.#expiresS = verdict.minExpiresS;
          return this.#ask(target, others, this.#authenticator.request(), intervals - 1);
        case 'unavailable':
          return this.#try(others, verdict.failure);
        case 'refused':
          return this.#failed(verdict.failure);
      }
    });
  }

  #send(
    target: DialTarget,
    expiresS: number,
    { headers }: AuthenticatedRequest,
    done: (outcome: Outcome) => void,
  ) {
    const { environment, registrar, exchange, settings } = this.#parts;
    const attempt = this.#attempt;
    this.#cseq++;
    const own = { callId: this.#callId, fromTag: this.#fromTag, cseq: this.#cseq, expiresS };
    const request = registerOf(environment, registrar, target, { ...own, authorization: headers });
    exchange(request, settings.timeoutMs, (outcome) => {
      if (attempt === this.#attempt) done(outcome);
    });
  }

  #bound(flow: Flow, expiresS: number, sipCode: number | null, doubt: string | null) {
    this.#halt();
    this.#move('bound');
    this.#flow = flow;
    this.#failures = 0;
    if (this.#onEnded) return this.#unregister();
    const expiresMs = expiresS * 1000;
    this.#after(Math.max(shortestRefreshMs, this.#jittered(expiresMs, 0.6, 0.8)), () =>
      this.#register('refreshing'),
    );
    this.#scheduleKeepalive(flow);
    const expiresAt = this.#parts.environment.clock.now() + expiresMs;
    this.#tell({ state: 'registered', expiresAt, sipCode, lastError: doubt });
  }

  #failed({ error, sipCode, retryAfterS, lasting }: Failure) {
    this.#halt();
    this.#flow = null;
    if (this.#onEnded) return this.#finish();
    this.#move('waiting');
    this.#failures++;
    const { retryMs, retryMaxMs, refusedPauseMs } = this.#parts.settings;
    // RFC 5626 section 4.5: a part of min(longest, base * 2^failures), 50 to 100 %.
    const backOffMs = this.#jittered(Math.min(retryMaxMs, retryMs * 2 ** this.#failures), 0.5, 1);
    const pauseMs = lasting ? this.#jittered(refusedPauseMs, 1, 1.1) : backOffMs;
    const waitMs = Math.max(pauseMs, (retryAfterS ?? 0) * 1000);
    this.#parts.log.warn({ sip_status: sipCode, error, retry_ms: waitMs }, 'not registered');
    this.#after(waitMs, () => this.#register('registering'));
    this.#tell({ state: 'failed', expiresAt: null, sipCode, lastError: error });
  }

  // ---------------------------------------------------------------- the flow

  #scheduleKeepalive(flow: Flow) {
    const { keepaliveMs } = this.#parts.settings;
    if (keepaliveMs === 0) return;
    // RFC 5626 section 4.4: 80 to 100 %, so that many flows do not fall into step.
    this.#after(this.#jittered(keepaliveMs, 0.8, 1), () => {
      if (flow.rport === null) this.#register('refreshing');
      else this.#keepAlive(flow);
    });
  }

  #keepAlive(flow: Flow) {
    const { environment, registrar, exchange, settings } = this.#parts;
    const attempt = this.#attempt;
    const request = keepaliveOf(environment, registrar, flow.target, randomUUID(), this.#fromTag);
    exchange(request, settings.timeoutMs, (outcome) => {
      if (attempt !== this.#attempt) return;
      if (outcome.kind === 'silent') {
        const why = outcome.error === 'timeout' ? 'it no longer answers' : outcome.error;
        return this.#flowLost(`The connection to the registrar was lost: ${why}.`);
      }
      const rport = rportOf(outcome.headers);
      if (rport !== null && rport !== flow.rport) {
        return this.#flowLost('The connection to the registrar was lost and made anew.');
      }
      this.#scheduleKeepalive(flow);
    });
  }

  #flowLost(lastError: string) {
    this.#parts.log.warn({ error: lastError }, 'registration lost');
    this.#register('registering');
    this.#tell({ state: 'registering', expiresAt: null, lastError });
  }

  // ---------------------------------------------------------------- the end

  #unregister() {
    const flow = this.#flow;
    if (!flow) return this.#finish();
    this.#halt();
    this.#move('ending');
    const request = this.#authenticator.request();
    const ask = (): void => {
      this.#send(flow.target, 0, request, (outcome) => {
        const verdict = judgeRegister(outcome, 0);
        if (verdict.kind === 'challenged' && request.take(verdict.headers, this.#challenged)) {
          return ask();
        }
        this.#finish();
      });
    };
    ask();
  }

  #finish() {
    if (this.#phase === 'ended') return;
    this.#halt();
    this.#limit?.cancel();
    this.#move('ended');
    this.#flow = null;
    this.#tell({ state: 'ended', expiresAt: null });
    this.#onEnded?.();
  }
}

const tooManyIntervals: Failure = {
  error: 'The registrar finds every interval too brief (423).',
  sipCode: 423,
  retryAfterS: null,
  lasting: true,
};

function unresolved(why: string): Failure {
  return {
    error: `The registrar cannot be reached: ${why.replace(/\.$/, '')}.`,
    sipCode: null,
    retryAfterS: null,
    lasting: false,
  };
}

function isSamePlace(one: DialTarget, other: DialTarget | undefined): boolean {
  return other !== undefined && one.address === other.address && one.port === other.port;
}

function statusOf(outcome: Outcome): number | null {
  return outcome.kind === 'answered' ? outcome.status : null;
}
