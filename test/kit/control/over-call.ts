/** The edge's end of a run's connection, for tests: a real socket on which the test sends what an edge would. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import WebSocket from 'ws';
import type { AgentTestEvent, AgentTestOrder } from '#shared/agent-test-protocol.ts';
import { type Clock, systemClock } from '#shared/clock.ts';
import { SecretBox } from '../../../control/db/secrets.ts';
import type { RelayBus } from '../../../control/testing/over-call/relay.ts';
import { AgentTestSockets, type ExpectedLine } from '../../../control/testing/over-call/sockets.ts';

export const runId = '6f1c1f5e-3a63-4f0e-9d62-0d7b8f8f2b11';

/** Of a replica that is alone. */
const aloneBus: RelayBus = {
  id: 'only',
  topic: () => ({ publish: async () => undefined, post: () => undefined, on: () => undefined }),
  onMissed: () => undefined,
  transients: { peers: new Set(), onLeft: () => undefined },
};

export const testSockets = (clock: Clock, bus = aloneBus) =>
  new AgentTestSockets({
    bus,
    clock,
    secrets: new SecretBox('11'.repeat(32)),
    mostFrameBytes: 4_000_000,
  });

/** The endpoint of agent tests over a call, on its own port. */
export class TestSockets {
  readonly sockets: AgentTestSockets;
  readonly #server: Server = createServer();

  private constructor(bus?: RelayBus) {
    this.sockets = testSockets(systemClock, bus);
  }

  static async open(bus?: RelayBus): Promise<TestSockets> {
    const test = new TestSockets(bus);
    test.#server.on('upgrade', (request, socket, head) => {
      if (!test.sockets.take(request, socket, head)) socket.destroy();
    });
    test.#server.listen(0, '127.0.0.1');
    await once(test.#server, 'listening');
    return test;
  }

  expect(): ExpectedLine {
    return this.sockets.expect(runId, 10_000);
  }

  /** Rejects with the HTTP status when the connection is rejected. */
  async edge(key: string, id = runId): Promise<EdgeEnd> {
    const { port } = this.#server.address() as AddressInfo;
    return EdgeEnd.open(`ws://127.0.0.1:${port}`, key, id);
  }

  async close(): Promise<void> {
    this.sockets.close();
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}

export class EdgeEnd {
  readonly #socket: WebSocket;
  readonly #orders: AgentTestOrder[] = [];
  readonly opened: Promise<unknown>;
  readonly closed: Promise<unknown>;
  #wake: () => void = () => undefined;

  /** @param url of control, `ws:` or `wss:` */
  static async open(url: string, key: string, id: string): Promise<EdgeEnd> {
    const headers = { authorization: `Bearer ${key}` };
    const end = new EdgeEnd(new WebSocket(`${url}/v1/edge/test-calls/${id}`, { headers }));
    await end.opened;
    return end;
  }

  constructor(socket: WebSocket) {
    this.#socket = socket;
    this.opened = once(socket, 'open');
    this.closed = new Promise((resolve) => {
      socket.once('close', (code) => resolve(code));
    });
    socket.on('message', (data) => {
      this.#orders.push(JSON.parse(data.toString()));
      this.#wake();
    });
  }

  send(...events: (AgentTestEvent | object)[]): void {
    for (const event of events) this.#socket.send(JSON.stringify(event));
  }

  /** The next unread order. */
  async order(): Promise<AgentTestOrder> {
    for (;;) {
      const order = this.#orders.shift();
      if (order) return order;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  lose(): void {
    this.#socket.terminate();
  }
}
