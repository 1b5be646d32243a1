import type { Answerer } from '#shared/answerer.ts';
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { AgentHost, AgentMark } from '../call/ports/agents.ts';
import type { ByeExtras } from '../call/ports/signaling.ts';
import type { TransferOrder, TransferOutcome } from '../call/ports/transfer.ts';

/** Passes an agent's requests to its host until it is shut, when the agent may lose its call. */
export class HostGate implements Required<AgentHost> {
  readonly #host: AgentHost;
  #open = true;
  /** Called with each line of the conversation. */
  said: (entry: TranscriptEntry) => void = () => {};

  constructor(host: AgentHost) {
    this.#host = host;
  }

  /** From now on requests of the agent have no effect. */
  shut(): void {
    this.#open = false;
  }

  hangup(reason: string, extras?: ByeExtras): void {
    if (this.#open) this.#host.hangup(reason, extras);
  }
  async sendDtmf(digits: string): Promise<void> {
    if (this.#open) await this.#host.sendDtmf(digits);
  }
  keysPossible(): boolean {
    return this.#host.keysPossible();
  }
  transcript(...entries: TranscriptEntry[]): void {
    if (!this.#open) return;
    this.#host.transcript(...entries);
    for (const entry of entries) this.said(entry);
  }
  linesLeftOut(count: number): void {
    if (this.#open) this.#host.linesLeftOut?.(count);
  }
  mark(mark: AgentMark): void {
    if (this.#open) this.#host.mark?.(mark);
  }
  variables(values: CallVariables): void {
    if (this.#open) this.#host.variables(values);
  }
  async transfer(order: TransferOrder): Promise<TransferOutcome> {
    if (this.#open) return this.#host.transfer(order);
    return { ok: false, code: 'not_active', sipCode: null, reason: 'Voicemail answered the call.' };
  }
  recording(step: 'pause' | 'resume'): boolean {
    return this.#open && this.#host.recording?.(step) === true;
  }
  recorded(): boolean {
    return this.#host.recorded?.() ?? false;
  }
  join(): void {
    if (this.#open) this.#host.join();
  }
  answeredBy(who: Answerer): void {
    if (this.#open) this.#host.answeredBy(who);
  }
  fail(error: Error): void {
    if (this.#open) this.#host.fail(error);
  }
}
