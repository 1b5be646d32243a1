/** One edge on the line of one run: what it says, in order, and what it asks on behalf of the tested agent. */
import { Compile } from 'typebox/compile';
import { WebSocket } from 'ws';
import { TestCallEvent, type TestCallOrder } from '#shared/test-call-protocol.ts';

const checkEvent = Compile(TestCallEvent);

/** RFC 6455 section 7.4.1 */
const policyViolation = 1008;

type Question = Extract<TestCallEvent, { type: 'webhook' | 'tool' }>;
export type Told = Exclude<TestCallEvent, Question>;

export class TestLine {
  readonly #socket: WebSocket;
  readonly #told: Told[] = [];
  readonly #questions: Question[] = [];
  #ask: ((question: Question) => void) | null = null;
  #wake: () => void = () => undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data, binary) => this.#receive(binary ? '' : data.toString()));
    socket.on('error', () => socket.terminate());
    socket.on('close', () => this.#wake());
  }

  /** Who answers the tested agent's webhooks and tools; those that came before are asked now. */
  questions(ask: (question: Question) => void): void {
    this.#ask = ask;
    for (const question of this.#questions.splice(0)) ask(question);
  }

  /** What the edge tells next; null when it is gone. Rejects with the reason of `signal` when that is aborted. */
  async next(signal: AbortSignal): Promise<Told | null> {
    const abort = () => this.#wake();
    signal.addEventListener('abort', abort);
    try {
      for (;;) {
        signal.throwIfAborted();
        const told = this.#told.shift();
        if (told) return told;
        if (this.#socket.readyState === WebSocket.CLOSED) return null;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Without effect when the edge is gone. */
  send(order: TestCallOrder): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(order));
  }

  /** Ends the call, if it is not over. */
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

function read(text: string): TestCallEvent | null {
  try {
    const event: unknown = JSON.parse(text);
    return checkEvent.Check(event) ? event : null;
  } catch {
    return null;
  }
}
