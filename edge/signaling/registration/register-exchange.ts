/**
 * The requests of one binding: the look-up of the registrar, a REGISTER with its retries until the registrar has accepted or rejected it
 * (targets of RFC 3263, challenges, 423), the one that removes the binding, and the OPTIONS that checks its
 * connection. One Call-ID and an increasing CSeq (RFC 3261 section 10.2).
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { isSameHost } from '#shared/networks.ts';
import { unresolvedProblem } from '../../call/causes/cause-words.ts';
import type { Log } from '../../call/log.ts';
import type { DialTarget } from '../../call/ports/dialing.ts';
import { type AuthenticatedRequest, Authenticator, type ChallengedRequest } from '../srf/authenticator.ts';
import type { Environment } from '../srf/environment.ts';
import type { Exchange, Outcome } from '../srf/exchange.ts';
import { type Failure, judgeRegister, type RegisterAsked, rportOf } from './register-answer.ts';
import {
  keepaliveOf,
  type Registrar,
  registerOf,
  registrarHostPort,
  registrarUri,
} from './register-request.ts';
import { challengeProblem, flowProblem, tooBriefProblem } from './register-words.ts';

/** Where a registrar can be reached, best target first; every target is permitted (contract 1.9). */
export type RegistrarTargets =
  | { readonly ok: true; readonly targets: readonly DialTarget[] }
  | { readonly ok: false; readonly message: string };

/** The connection over which the registrar reaches us. */
export interface Flow {
  readonly target: DialTarget;
  /** Our port as the registrar sees it; null: it does not say. */
  readonly rport: number | null;
}

export type BindOutcome =
  | {
      readonly kind: 'bound';
      readonly flow: Flow;
      readonly expiresS: number;
      readonly sipCode: number;
      readonly doubt: string | null;
    }
  | { readonly kind: 'failed'; readonly failure: Failure };

export interface RegisterExchangeParts {
  readonly environment: Pick<Environment, 'publicAddress' | 'software'>;
  readonly log: Log;
  readonly registrar: Registrar;
  readonly exchange: Exchange;
  /** Never rejects. */
  readonly resolve: () => Promise<RegistrarTargets>;
  /** For one request, including connection setup, ms. */
  readonly timeoutMs: number;
}

type Done = (outcome: BindOutcome) => void;

/** The registrar's targets, in the order in which to try them. */
export type Found =
  | { readonly kind: 'found'; readonly targets: readonly DialTarget[] }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Maximum number of 423 retries per attempt. */
const mostIntervals = 3;

export class RegisterExchange {
  readonly #parts: RegisterExchangeParts;
  readonly #authenticator: Authenticator;
  readonly #name: string;
  readonly #callId = randomUUID();
  readonly #fromTag = randomBytes(8).toString('hex');
  #cseq = 0;
  #expiresS: number;
  /** Results of an earlier generation are ignored. */
  #generation = 0;

  constructor(parts: RegisterExchangeParts) {
    this.#parts = parts;
    this.#name = registrarHostPort(parts.registrar);
    this.#expiresS = parts.registrar.expiresS;
    const { username, password } = parts.registrar;
    this.#authenticator = new Authenticator({ username, password, realm: null }, parts.log);
  }

  /** Drops pending requests silently. */
  abandon(): void {
    this.#generation++;
  }

