import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { AgentTestOrder } from '#shared/agent-test-protocol.ts';
import { FakeClock } from '#shared/clock.ts';
import { RunSocket } from './run-socket.ts';

const runId = '6f1c1f5e-3a63-4f0e-9d62-0d7b8f8f2b11';
const hangup: AgentTestOrder = { type: 'hangup', reason: 'enough' };

let clock: FakeClock;
let http: Server;
let control: WebSocketServer;
let orders: AgentTestOrder[];
/** Resolves with the next order; rejects when the socket is lost. */
let ordered: PromiseWithResolvers<AgentTestOrder>;
let lost: PromiseWithResolvers<string>;

beforeEach(async () => {
  clock = new FakeClock();
  orders = [];
  ordered = Promise.withResolvers();
  lost = Promise.withResolvers();
  http = createServer();
  // The test decides when a ping is answered.
  control = new WebSocketServer({ server: http, autoPong: false });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
});
afterEach(async () => {
  for (const client of control.clients) client.terminate();
  control.close();
  http.close();
  http.closeAllConnections();
  await once(http, 'close');
});

/** The edge's socket, and control's end of it. */
async function open(): Promise<{ edge: RunSocket; end: WebSocket; path: string; key: string }> {
  const connected = once(control, 'connection');
  const edge = await RunSocket.open({
    controlUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    runId,
    key: 'k',
    clock,
    limitMs: 4000,
    order: (order) => {
      orders.push(order);
      ordered.resolve(order);
    },
    lost: (why) => lost.resolve(why),
  });
  const [end, request] = await connected;
  return { edge, end, path: request.url, key: request.headers.authorization };
}

describe('the socket of a test run', () => {
  test('presents its key, takes orders, and reports events', async () => {
    const { edge, end, path, key } = await open();
    expect([path, key]).toEqual([`/v1/edge/test-calls/${runId}`, 'Bearer k']);
    const received = once(end, 'message');
    edge.send({ type: 'moved' });
    expect(JSON.parse(String((await received)[0]))).toEqual({ type: 'moved' });
    end.send(JSON.stringify(hangup));
    expect(await ordered.promise).toEqual(hangup);
    const closed = once(end, 'close');
    edge.close();
    expect((await closed)[0]).toBe(1000);
  });

  test('stays open while each ping is answered before the next, and is lost otherwise', async () => {
    const { end } = await open();
    const pinged = once(end, 'ping');
    clock.advance(4000);
    await pinged;
    end.pong();
    end.send(JSON.stringify(hangup));
    // The pong arrived before the order.
    await ordered.promise;
    const again = once(end, 'ping');
    clock.advance(4000);
    await again;
    clock.advance(4000);
    expect(await lost.promise).toBe('control was silent for 4000 ms');
    expect(clock.pending).toBe(0);
  });

  test('is lost when control goes away or sends something other than an order', async () => {
    const first = await open();
    first.end.close(1001, 'restarting');
    expect(await lost.promise).toBe('closed with 1001 restarting');
    lost = Promise.withResolvers();
    const second = await open();
    second.end.send('{"type":"sing"}');
    expect(await lost.promise).toBe('control sent an invalid order');
    expect([orders, clock.pending]).toEqual([[], 0]);
  });

  test('fails to open when control rejects it', async () => {
    control.close();
    http.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n'));
    await expect(open()).rejects.toThrow('the socket of the test run did not open');
    expect(clock.pending).toBe(0);
  });
});
