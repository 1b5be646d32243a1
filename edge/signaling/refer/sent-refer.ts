/**
 * A REFER of ours and the progress that the peer reports (RFC 3515 section 2.4, RFC 6665).
 *
 *     sent --2xx, or a NOTIFY before it--> accepted --final status line--> settled
 *       |                                     |
 *       +-- refused, no NOTIFY in time, subscription or dialog ended: settled by `failed`
 *
 * A settled one is kept until its subscription ends, so that late NOTIFYs are answered 200.
 */
import type { Timer } from '#shared/clock.ts';
import type { ReferEvents } from '../../call/ports/refer.ts';
import type { Environment } from '../srf/environment.ts';
import { type HeaderFields, headerOf } from '../srf/headers.ts';
import type { SrfAnswer, SrfRequest } from '../srf/srf.ts';
import { statusLineOf } from './sipfrag.ts';

/** Longest wait that the peer's `expires` can cause, ms. */
const longestWaitMs = 5 * 60_000;

export class SentRefer {
  readonly #environment: Environment;
  readonly #events: ReferEvents;
  readonly #over: (refer: SentRefer) => void;
  #cseq: number | null = null;
  #timer: Timer | null = null;
  #accepted = false;
  #settled = false;

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
    return this.#settled;
  }

  /** @param id of a NOTIFY's Event header, null when it has none: matches any subscription */
  matches(id: number | null): boolean {
    return id === null || this.#cseq === null || id === this.#cseq;
  }

  answered({ status, reason, headers, source_address }: SrfAnswer): void {
    if (status >= 300) {
      // The engine makes a response itself when none arrives.
      this.#fail(source_address === '' ? null : status, reason);
      this.#end();
      return;
    }
    this.#accept();
    if (/^\s*false\b/i.test(headerOf(headers, 'refer-sub') ?? '')) {
      this.#fail(null, 'The peer does not tell what comes of it');
      this.#end();
    } else if (!this.#settled && this.#timer === null) {
      this.#wait(0);
    }
  }

  notSent(error: Error): void {
    this.#fail(null, error.message);
    this.#end();
  }

  /** A NOTIFY of its subscription, already answered. */
  notified(headers: HeaderFields, body: string | undefined): void {
    const state = (headerOf(headers, 'subscription-state') ?? '').trim();
    const ends = /^terminated\b/i.test(state);
    const line = statusLineOf(body);
    if (ends) this.#end();
    if (this.#settled) return;
    // RFC 6665 section 4.1.2.4: a NOTIFY may arrive before the response, and implies acceptance.
    this.#accept();
    if (line && line.status >= 200) {
      this.#settle(line.status < 300 ? 'succeeded' : 'failed');
      this.#events.done(line.status, line.reason);
      return;
    }
    if (line) this.#events.progress(line.status, line.reason);
    if (ends) this.#fail(null, `The peer ended the subscription (${state})`);
    else this.#wait(Number.parseInt(/;\s*expires\s*=\s*(\d+)/i.exec(state)?.[1] ?? '0', 10) * 1_000);
  }

  /** The dialog has ended. */
  stop(reason: string): void {
    this.#fail(null, reason);
    this.#end();
  }

  #accept(): void {
    if (this.#accepted || this.#settled) return;
    this.#accepted = true;
    this.#events.accepted();
  }

  #wait(expiresMs: number): void {
    const ms = Math.max(this.#environment.refers.outcomeMs, Math.min(expiresMs, longestWaitMs));
    this.#timer?.cancel();
    this.#timer = this.#environment.clock.after(ms, () => {
      this.#fail(null, 'The peer told no outcome in time');
      this.#end();
    });
  }

  #fail(status: number | null, reason: string): void {
    if (this.#settled) return;
    this.#settle(status === null ? 'unknown' : 'refused');
    this.#events.failed(status, reason);
  }

  #settle(outcome: 'succeeded' | 'failed' | 'refused' | 'unknown'): void {
    this.#settled = true;
    this.#environment.countRefer('sent', outcome);
  }

  #end(): void {
    this.#timer?.cancel();
    this.#over(this);
  }
}
