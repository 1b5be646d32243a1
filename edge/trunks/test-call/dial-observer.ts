/**
 * A test call up to its answer: the addresses tried, the outcome of each INVITE, and the lines in the story. It
 * observes the hunt and the dialer of the call and changes nothing.
 */
import type { FailoverAttempt } from '#shared/trunk-protocol.ts';
import { type AttemptFacts, attemptFacts, attemptProblem } from '../../call/causes/cause-words.ts';
import type { Dialer, DialTarget, OutboundInvite } from '../../call/ports/dialing.ts';
import type { AttemptOutcome, Hunt, NextHop } from '../../call/ports/routes.ts';
import { hostPortOf } from '../circuit.ts';
import { observedDialer, observedHunt } from './observed.ts';
import type { Story, StoryEvent } from './story.ts';

/** Outcome of the last INVITE. */
interface Attempt {
  readonly hop: NextHop;
  outcome: AttemptOutcome | null;
  /** Events already reported: a peer may repeat them endlessly. */
  readonly seen: Set<StoryEvent>;
}

export class DialObserver {
  readonly #story: Story;
  readonly #to: string;
  #hunt: Hunt | null = null;
  #attempt: Attempt | null = null;
  /** What was wrong with an attempt, by its index in the hunt's log. */
  readonly #problems = new Map<number, string>();

  /** @param to the number or extension called */
  constructor(story: Story, to: string) {
    this.#story = story;
    this.#to = to;
  }

  /** The hunt, with observers. */
  over(hunt: Hunt): Hunt {
    this.#hunt = hunt;
    return observedHunt(hunt, {
      found: (hop, failed) => this.#found(hop, failed),
      ended: (outcome) => this.#ended(outcome),
    });
  }

  /** The dialer, with observers. @param answered called at the 200 */
  by(dialer: Dialer, answered: () => void): Dialer {
    return observedDialer(dialer, {
      dialled: (target, invite) => this.#dialled(target, invite),
      progress: (status, early) => this.#progress(status, early),
      answered,
    });
  }

  /** The last attempt; null when there was none. */
  get attempt(): AttemptFacts | null {
    if (!this.#attempt) return null;
    const { hop, outcome } = this.#attempt;
    return attemptFacts(hop, this.#to, outcome ?? { kind: 'canceled' });
  }

  /** The last endpoint tried, when none could be dialed. */
  get unresolved(): { readonly peer: string; readonly error: string } | null {
    const last = this.#attempt ? null : this.#hunt?.attempts.at(-1);
    return last ? { peer: hostPortOf(last), error: this.#hunt?.unresolved ?? 'no address' } : null;
  }

  #found(hop: NextHop, failed: readonly FailoverAttempt[]): void {
    const first = (this.#hunt?.attempts.length ?? 0) - failed.length;
    const next = hostPortOf(hop.target);
    for (const [i, attempt] of failed.entries()) {
      const problem =
        this.#problems.get(first + i) ?? `${hostPortOf(attempt)}: ${attempt.error ?? 'failed'}.`;
      this.#story.add('failover', `${problem} Failing over to ${next}.`);
    }
    this.#attempt = { hop, outcome: null, seen: new Set() };
  }

  #ended(outcome: AttemptOutcome): void {
    if (!this.#attempt) return;
    this.#attempt.outcome = outcome;
    const problem = this.attempt && attemptProblem(this.attempt);
    if (problem) this.#problems.set(this.#hunt?.attempts.length ?? 0, problem);
  }

  #dialled(target: DialTarget, { sipCallId }: OutboundInvite): void {
    const { address = target.host } = target;
    const at = address === target.host ? '' : ` (${address})`;
    this.#story.add('initiated', `INVITE to ${hostPortOf(target)}${at}`, { sip_call_id: sipCallId });
  }

  #progress(status: number, early: boolean): void {
    const event = status === 100 ? 'trying' : early ? 'early_media' : 'ringing';
    if (!this.#attempt || this.#attempt.seen.has(event)) return;
    this.#attempt.seen.add(event);
    const phrase = phrases[status] ?? 'Session Progress';
    this.#story.add(event, `${status} ${phrase}${early ? ', with early media' : ''}`);
  }
}

const phrases: Readonly<Record<number, string>> = {
  100: 'Trying',
  180: 'Ringing',
  181: 'Call Is Being Forwarded',
  182: 'Queued',
};
