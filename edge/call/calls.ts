/** All live calls of this edge. */
import { type CodecName, defaultCodecs } from '#shared/codecs.ts';
import type { NewId } from '#shared/ids.ts';
import type { TerminationCode } from '#shared/termination.ts';
import { Call, type CallDeps, type LiveCall } from './call.ts';
import type { Termination } from './ending.ts';
import { OutboundCall, type OutboundParts, type OutboundPlan } from './outbound-call.ts';
import type { CallLeg } from './ports.ts';
import type { CallPlan } from './record.ts';

export interface CallsDeps extends CallDeps {
  readonly newId: NewId;
  /** How many calls may be live at once. */
  readonly maxCalls: number;
  /** What calls of ours need; absent: none are made. */
  readonly outbound?: OutboundParts;
  /** Called once for every call that is over. */
  readonly onEnded?: (code: TerminationCode, answered: boolean) => void;
}

export class Calls {
  readonly #deps: CallsDeps;
  readonly #live = new Map<string, LiveCall>();
  #draining = false;
  #whenEmpty: (() => void) | null = null;

  constructor(deps: CallsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#live.size;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Why no further call can be taken, null when one can. */
  get closedBecause(): 'draining' | 'capacity' | null {
    if (this.#draining) return 'draining';
    return this.#live.size >= this.#deps.maxCalls ? 'capacity' : null;
  }

  find(callId: string): LiveCall | undefined {
    return this.#live.get(callId);
  }

  /** Takes a call. @param codecs in order of preference; empty: the default list */
  admit(leg: CallLeg, plan: CallPlan, codecs: readonly CodecName[]): Call {
    const call = this.#create(leg, plan, codecs);
    call.admit();
    return call;
  }

  /** Refuses a call to a number of ours, and reports it, so that its owner sees the attempt. */
  refuse(leg: CallLeg, plan: CallPlan, termination: Termination): void {
    this.#create(leg, plan, []).end(termination);
  }

  /**
   * Makes a call, or reports at once why it cannot be made.
   * @param changes to what calls of ours need, for this one: a call over one trunk alone has routes of its own
   * @throws Error when this edge makes no calls, or already has one with that id
   */
  place(plan: OutboundPlan, changes: Partial<OutboundParts> = {}): OutboundCall {
    const { newId } = this.#deps;
    const outbound = this.#deps.outbound && { ...this.#deps.outbound, ...changes };
    if (!outbound) throw new Error('This edge makes no calls');
    if (this.#live.has(plan.callId)) throw new Error(`There is a call ${plan.callId} already`);
    const closed = this.closedBecause;
    const call = new OutboundCall(plan, newId(), outbound, this.#deps, (ended) => this.#remove(ended));
    this.#live.set(call.id, call);
    if (closed === null) call.place();
    else call.end({ code: closed, detail: null });
    return call;
  }

  /** Ends a call for the API; without effect when it is over. */
  stop(callId: string): void {
    this.#live.get(callId)?.end({ code: 'api_stop', detail: null });
  }

  /** Ends every live call. */
  endAll(termination: Termination): void {
    for (const call of [...this.#live.values()]) call.end(termination);
  }

  /** Takes no more calls; resolves when the last one is over or, after `timeoutMs`, has been ended. */
  async drain(timeoutMs: number): Promise<void> {
    this.#draining = true;
    if (this.#live.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = this.#deps.clock.after(timeoutMs, () => {
        this.#endRemaining();
        resolve();
      });
      this.#whenEmpty = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#whenEmpty = null;
  }

  #endRemaining(): void {
    for (const call of [...this.#live.values()]) {
      call.end({
        code: call.answered || call.direction === 'outbound' ? 'edge_restarted' : 'draining',
        detail: 'The edge was stopped while the call was up.',
      });
    }
  }

  #create(leg: CallLeg, plan: CallPlan, codecs: readonly CodecName[]): Call {
    const chosen = codecs.length > 0 ? codecs : defaultCodecs;
    const call = new Call(this.#deps.newId(), leg, plan, chosen, this.#deps, (ended) => this.#remove(ended));
    this.#live.set(call.id, call);
    return call;
  }

  #remove(call: LiveCall): void {
    this.#live.delete(call.id);
    if (call.termination) this.#deps.onEnded?.(call.termination, call.answered);
    if (this.#live.size === 0) this.#whenEmpty?.();
  }
}
