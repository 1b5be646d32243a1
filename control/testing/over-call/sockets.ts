/**
 * Accepts the edges' connections for test runs over a call (shared/agent-test-protocol.ts): `GET
 * /v1/edge/test-calls/<run id>`, one socket for each run, opened once with the key that the edge got with the order.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Clock, Timer } from '#shared/clock.ts';
import { TestLine } from './line.ts';

const path = /^\/v1\/edge\/test-calls\/([0-9a-f-]{36})$/;

interface Expected {
  readonly digest: Buffer;
  readonly timer: Timer;
  readonly arrive: (line: TestLine) => void;
}

/** A run waiting for its edge. */
export interface ExpectedLine {
  readonly key: string;
  /** Rejects when the edge does not connect in time, or `cancel` is called first. */
  readonly arrived: Promise<TestLine>;
  cancel(): void;
}

export class AgentTestSockets {
  readonly #clock: Clock;
  readonly #expected = new Map<string, Expected>();
  readonly #sockets: WebSocketServer;

  /** @param mostFrameBytes largest frame accepted from an edge */
  constructor(clock: Clock, mostFrameBytes: number) {
    this.#clock = clock;
    this.#sockets = new WebSocketServer({ noServer: true, maxPayload: mostFrameBytes });
  }

  /** Runs waiting for an edge, plus open sockets. */
  get open(): number {
    return this.#expected.size + this.#sockets.clients.size;
  }

  expect(runId: string, withinMs: number): ExpectedLine {
    const key = randomBytes(24).toString('base64url');
    const { promise, resolve, reject } = Promise.withResolvers<TestLine>();
    // The code that cancels does not wait for it.
    promise.catch(() => undefined);
    const cancel = () => {
      if (this.#expected.get(runId) !== expected) return;
      expected.timer.cancel();
      this.#expected.delete(runId);
      reject(new Error('The edge did not open the socket of the run.'));
    };
    const timer = this.#clock.after(withinMs, cancel);
    const expected: Expected = { digest: digestOf(key), timer, arrive: resolve };
    this.#expected.set(runId, expected);
    return { key, arrived: promise, cancel };
  }

  /** Handles an upgrade for this endpoint. @returns whether it is one */
  take(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const runId = path.exec(request.url ?? '')?.[1];
    if (runId === undefined) return false;
    const key = /^Bearer (\S{1,200})$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const expected = this.#expected.get(runId);
    if (!expected || !timingSafeEqual(expected.digest, digestOf(key))) {
      socket.on('error', () => socket.destroy());
      socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return true;
    }
    this.#expected.delete(runId);
    expected.timer.cancel();
    this.#sockets.handleUpgrade(request, socket, head, (opened) => expected.arrive(new TestLine(opened)));
    return true;
  }

  close(): void {
    for (const client of this.#sockets.clients) client.terminate();
    this.#sockets.close();
  }
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
