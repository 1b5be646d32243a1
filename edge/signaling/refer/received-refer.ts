/** A REFER from the peer, and the NOTIFYs that report its outcome: performs the actions of received-refer-state.ts. */
import type { Timer } from '#shared/clock.ts';
import { allow } from '#shared/sip-methods.ts';
import { endsDialog } from '#shared/sip-status.ts';
import { Stateful } from '#shared/state-machine.ts';
import type { PeerRefer } from '../../call/ports/refer.ts';
import type { DialogRequest } from '../session/dialog-request.ts';
import { type Environment, type ReferOutcome, respond } from '../srf/environment.ts';
import { headerOf, supported, warningOf } from '../srf/headers.ts';
import type { SrfRequest, SrfResponse } from '../srf/srf.ts';
import { receivedRefer } from './received-refer-state.ts';
import { type StatusLine, sipfrag, sipfragType } from './sipfrag.ts';

export interface ReceivedReferOptions {
  readonly environment: Environment;
  readonly request: SrfRequest;
  readonly response: SrfResponse;
  readonly facts: Pick<PeerRefer, 'target' | 'replaces' | 'referredBy'>;
  /** Value of Event in its NOTIFYs. */
  readonly event: string;
  /** Headers that identify us. */
  readonly ourselves: () => Record<string, string>;
  send(request: DialogRequest): void;
  /** Called once, when the subscription has ended. */
  over(refer: ReceivedRefer): void;
}

export class ReceivedRefer implements PeerRefer {
  readonly target: string;
  readonly replaces: string | null;
  readonly referredBy: string | null;
  readonly #options: ReceivedReferOptions;
  readonly #machine = new Stateful(receivedRefer, 'asked');
  /** NOTIFYs to be sent. */
  readonly #waiting: StatusLine[] = [];
  readonly #timer: Timer;
  readonly #endsAt: number;
  #expired: () => void = () => {};

  constructor(options: ReceivedReferOptions) {
    const { environment, facts } = options;
    this.#options = options;
    this.target = facts.target;
    this.replaces = facts.replaces;
    this.referredBy = facts.referredBy;
    const { subscriptionMs } = environment.refers;
    this.#endsAt = environment.clock.elapsed() + subscriptionMs;
    this.#timer = environment.clock.after(subscriptionMs, () => this.#timedOut());
  }

  /** Whether the outcome is still pending. */
  get underWay(): boolean {
    return !this.#machine.is('ending', 'over');
  }

  accept(): void {
    // RFC 4488: the peer wants no subscription.
    const silent = /^\s*false\b/i.test(headerOf(this.#options.request.headers, 'refer-sub') ?? '');
    this.#machine.take(silent ? 'accept silently' : 'accept', {
      'send 202': () => this.#send202(silent ? { 'Refer-Sub': 'false' } : {}),
      queue: () => this.#queue({ status: 100, reason: 'Trying' }),
    });
  }

  refuse(status: number, reason: string, why?: string): void {
    this.#machine.take('refuse', {
      'send rejection': () => this.#reject(status, reason, why),
      release: this.#release,
    });
  }

  notify(status: number, reason: string): void {
    const line = { status, reason };
    const queue = () => this.#queue(line);
    const send = this.#send;
    if (status < 200) this.#machine.take('progress', { queue, send });
    else
      this.#machine.take('outcome', {
        'count outcome': () => this.#count(status < 300 ? 'succeeded' : 'failed'),
        queue,
        send,
        release: this.#release,
      });
  }

  onExpiry(expired: () => void): void {
    this.#expired = expired;
  }

  /** Sends pending NOTIFYs at once, because the dialog ends: TLS keeps their order anyway. */
  flush(): void {
    const all = () => {
      while (this.#waiting.length > 0) this.#send();
    };
    this.#machine.take('flush', { 'send all': all });
  }

  /** The dialog has ended, and no NOTIFY can be sent. */
  stop(): void {
    const { environment, response } = this.#options;
    this.#machine.take('dialog over', {
      'send rejection': () => respond(environment, response, 487),
      release: this.#release,
    });
  }

  #send202(headers: Record<string, string>): void {
    const { environment, response, ourselves } = this.#options;
    environment.countRefer('received', 'accepted');
    const all = { ...ourselves(), Allow: allow, Supported: supported, ...headers };
    respond(environment, response, 202, { headers: all }, (error) => (error ? this.#gone() : this.#goOn()));
  }

  #reject(status: number, reason: string, why?: string): void {
    const { environment, response } = this.#options;
    environment.countRefer('received', 'refused');
    const headers = why === undefined ? {} : { Warning: warningOf(environment.warnAgent, why) };
    respond(environment, response, status, { reason, headers });
  }

  #queue(line: StatusLine): void {
    // Of several queued progress updates only the last one matters.
    if (line.status < 200 && this.#waiting.length > 1) this.#waiting.pop();
    this.#waiting.push(line);
  }

  /** The 202 is sent, or a NOTIFY answered. */
  #goOn(): void {
    if (this.#waiting.length > 0) this.#machine.take('next', { send: this.#send });
    else this.#machine.take('no more', { release: this.#release });
  }

  #gone(): void {
    this.#machine.take('gone', { release: this.#release });
  }

  readonly #send = (): void => {
    const line = this.#waiting.shift();
    if (!line) return;
    const { environment, event, ourselves, send } = this.#options;
    const restS = Math.max(1, Math.ceil((this.#endsAt - environment.clock.elapsed()) / 1_000));
    send({
      method: 'NOTIFY',
      headers: {
        ...ourselves(),
        'User-Agent': environment.software,
        Event: event,
        // RFC 3515 section 2.4.7: no more news will follow.
        'Subscription-State': line.status < 200 ? `active;expires=${restS}` : 'terminated;reason=noresource',
        'Content-Type': sipfragType,
      },
      body: sipfrag(line),
      // RFC 6665 section 4.2.2: the peer has no such subscription, or is gone.
      answered: ({ status }) => (endsDialog(status) || status === 489 ? this.#gone() : this.#goOn()),
      failed: (error) => {
        environment.log.debug({ error: error.message }, 'a NOTIFY was not sent');
        this.#gone();
      },
    });
  };

  #timedOut(): void {
    this.#options.environment.log.warn({ target: this.target }, 'a REFER from the peer timed out');
    this.#machine.take('timeout', {
      'send rejection': () => this.#reject(500, 'No decision in time'),
      'count outcome': () => this.#count('timed_out'),
      queue: () => this.#queue({ status: 503, reason: 'No outcome in time' }),
      send: this.#send,
      'report expiry': () => this.#expired(),
      release: this.#release,
    });
  }

  #count(outcome: ReferOutcome): void {
    this.#timer.cancel();
    this.#options.environment.countRefer('received', outcome);
  }

  readonly #release = (): void => {
    this.#timer.cancel();
    this.#waiting.length = 0;
    this.#options.over(this);
  };
}
