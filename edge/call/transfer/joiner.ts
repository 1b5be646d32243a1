/** Sits on the leg to a target that nobody speaks to first: it is joined as soon as it is up. */
import type { AgentHost, AgentLeg } from '../ports/agents.ts';

export class Joiner implements AgentLeg {
  readonly sampleRate = 8000;
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
