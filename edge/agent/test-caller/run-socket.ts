/** The WebSocket of a test run (agent-test-protocol.ts). It does not reconnect: once lost, the run is over. */
import { Value } from 'typebox/value';
import WebSocket from 'ws';
import { type AgentTestEvent, AgentTestOrder } from '#shared/agent-test-protocol.ts';
import type { Clock, Timer } from '#shared/clock.ts';

const maxOrderBytes = 4 * 1024 * 1024;

export interface RunSocketParts {
  /** http(s) base URL of the control plane */
  readonly controlUrl: string;
  readonly runId: string;
  readonly key: string;
  readonly clock: Clock;
  /** time to open the socket, and the ping interval, ms; each ping must be answered before the next */
  readonly limitMs: number;
  readonly order: (order: AgentTestOrder) => void;
  /** Called once, unless we closed it. */
  readonly lost: (why: string) => void;
}

export class RunSocket {
  readonly #socket: WebSocket;
  readonly #parts: RunSocketParts;
  #ping: Timer | null = null;
  #alive = true;
  #over = false;

  private constructor(socket: WebSocket, parts: RunSocketParts) {
    this.#socket = socket;
    this.#parts = parts;
    socket.on('message', (data, binary) => this.#receive(binary ? '' : data.toString()));
    socket.on('pong', () => {
      this.#alive = true;
    });
    socket.on('error', (error) => this.#lose(error.message));
    socket.on('close', (code, reason) => this.#lose(`closed with ${code} ${reason.toString()}`.trim()));
    this.#keepAlive();
  }

  /** Rejects when the socket does not open. */
  static open(parts: RunSocketParts): Promise<RunSocket> {
    const url = new URL(`/v1/edge/test-calls/${parts.runId}`, parts.controlUrl);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url, {
      headers: { authorization: `Bearer ${parts.key}` },
      handshakeTimeout: parts.limitMs,
      followRedirects: false,
      perMessageDeflate: false,
      maxPayload: maxOrderBytes,
    });
    return new Promise((resolve, reject) => {
      socket.once('open', () => resolve(new RunSocket(socket, parts)));
      // Stays attached: a second error of the same socket needs a listener too.
      socket.on('error', (error) =>
        reject(new Error(`the socket of the test run did not open: ${error.message}`)),
      );
    });
  }

  /** No effect when the socket is gone. */
  send(event: AgentTestEvent): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(event));
  }

  close(): void {
    this.#end();
    this.#socket.close(1000);
    const socket = this.#socket;
    this.#parts.clock.after(1000, () => socket.terminate());
  }

  #receive(text: string): void {
    if (this.#over) return;
    let order: unknown;
    try {
      order = JSON.parse(text);
    } catch {
      order = null;
    }
    if (Value.Check(AgentTestOrder, order)) this.#parts.order(order);
    else {
      this.#lose('control sent an invalid order');
      this.#socket.terminate();
    }
  }

  #keepAlive(): void {
    const { clock, limitMs } = this.#parts;
    this.#ping = clock.after(limitMs, () => {
      if (!this.#alive) {
        this.#lose(`control was silent for ${limitMs} ms`);
        this.#socket.terminate();
        return;
      }
      this.#alive = false;
      this.#socket.ping();
      this.#keepAlive();
    });
  }

  #end(): void {
    this.#over = true;
    this.#ping?.cancel();
  }

  #lose(why: string): void {
    if (this.#over) return;
    this.#end();
    this.#parts.lost(why);
  }
}
