/**
 * Stands between an agent and its call, and carries out on the call what the agent asks for. The agent talks only to
 * the seat, so a transfer can move the agent to another call, and an agent that is closed can no longer change the
 * call.
 */
import type { Answerer } from '#shared/answerer.ts';
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { Termination } from './ending.ts';
import type { LiveCall, SeatedAgent } from './live-call.ts';
import type { AgentHost, AgentLeg, AgentMark } from './ports/agents.ts';
import type { ByeExtras } from './ports/signaling.ts';
import type { TransferOrder, TransferOutcome } from './ports/transfer.ts';
import { callOver } from './transfer/outcome.ts';

export class AgentSeat implements Required<AgentHost>, SeatedAgent {
  readonly agent: AgentLeg;
  #call: LiveCall | null;
  #started = false;
  #closing = false;

  /** @throws Error when the agent cannot be made */
  constructor(call: LiveCall, create: (host: AgentHost) => AgentLeg) {
    this.#call = call;
    this.agent = create(this);
  }

  /** The call is up. An agent moved here from another call is already running and is not started again. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    this.agent.start();
  }

  /** Attaches the agent to `call`. */
  moveTo(call: LiveCall): void {
    this.#call = call;
  }

  /**
   * Detaches the agent: its transcript lines and variables until then are still recorded, its requests are ignored.
   */
  close(reason: string): void {
    this.#closing = true;
    let lastWords: Promise<void> | undefined;
    try {
      this.agent.close(reason);
      lastWords = this.agent.lastWords?.();
    } finally {
      if (!lastWords) this.#call = null;
    }
    void lastWords?.then(() => {
      this.#call = null;
    });
  }

  /** The call that the agent may change; null when it is closed. */
  get #open(): LiveCall | null {
    return this.#closing ? null : this.#call;
  }

  hangup(reason: string, bye: ByeExtras = {}): void {
    this.#end({ code: 'agent_hangup', detail: reason, bye });
  }

  async sendDtmf(digits: string): Promise<void> {
    const call = this.#open;
    if (call?.answered && !call.termination) await call.media?.sendDtmf(digits);
  }

  keysPossible(): boolean {
    const call = this.#open;
    return call?.media?.keys !== 'none' || call.dialog.leg?.takesInfo === true;
  }

  transcript(...entries: TranscriptEntry[]): void {
    this.#call?.ledger.transcript(...entries);
  }

  linesLeftOut(count: number): void {
    this.#call?.ledger.linesLeftOut(count);
  }

  mark(mark: AgentMark): void {
    this.#call?.measurements.mark(this, mark);
  }

  variables(values: CallVariables): void {
    this.#call?.ledger.extract(values);
  }

  async transfer(order: TransferOrder): Promise<TransferOutcome> {
    return this.#open?.transfers.order(order) ?? callOver;
  }

  recording(step: 'pause' | 'resume'): boolean {
    return this.#open?.recording.carryOut(step) ?? false;
  }

  recorded(): boolean {
    return this.#open?.recording.isOn ?? false;
  }

  join(): void {
    this.#open?.plan.transfer?.join();
  }

  answeredBy(who: Answerer): void {
    this.#call?.ledger.answeredBy(who);
  }

  fail(error: Error): void {
    const call = this.#open;
    call?.log.error({ err: error }, 'agent failed');
    this.#end({ code: call?.answered ? 'agent_failed' : 'agent_unavailable', detail: error.message });
  }

  /** An agent that ends during a transfer does not end the call: the transfer decides. */
  #end(termination: Termination): void {
    const call = this.#open;
    const outcome = call?.transfers.handingOver ?? null;
    if (outcome === null) call?.end(termination);
    else void outcome.then(({ ok }) => ok || call?.end(termination));
  }
}
