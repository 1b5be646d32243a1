/**
 * Accepts the edges' connections for test runs over a call (shared/agent-test-protocol.ts): `GET
 * /v1/edge/test-calls/<run id>`, one socket for each run, opened once with the key that the edge got with the order. The
 * key names the replica of the run, so that any replica can take the connection (relay.ts):
 *
 *     <replica>.<random>.<HMAC-SHA-256 of both and the run, under a key that the replicas share>
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Clock, Timer } from '#shared/clock.ts';
import type { SecretBox } from '../../db/index.ts';
import { refuseUpgrade } from '../../http/index.ts';
import { TestLine } from './line.ts';
import { type LineSocket, lineSocket } from './line-socket.ts';
import { CallRelay, type RelayBus } from './relay.ts';

const path = /^\/v1\/edge\/test-calls\/([0-9a-f-]{36})$/;

interface Expected {
  readonly digest: Buffer;
  readonly timer: Timer;
  readonly cancel: () => void;
  readonly arrive: (line: TestLine) => void;
}

/** A run waiting for its edge. */
export interface ExpectedLine {
  readonly key: string;
  /** Rejects when the edge does not connect in time, or `cancel` is called first. */
  readonly arrived: Promise<TestLine>;
  cancel(): void;
}

export interface AgentTestSocketsParts {
  readonly bus: RelayBus;
  readonly clock: Clock;
  readonly secrets: Pick<SecretBox, 'derive'>;
  /** Largest frame accepted from an edge. */
  readonly mostFrameBytes: number;
}

export class AgentTestSockets {
  readonly #clock: Clock;
  readonly #id: string;
  readonly #signing: Buffer;
  readonly #relay: CallRelay;
  readonly #expected = new Map<string, Expected>();
  readonly #sockets: WebSocketServer;

  constructor({ bus, clock, mostFrameBytes, secrets }: AgentTestSocketsParts) {
    this.#clock = clock;
    this.#id = bus.id;
    this.#signing = secrets.derive('agent test sockets');
    this.#relay = new CallRelay({
      bus,
      mostFrame: mostFrameBytes,
      arrive: (...arrival) => this.#arrive(...arrival),
    });
    this.#sockets = new WebSocketServer({ noServer: true, maxPayload: mostFrameBytes });
  }

  /** Runs waiting for an edge, plus open sockets here. */
  get open(): number {
    return this.#expected.size + this.#sockets.clients.size;
  }

  expect(runId: string, withinMs: number): ExpectedLine {
    const named = `${this.#id}.${randomBytes(24).toString('base64url')}`;
    const key = `${named}.${this.#signatureOf(runId, named)}`;
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
    const expected: Expected = { digest: digestOf(key), timer, cancel, arrive: resolve };
    this.#expected.set(runId, expected);
    return { key, arrived: promise, cancel };
  }

  /** Handles an upgrade for this endpoint. @returns whether it is one */
  take(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const runId = path.exec(request.url ?? '')?.[1];
    if (runId === undefined) return false;
    const key = /^Bearer (\S{1,200})$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const replica = key.split('.', 1)[0] ?? '';
    const isElsewhere = this.#relay.reaches(replica) && this.#isSigned(runId, key);
    const isTaken = isElsewhere
      ? this.#upgrade(request, socket, head, (opened) => this.#relay.pass(opened, replica, runId, key))
      : this.#isExpected(runId, key) &&
        this.#upgrade(request, socket, head, (opened) => this.#arrive(runId, key, opened));
    if (!isTaken) refuseUpgrade(socket, 401);
    return true;
  }

  /** @returns true */
  #upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    opened: (socket: LineSocket) => void,
  ): true {
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => opened(lineSocket(webSocket)));
    return true;
  }

  #isExpected(runId: string, key: string): boolean {
    const expected = this.#expected.get(runId);
    return expected !== undefined && timingSafeEqual(expected.digest, digestOf(key));
  }

  /** @returns whether a run expects it */
  #arrive(runId: string, key: string, socket: LineSocket): boolean {
    const expected = this.#expected.get(runId);
    if (!expected || !this.#isExpected(runId, key)) return false;
    this.#expected.delete(runId);
    expected.timer.cancel();
    expected.arrive(new TestLine(socket));
    return true;
  }

  #signatureOf(runId: string, named: string): string {
    return createHmac('sha256', this.#signing).update(`${runId} ${named}`).digest('base64url');
  }

  /** Whether a replica of this deployment has made the key for the run. */
  #isSigned(runId: string, key: string): boolean {
    const end = key.lastIndexOf('.');
    return timingSafeEqual(
      digestOf(key.slice(end + 1)),
      digestOf(this.#signatureOf(runId, key.slice(0, Math.max(0, end)))),
    );
  }

  /** No edge can connect any more: nothing waits for one. */
  close(): void {
    this.#relay.close();
    for (const { cancel } of [...this.#expected.values()]) cancel();
    for (const client of this.#sockets.clients) client.terminate();
    this.#sockets.close();
  }
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
