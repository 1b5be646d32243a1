/**
 * The seat that an agent has on a call. The agent speaks to the seat and never to the call, so that a transfer can
 * move it to another call, and so that one that has left its call alters nothing any more.
 */
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { AgentHost, AgentLeg } from './ports/agents.ts';
import type { TransferOrder, TransferOutcome } from './ports/transfer.ts';
import { callOver } from './transfer/outcome.ts';

export class AgentSeat implements AgentHost {
  readonly agent: AgentLeg;
  #call: AgentHost | null;
  #started = false;
  #closing = false;

  /** @throws Error when the agent cannot be made */
  constructor(call: AgentHost, create: (host: AgentHost) => AgentLeg) {
    this.#call = call;
    this.agent = create(this);
  }

  /** The call is up; a started agent that comes from another call is not started again. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    this.agent.start();
  }

  /** From now on the agent speaks for `call`. */
  moveTo(call: AgentHost): void {
    this.#call = call;
  }

  /** The agent's part is over: what it still has to tell is taken, what it wishes is not. */
  close(reason: string): void {
    this.#closing = true;
    try {
      this.agent.close(reason);
    } finally {
      this.#call = null;
    }
  }

  get #open(): AgentHost | null {
    return this.#closing ? null : this.#call;
  }

  hangup(reason: string): void {
    this.#open?.hangup(reason);
  }

  async sendDtmf(digits: string): Promise<void> {
    await this.#open?.sendDtmf(digits);
  }

  keysPossible(): boolean {
    return this.#open?.keysPossible() ?? true;
  }

  transcript(entry: TranscriptEntry): void {
    this.#call?.transcript(entry);
  }

  variables(values: CallVariables): void {
    this.#call?.variables(values);
  }

  async transfer(order: TransferOrder): Promise<TransferOutcome> {
    return this.#open?.transfer(order) ?? callOver;
  }

  join(): void {
    this.#open?.join();
  }

  answeredBy(who: 'human' | 'voicemail' | 'unknown'): void {
    this.#call?.answeredBy(who);
  }

  fail(error: Error): void {
    this.#open?.fail(error);
  }
}
