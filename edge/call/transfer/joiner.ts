/** The agent on a leg to a target of a transfer without consultation: asks to bridge as soon as the leg is up. */
import type { AgentHost, AgentLeg } from '../ports/agents.ts';

export class Joiner implements AgentLeg {
  readonly sampleRate = 8000;
  readonly silent = true;
  readonly #host: AgentHost;

  constructor(host: AgentHost) {
    this.#host = host;
  }

  async prepare(): Promise<void> {}

  start(): void {
    this.#host.join();
  }

  read(): boolean {
    return false;
  }

  close(): void {}
}