  /**
   * Looks the registrar up.
   * @param bound the target with the binding, which comes first while the registrar still has it; null: none has
   */
  find(bound: DialTarget | null, done: (found: Found) => void): void {
    const generation = this.#generation;
    void this.#parts.resolve().then((resolution) => {
      if (generation !== this.#generation) return;
      if (!resolution.ok)
        return done({ kind: 'failed', failure: unresolved(this.#name, resolution.message) });
      const known = resolution.targets.find((target) => isSameTarget(target, bound));
      const others = resolution.targets.filter((target) => target !== known);
      done({ kind: 'found', targets: known ? [known, ...others] : others });
    });
  }

  /** Requests a binding from the first of `targets`, and from the next ones while it is unavailable. */
  bind(targets: readonly DialTarget[], done: Done, failure = noAddress(this.#name)): void {
    const [target, ...others] = targets;
    if (target) this.#ask(target, others, this.#authenticator.request(), mostIntervals, done);
    else done({ kind: 'failed', failure });
  }

  /** Removes the binding; the result is ignored. */
  unbind(target: DialTarget, done: () => void): void {
    const request = this.#authenticator.request();
    const ask = (): void =>
      this.#send(target, 0, request, (outcome) => {
        const verdict = judgeRegister(outcome, this.#asked(0, request));
        if (verdict.kind === 'challenged' && request.take(verdict.headers, this.#challenged)) return ask();
        done();
      });
    ask();
  }

  /**
   * Checks with OPTIONS whether the connection works. `done` gets null, or why the registrar can no longer reach
   * us over it.
   */
  keepAlive({ target, rport: before }: Flow, done: (lost: string | null) => void): void {
    const { environment, registrar, exchange, timeoutMs } = this.#parts;
    const generation = this.#generation;
    const request = keepaliveOf(environment, registrar, target, randomUUID(), this.#fromTag);
    exchange(request, timeoutMs, (outcome) => {
      if (generation !== this.#generation) return;
      if (outcome.kind === 'silent') return done(flowProblem(this.#name, outcome.why));
      const rport = rportOf(outcome.headers);
      done(rport !== null && rport !== before ? flowProblem(this.#name, null) : null);
    });
  }

  get #challenged(): ChallengedRequest {
    return { method: 'REGISTER', uri: registrarUri(this.#parts.registrar), body: '' };
  }

  #asked(askedS: number, { headers }: AuthenticatedRequest): RegisterAsked {
    return { askedS, registrar: this.#name, credentialsSent: Object.keys(headers).length > 0 };
  }

  #ask(
    target: DialTarget,
    others: readonly DialTarget[],
    request: AuthenticatedRequest,
    intervals: number,
    done: Done,
  ): void {
    const asked = this.#asked(this.#expiresS, request);
    this.#send(target, asked.askedS, request, (outcome) => {
      const verdict = judgeRegister(outcome, asked);
      switch (verdict.kind) {
        case 'bound': {
          const { expiresS, rport, sipCode, doubt } = verdict;
          return done({ kind: 'bound', flow: { target, rport }, expiresS, sipCode, doubt });
        }
        case 'challenged': {
          if (request.take(verdict.headers, this.#challenged))
            return this.#ask(target, others, request, intervals, done);
          const error = challengeProblem(this.#name, verdict, asked.credentialsSent);
          return done({ kind: 'failed', failure: lasting(error, verdict.status) });
        }
        case 'too_brief':
          if (intervals <= 1)
            return done({ kind: 'failed', failure: lasting(tooBriefProblem(this.#name), 423) });
          this.#expiresS = verdict.minExpiresS;
          return this.#ask(target, others, this.#authenticator.request(), intervals - 1, done);
        case 'unavailable':
          return this.bind(others, done, verdict.failure);
        case 'refused':
          return done({ kind: 'failed', failure: verdict.failure });
      }
    });
  }

  #send(
    target: DialTarget,
    expiresS: number,
    { headers }: AuthenticatedRequest,
    done: (outcome: Outcome) => void,
  ): void {
    const { environment, registrar, exchange, timeoutMs } = this.#parts;
    const generation = this.#generation;
    this.#cseq++;
    const own = { callId: this.#callId, fromTag: this.#fromTag, cseq: this.#cseq, expiresS };
    const request = registerOf(environment, registrar, target, { ...own, authorization: headers });
    exchange(request, timeoutMs, (outcome) => {
      if (generation === this.#generation) done(outcome);
    });
  }
}

function lasting(error: string, sipCode: number): Failure {
  return { error, sipCode, retryAfterS: null, lasting: true };
}

function unresolved(registrar: string, why: string): Failure {
  return { error: unresolvedProblem(registrar, why), sipCode: null, retryAfterS: null, lasting: false };
}

function isSameTarget(one: DialTarget, other: DialTarget | null): boolean {
  if (one.port !== other?.port) return false;
  // Without addresses, both resolve from the registrar's name.
  return one.address === other.address || isSameHost(one.address ?? '', other.address ?? '');
}

function noAddress(registrar: string): Failure {
  return { error: `${registrar} has no usable address.`, sipCode: null, retryAfterS: null, lasting: false };
}
