/** A REFER of ours and the progress that the peer reports: performs the actions of sent-refer-state.ts. */
import type { Timer } from '#shared/clock.ts';
import { Stateful } from '#shared/state-machine.ts';
import type { ReferEvents } from '../../call/ports/refer.ts';
import type { Environment } from '../srf/environment.ts';
import { type HeaderFields, headerOf } from '../srf/headers.ts';
import type { SrfAnswer, SrfRequest } from '../srf/srf.ts';
import { sentRefer } from './sent-refer-state.ts';
import { type StatusLine, statusLineOf } from './sipfrag.ts';

/** Longest wait that the peer's `expires` can cause, ms. */
const longestWaitMs = 5 * 60_000;

export class SentRefer {
  readonly #environment: Environment;
  readonly #events: ReferEvents;
  readonly #over: (refer: SentRefer) => void;
  readonly #machine = new Stateful(sentRefer, 'sent');
  #cseq: number | null = null;
  #timer: Timer | null = null;

  /** @param over called when the subscription has ended */
  constructor(environment: Environment, events: ReferEvents, over: (refer: SentRefer) => void) {
    this.#environment = environment;
    this.#events = events;
    this.#over = over;
  }

  /** The request was sent; its CSeq number identifies the subscription (RFC 3515 section 2.4.6). */
  sent(request: SrfRequest): void {
    const number = Number.parseInt(headerOf(request.headers, 'cseq') ?? '', 10);
    this.#cseq = Number.isFinite(number) ? number : null;
  }

  /** Whether its outcome is known. */
  get settled(): boolean {
    return this.#machine.is('settled', 'over');
  }

  /** @param id of a NOTIFY's Event header, null when it has none: matches any subscription */
  matches(id: number | null): boolean {
    return id === null || this.#cseq === null || id === this.#cseq;
  }

  answered({ status, reason, headers, source_address }: SrfAnswer) {
    // The engine makes a response itself when none arrives.
    if (status >= 300) return this.#rejected(source_address === '' ? null : status, reason);
    const silent = /^\s*false\b/i.test(headerOf(headers, 'refer-sub') ?? '');
    this.#machine.take(silent ? '2xx without subscription' : '2xx', {
      'report accepted': this.#accepted,
      wait: () => this.#wait(0),
      'report failure': () => this.#failed(null, 'The peer does not report the outcome'),
      release: this.#release,
    });
  }

  notSent(error: Error): void {
    this.#rejected(null, error.message);
  }

  /** A NOTIFY of its subscription, already answered. */
  notified(headers: HeaderFields, body: string | undefined) {
    const state = (headerOf(headers, 'subscription-state') ?? '').trim();
    const last = /^terminated\b/i.test(state);
    const line = statusLineOf(body);
    if (line && line.status >= 200) return this.#outcome(line, last);
    this.#machine.take(last ? 'last progress' : 'progress', {
      'report accepted': this.#accepted,
      'report progress': () => line && this.#events.progress(line.status, line.reason),
      wait: () => this.#wait(expiresMs(state)),
      'report failure': () => this.#failed(null, `The peer ended the subscription (${state})`),
      release: this.#release,
    });
  }

  /** The dialog has ended. */
  stop(reason: string): void {
    this.#machine.take('dialog over', {
      'report failure': () => this.#failed(null, reason),
      release: this.#release,
    });
  }

  #outcome({ status, reason }: StatusLine, last: boolean): void {
    this.#machine.take(last ? 'last outcome' : 'outcome', {
      'report accepted': this.#accepted,
      'report outcome': () => {
        this.#environment.countRefer('sent', status < 300 ? 'succeeded' : 'failed');
        this.#events.done(status, reason);
      },
      release: this.#release,
    });
  }

  #rejected(status: number | null, reason: string): void {
    this.#machine.take('rejected', {
      'report failure': () => this.#failed(status, reason),
      release: this.#release,
    });
  }

  readonly #accepted = (): void => this.#events.accepted();

  /** @param status of the rejection; null: there was none, and the outcome is unknown */
  #failed(status: number | null, reason: string): void {
    this.#environment.countRefer('sent', status === null ? 'unknown' : 'refused');
    this.#events.failed(status, reason);
  }

  #wait(subscriptionMs: number): void {
    const ms = Math.max(this.#environment.refers.outcomeMs, Math.min(subscriptionMs, longestWaitMs));
    this.#timer?.cancel();
    this.#timer = this.#environment.clock.after(ms, () =>
      this.#machine.take('timeout', {
        'report failure': () => this.#failed(null, 'Timed out waiting for the peer to report the outcome'),
        release: this.#release,
      }),
    );
  }

  readonly #release = (): void => {
    this.#timer?.cancel();
    this.#over(this);
  };
}

/** How long a subscription still lasts according to its Subscription-State, ms; 0: it does not say. */
function expiresMs(state: string): number {
  return Number.parseInt(/;\s*expires\s*=\s*(\d+)/i.exec(state)?.[1] ?? '0', 10) * 1_000;
}
