/**
 * Counts this edge's outgoing calls at control, together with those of the other edges (docs/internals/fleet.md). Alone,
 * or without a link to control, it asks nobody.
 */
import type { Clock } from '#shared/clock.ts';
import type { CallAnswer, CallCountFrame, CallScope, HeldCalls } from '#shared/edge-protocol/fleet.ts';
import { newId } from '#shared/ids.ts';

export type FleetVerdict = Pick<CallAnswer, 'answer' | 'scope' | 'reason'>;

export interface FleetCountsOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** Members of the fleet, at least 1. */
  readonly edges: () => number;
  /** Whether control can be asked. */
  readonly connected: () => boolean;
  readonly send: (frame: CallCountFrame) => void;
  readonly held: () => HeldCalls[];
}

/** Control answers within milliseconds; a caller waits. */
const answerMs = 1_000;

export class FleetCounts {
  readonly #options: FleetCountsOptions;
  readonly #waiting = new Map<string, (verdict: FleetVerdict) => void>();
  #declared = false;

  constructor(options: FleetCountsOptions) {
    this.#options = options;
  }

  /** Edges that share the limits; 1: this one counts alone. */
  get edges(): number {
    return this.#options.edges();
  }

  /** May a call start? `unknown`: control cannot say. */
  ask(scopes: readonly CallScope[]): Promise<FleetVerdict> {
    const { clock, connected, send } = this.#options;
    if (!connected() || !this.#declared) return Promise.resolve({ answer: 'unknown' });
    const id = newId();
    const { promise, resolve } = Promise.withResolvers<FleetVerdict>();
    const timer = clock.after(answerMs, () => resolve({ answer: 'unknown' }));
    this.#waiting.set(id, resolve);
    send({ type: 'call_ask', id, scopes: [...scopes] });
    return promise.finally(() => {
      timer.cancel();
      this.#waiting.delete(id);
    });
  }

  answered({ id, ...verdict }: CallAnswer): void {
    this.#waiting.get(id)?.(verdict);
  }

  begun(scopes: readonly string[]): void {
    if (this.#declared) this.#options.send({ type: 'call_begun', scopes: [...scopes] });
  }

  over(scopes: readonly string[], sent: boolean): void {
    if (this.#declared) this.#options.send({ type: 'call_over', scopes: [...scopes], sent });
  }

  /** The fleet has changed, or there is a new link: with others beside it, the edge declares what it holds. */
  refresh(newLink: boolean): void {
    if (newLink) this.#declared = false;
    if (this.edges < 2) {
      this.#declared = false;
    } else if (!this.#declared && this.#options.connected()) {
      this.#declared = true;
      this.#options.send({ type: 'calls_held', held: this.#options.held() });
    }
  }
}
