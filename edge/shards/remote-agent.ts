/** An agent in a shard, as calls see it from the main thread. Its audio stays in the shard. */
import type { AgentHost, AgentLeg } from '../call/ports/agents.ts';
import type { Channel } from './channel.ts';
import { toShard } from './messages.ts';

export interface RemoteAgentOptions {
  readonly id: number;
  readonly channel: Channel;
  readonly host: AgentHost;
  /** Whether it takes instructions of a supervisor. */
  readonly takesText: boolean;
  /** Called once, when the agent is closed and its last words have arrived, or when it is lost. */
  readonly over: () => void;
}

export class RemoteAgent implements AgentLeg {
  readonly sampleRate = 8000;
  readonly id: number;
  readonly channel: Channel;
  readonly host: AgentHost;
  readonly instruct?: (text: string) => void;
  readonly #options: RemoteAgentOptions;
  #closed: Promise<void> | null = null;
  #keysPossible = true;
  #recorded = false;

  constructor(options: RemoteAgentOptions) {
    this.id = options.id;
    this.channel = options.channel;
    this.host = options.host;
    this.#options = options;
    if (options.takesText)
      this.instruct = (text) => this.channel.tell(toShard.instruct, { agent: this.id, text });
  }

  async prepare(): Promise<void> {
    this.tellChanges();
    await this.channel.ask(toShard.prepare, { agent: this.id });
  }

  start(): void {
    this.tellChanges();
    this.channel.tell(toShard.startAgent, { agent: this.id });
  }

  close(reason: string): void {
    if (this.#closed) return;
    const { over } = this.#options;
    const closed = this.channel.askFor(toShard.closeAgent, { agent: this.id, reason }, {});
    if (closed instanceof Promise) this.#closed = closed.then(over);
    else {
      this.#closed = Promise.resolve();
      over();
    }
  }

  async lastWords(): Promise<void> {
    await this.#closed;
  }

  /** Whether keys are possible, or whether the call is recorded, may have changed. */
  tellChanges(): void {
    const possible = this.host.keysPossible();
    const recorded = this.host.recorded?.() ?? false;
    if (possible !== this.#keysPossible)
      this.channel.tell(toShard.keysPossible, { agent: this.id, possible });
    if (recorded !== this.#recorded) this.channel.tell(toShard.recorded, { agent: this.id, recorded });
    this.#keysPossible = possible;
    this.#recorded = recorded;
  }

  /** Its shard is gone. */
  fail(error: Error): void {
    if (!this.#closed) this.host.fail(error);
  }

  /** Never called: frames are exchanged in the shard. */
  read(): boolean {
    return false;
  }
}
