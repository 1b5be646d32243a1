/** One edge's connection for one run: its messages, in order, and its requests on behalf of the tested agent. */
import { Compile } from 'typebox/compile';
import { AgentTestEvent, type AgentTestOrder } from '#shared/agent-test-protocol.ts';
import { lazy } from '#shared/lazy.ts';
import type { LineSocket } from './line-socket.ts';

const eventCheck = lazy(() => Compile(AgentTestEvent));

/** RFC 6455 section 7.4.1 */
const policyViolation = 1008;

type Question = Extract<AgentTestEvent, { type: 'webhook' | 'tool' }>;
export type Told = Exclude<AgentTestEvent, Question>;

export class TestLine {
  readonly #socket: LineSocket;
  readonly #told: Told[] = [];
  readonly #questions: Question[] = [];
  #ask: ((question: Question) => void) | null = null;
  #wake: () => void = () => undefined;

  constructor(socket: LineSocket) {
    this.#socket = socket;
    socket.onText((text) => this.#receive(text));
    socket.onClose(() => this.#wake());
  }

  /** Sets who answers the tested agent's webhooks and tools; earlier questions are delivered now. */
  questions(ask: (question: Question) => void): void {
    this.#ask = ask;
    for (const question of this.#questions.splice(0)) ask(question);
  }

  /** The edge's next message; null when it is gone. Rejects with the reason of `signal` when that is aborted. */
  async next(signal: AbortSignal): Promise<Told | null> {
    const abort = () => this.#wake();
    signal.addEventListener('abort', abort);
    try {
      for (;;) {
        signal.throwIfAborted();
        const told = this.#told.shift();
        if (told) return told;
        if (this.#socket.isClosed) return null;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Does nothing when the edge is gone. */
  send(order: AgentTestOrder): void {
    this.#socket.send(JSON.stringify(order));
  }

  /** Ends the call, unless it has ended. */
  close(): void {
    this.#socket.close(1000, 'the run is over');
  }

  #receive(text: string): void {
    const event = read(text);
    if (!event) this.#socket.close(policyViolation, 'not an event of a test run');
    else if (event.type !== 'webhook' && event.type !== 'tool') {
      this.#told.push(event);
      this.#wake();
    } else if (this.#ask) this.#ask(event);
    else this.#questions.push(event);
  }
}

function read(text: string): AgentTestEvent | null {
  try {
    const event: unknown = JSON.parse(text);
    return eventCheck().Check(event) ? event : null;
  } catch {
    return null;
  }
}
