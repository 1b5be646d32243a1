/**
 * Stands between an agent and its call. The agent talks only to the seat, so a transfer can move the agent to another
 * call, and an agent that is closed can no longer change the call.
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

  /** The call is up. An agent moved here from another call is already running and is not started again. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    this.agent.start();
  }

  /** Attaches the agent to `call`. */
  moveTo(call: AgentHost): void {
    this.#call = call;
  }

  /** Detaches the agent: its transcript lines and variables are still recorded, its requests are ignored. */
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
