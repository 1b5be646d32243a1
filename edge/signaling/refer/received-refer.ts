/**
 * A REFER from the peer, and the subscription that it creates (RFC 3515 section 2.4, RFC 6665).
 *
 *     asked --accept()--> accepted --final notify(), time-out--> ending --last NOTIFY answered--> over
 *       |                    |                                      |
 *       +---- refuse(), the end of the dialog, a subscription that the peer does not know: over
 *
 * NOTIFYs are sent one at a time: each one after the response to the previous one.
 */

import type { Timer } from '#shared/clock.ts';
import { endsDialog } from '#shared/sip-status.ts';
import type { PeerRefer } from '../../call/ports/refer.ts';
import type { DialogRequest } from '../session/dialog-request.ts';
import { type Environment, type ReferOutcome, respond } from '../srf/environment.ts';
import { allow, headerOf, supported, warningOf } from '../srf/headers.ts';
import type { SrfAnswer, SrfRequest, SrfResponse } from '../srf/srf.ts';
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

type State = 'asked' | 'accepted' | 'ending' | 'over';

export class ReceivedRefer implements PeerRefer {
  readonly target: string;
  readonly replaces: string | null;
  readonly referredBy: string | null;
  readonly #options: ReceivedReferOptions;
  /** RFC 4488: the peer wants no subscription. */
  readonly #silent: boolean;
  readonly #waiting: StatusLine[] = [];
  readonly #timer: Timer;
  readonly #endsAt: number;
  #state: State = 'asked';
  /** Nothing is sent before the 202, and no NOTIFY before the response to the previous one. */
  #busy = true;
  #expired: () => void = () => {};

  constructor(options: ReceivedReferOptions) {
    const { environment, request, facts } = options;
    this.#options = options;
    this.target = facts.target;
    this.replaces = facts.replaces;
    this.referredBy = facts.referredBy;
    this.#silent = /^\s*false\b/i.test(headerOf(request.headers, 'refer-sub') ?? '');
    const { subscriptionMs } = environment.refers;
    this.#endsAt = environment.clock.elapsed() + subscriptionMs;
    this.#timer = environment.clock.after(subscriptionMs, () => this.#timedOut());
  }

  /** Whether the outcome is still pending. */
  get underWay(): boolean {
    return this.#state === 'asked' || this.#state === 'accepted';
  }

  accept(): void {
    if (this.#state !== 'asked') return;
    this.#state = 'accepted';
    const { environment, response, ourselves } = this.#options;
    environment.countRefer('received', 'accepted');
    const headers = {
      ...ourselves(),
      Allow: allow,
      Supported: supported,
      ...(this.#silent ? { 'Refer-Sub': 'false' } : {}),
    };
    respond(environment, response, 202, { headers }, (error) => {
      if (error) return this.#end();
      this.#busy = false;
      this.#next();
    });
    this.#tell({ status: 100, reason: 'Trying' });
  }

  refuse(status: number, reason: string, why?: string): void {
    if (this.#state !== 'asked') return;
    const { environment, response } = this.#options;
    environment.countRefer('received', 'refused');
    const headers = why === undefined ? {} : { Warning: warningOf(environment.warnAgent, why) };
    respond(environment, response, status, { reason, headers });
    this.#end();
  }

  notify(status: number, reason: string): void {
    if (this.#state !== 'accepted') return;
    if (status < 200) this.#tell({ status, reason });
    else this.#finish({ status, reason }, status < 300 ? 'succeeded' : 'failed');
  }

  onExpiry(expired: () => void): void {
    this.#expired = expired;
  }

  /** Sends pending NOTIFYs at once, because the dialog ends: TLS keeps their order anyway. */
  flush(): void {
    if (this.#state === 'asked') return;
    for (const line of this.#waiting.splice(0)) this.#send(line);
  }

  /** The dialog has ended, and no NOTIFY can be sent. */
  stop(): void {
    if (this.#state === 'asked') respond(this.#options.environment, this.#options.response, 487);
    this.#end();
  }

  #tell(line: StatusLine): void {
    if (this.#silent) return;
    // Of several queued progress updates only the last one matters.
    if (line.status < 200 && this.#waiting.length > 1) this.#waiting.pop();
    this.#waiting.push(line);
    this.#next();
  }

  #next(): void {
    if (this.#busy || this.#state === 'over') return;
    const line = this.#waiting.shift();
    if (line) {
      this.#busy = true;
      this.#send(line);
    } else if (this.#state === 'ending') {
      this.#end();
    }
  }

  #send(line: StatusLine): void {
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
      answered: (answer) => this.#answered(answer),
      failed: (error) => {
        environment.log.debug({ error: error.message }, 'a NOTIFY was not sent');
        this.#end();
      },
    });
  }

  #answered({ status }: SrfAnswer) {
    // RFC 6665 section 4.2.2: the peer has no such subscription, or is gone.
    if (endsDialog(status) || status === 489) return this.#end();
    this.#busy = false;
    this.#next();
  }

  #timedOut(): void {
    const { environment } = this.#options;
    environment.log.warn({ target: this.target }, 'a REFER of the peer timed out');
    if (this.#state === 'asked') this.refuse(500, 'No decision in time');
    else {
      this.#finish({ status: 503, reason: 'No outcome in time' }, 'timed_out');
      this.#expired();
    }
  }

  #finish(line: StatusLine, outcome: ReferOutcome): void {
    this.#state = 'ending';
    this.#timer.cancel();
    this.#options.environment.countRefer('received', outcome);
    this.#tell(line);
    if (this.#silent) this.#end();
  }

  #end(): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#timer.cancel();
    this.#waiting.length = 0;
    this.#options.over(this);
  }
}
