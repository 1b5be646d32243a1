/**
 * What an agent in a shard says of its call, on the way to the main thread: its lines, and the variables that it has
 * extracted. One message is under way at a time; what comes meanwhile is the next one. So a call whose agent says more
 * than the main thread stores costs it a message at a time, and SIP is not kept waiting.
 *
 *     agent ──> waiting ──`said`──> main thread
 *                  ^                     │
 *                  └──────answered───────┘
 */
import type { Clock } from '#shared/clock.ts';
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import { LineBudget } from '../call/line-budget.ts';
import type { Channel } from './channel.ts';
import { toMain } from './messages.ts';

/** Lines of an agent that wait for the main thread; further ones are left out. */
const mostWaiting = 200;

export class AgentNotices {
  readonly #agent: number;
  readonly #channel: Channel;
  readonly #budget: LineBudget;
  #lines: TranscriptEntry[] = [];
  #leftOut = 0;
  /** The latest ones; null: the main thread has them. */
  #variables: CallVariables | null = null;
  #underWay = false;

  constructor(agent: number, channel: Channel, clock: Pick<Clock, 'elapsed'>) {
    this.#agent = agent;
    this.#channel = channel;
    this.#budget = new LineBudget(clock);
  }

  line(entry: TranscriptEntry): void {
    const kept = this.#lines.length < mostWaiting ? this.#budget.take(entry) : null;
    if (kept) this.#lines.push(kept);
    else this.#leftOut++;
    this.#next();
  }

  leftOut(count: number): void {
    this.#leftOut += count;
    this.#next();
  }

  variables(values: CallVariables): void {
    this.#variables = values;
    this.#next();
  }

  /** Sends what waits now: before what may end or move the call. */
  flush(): void {
    if (this.#lines.length === 0 && this.#leftOut === 0 && this.#variables === null) return;
    const said = {
      agent: this.#agent,
      entries: this.#lines,
      left_out: this.#leftOut,
      variables: this.#variables,
    };
    this.#lines = [];
    this.#leftOut = 0;
    this.#variables = null;
    this.#underWay = true;
    const answered = () => {
      this.#underWay = false;
      this.#next();
    };
    const answer = this.#channel.askFor(toMain.said, said, {});
    if (answer instanceof Promise) void answer.then(answered);
    else answered();
  }

  #next(): void {
    if (!this.#underWay) this.flush();
  }
}
