/**
 * Counts this edge's outgoing calls at control, together with those of the other edges (docs/internals/fleet.md). Alone
 * for a minute, or without a link to control, it asks nobody.
 */
import type { Clock, Timer } from '#shared/clock.ts';
import type { CallAnswer, CallCountFrame, CallScope, HeldCalls } from '#shared/edge-protocol/fleet.ts';
import { sharedAfterMs } from '#shared/fleet/sharing.ts';
import { newId } from '#shared/ids.ts';

export type FleetVerdict = Pick<CallAnswer, 'answer' | 'scope' | 'reason'>;

export interface FleetCountsOptions {
  readonly clock: Pick<Clock, 'after' | 'elapsed'>;
  /** Members of the fleet, at least 1. */
  readonly edges: () => number;
  /** Whether control can be asked: there is a link, and it counts calls. */
  readonly connected: () => boolean;
  readonly send: (frame: CallCountFrame) => void;
  /** Without calls that wait for their answer. */
  readonly held: () => HeldCalls[];
}

/** Control answers within milliseconds; a caller waits. */
const answerMs = 1_000;
/** Pause before the edge asks again. */
const againMs = 250;
/** Another replica of control counts within 5 s after the one that did has died. */
const patienceMs = 8_000;
/** Asked calls without an answer that are remembered, in case it comes late. */
const mostLate = 1_000;

export class FleetCounts {
  readonly #options: FleetCountsOptions;
  readonly #waiting = new Map<string, (verdict: FleetVerdict) => void>();
  /** Scopes of calls that no longer wait for their answers. */
  readonly #late = new Map<string, readonly string[]>();
  #declared = false;
  /** It has counted with others at control; for a while still when they are gone. */
  #isShared = false;
  #sharedUntil: Timer | null = null;

  constructor(options: FleetCountsOptions) {
    this.#options = options;
  }

  /** Edges that share the limits; 1: this one counts alone. */
  get edges(): number {
    return Math.max(this.#options.edges(), this.#isShared ? 2 : 1);
  }

  /** May a call start? `unknown`: control cannot say. */
  async ask(scopes: readonly CallScope[]): Promise<FleetVerdict> {
    const { clock } = this.#options;
    const until = clock.elapsed() + patienceMs;
    for (;;) {
      if (!this.#canAsk) return { answer: 'unknown' };
      const verdict = await this.#askOnce(scopes);
      if (verdict.answer !== 'unknown' || clock.elapsed() >= until) return verdict;
      await new Promise<void>((resolve) => clock.after(againMs, resolve));
    }
  }

  get #canAsk(): boolean {
    return this.#options.connected() && this.#declared;
  }

  #askOnce(scopes: readonly CallScope[]): Promise<FleetVerdict> {
    const { clock, send } = this.#options;
    const id = newId();
    const { promise, resolve } = Promise.withResolvers<FleetVerdict>();
    const timer = clock.after(answerMs, () => {
      this.#expectLate(id, scopes);
      resolve({ answer: 'unknown' });
    });
    this.#waiting.set(id, resolve);
    send({ type: 'call_ask', id, scopes: [...scopes] });
    return promise.finally(() => {
      timer.cancel();
      this.#waiting.delete(id);
    });
  }

  answered({ id, ...verdict }: CallAnswer): void {
    this.#waiting.get(id)?.(verdict);
    const late = this.#late.get(id);
    this.#late.delete(id);
    // Control has counted a call that was decided without it.
    if (late && verdict.answer === 'counted') this.over(late, false);
  }

  #expectLate(id: string, scopes: readonly CallScope[]): void {
    this.#late.set(
      id,
      scopes.map(({ scope }) => scope),
    );
    for (const oldest of this.#late.keys()) if (this.#late.size > mostLate) this.#late.delete(oldest);
  }

  begun(scopes: readonly string[]): void {
    if (this.#canAsk) this.#options.send({ type: 'call_begun', scopes: [...scopes] });
  }

  over(scopes: readonly string[], sent: boolean): void {
    if (this.#canAsk) this.#options.send({ type: 'call_over', scopes: [...scopes], sent });
  }

  /** There is a new link. The members follow, and then `refresh`. */
  welcomed(): void {
    this.#declared = false;
  }

  /** Control has sent the members: with others beside it, the edge declares what it holds, once on a link. */
  refresh(): void {
    this.#follow();
    if (this.edges < 2) {
      this.#declared = false;
    } else if (!this.#declared && this.#options.connected()) {
      this.#declare();
    }
  }

  #follow(): void {
    if (this.#options.edges() > 1) {
      this.#sharedUntil?.cancel();
      this.#sharedUntil = null;
    } else if (this.#isShared) {
      this.#sharedUntil ??= this.#options.clock.after(sharedAfterMs, () => {
        this.#sharedUntil = null;
        this.#isShared = false;
        this.#declared = false;
      });
    }
  }

  /** Control counts again. */
  declareAgain(): void {
    if (this.edges > 1 && this.#options.connected()) this.#declare();
  }

  /** It replaces what control has counted, also for calls that still wait: these ask again. */
  #declare(): void {
    this.#declared = true;
    this.#isShared = true;
    this.#late.clear();
    for (const resolve of this.#waiting.values()) resolve({ answer: 'unknown' });
    this.#waiting.clear();
    this.#options.send({ type: 'calls_held', held: this.#options.held() });
  }
}
