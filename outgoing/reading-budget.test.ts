/** What is read of a server that a customer has named, whatever it sends, and that it loses nothing by being held back. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { FakeClock } from '#shared/clock.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import type { ReadingBudget } from './reading-budget.ts';
import { openWebSocket } from './web-socket.ts';

const closes: (() => void)[] = [];
afterEach(() => {
  for (const close of closes.splice(0)) close();
});

interface Client {
  readonly socket: WebSocket;
  readonly budget: ReadingBudget;
  readonly clock: FakeClock;
  /** Octets and messages so far. */
  readonly read: { octets: number; messages: number };
}

/** A client of a server that sends with `flood`; the time of the client goes on only while it holds the server back. */
async function flooded(flood: (socket: WebSocket, connection: Socket) => void): Promise<Client> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  server.on('connection', (socket, request) => flood(socket, request.socket));
  const clock = new FakeClock();
  const opened = Promise.withResolvers<Client>();
  const pass = async (): Promise<void> => {
    const { budget } = await opened.promise;
    for (;;) {
      await nextTurn();
      if (!budget.aliveSince(Number.POSITIVE_INFINITY)) return;
      clock.advance(100);
    }
  };
  await openWebSocket(
    {
      url: new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`),
      headers: {},
      protocols: [],
      maxMessageBytes: 1_048_576,
      closeWithinMs: 2000,
      clock,
      held: () => void pass(),
      opened: (socket, budget) => {
        const read = { octets: 0, messages: 0 };
        for (const event of ['message', 'ping', 'pong'] as const) {
          socket.on(event, (data: Buffer) => {
            read.octets += data.length;
            read.messages++;
          });
        }
        opened.resolve({ socket, budget, clock, read });
      },
    },
    { allowed: parseNetworks(['127.0.0.1']), resolve: async () => ['127.0.0.1'], ca: undefined },
    new AbortController().signal,
  );
  closes.push(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return opened.promise;
}

/** What a read takes of the socket at once. */
const pieceOctets = 65_536;

test.each([
  {
    what: 'short messages',
    count: 12_000,
    octets: 64,
    send: (socket: WebSocket, octets: Buffer) => socket.send(octets),
  },
  {
    what: 'long messages',
    count: 24,
    octets: 262_144,
    send: (socket: WebSocket, octets: Buffer) => socket.send(octets),
  },
  {
    what: 'pongs',
    count: 8000,
    octets: 64,
    send: (socket: WebSocket, octets: Buffer) => socket.pong(octets),
  },
])(
  'of a server that sends $what without an end a budget is read, and nothing is lost',
  async ({ count, octets, send }) => {
    const { clock, read, socket } = await flooded((server) => {
      for (let sent = 0; sent < count; sent++) send(server, Buffer.alloc(octets, 0x61));
    });
    const began = clock.elapsed();
    const excess: number[] = [];
    const all = Promise.withResolvers<void>();
    for (const event of ['message', 'ping', 'pong'] as const) {
      socket.on(event, () => {
        const seconds = (clock.elapsed() - began) / 1000;
        excess.push(
          read.octets - 1_048_576 - seconds * 1_048_576 - pieceOctets - octets,
          // The last one of a read may have begun in the read before it.
          read.messages - 2000 - seconds * 500 - pieceOctets / (octets + 2) - 1,
        );
        if (read.messages === count) all.resolve();
      });
    }
    await all.promise;
    expect(read).toEqual({ messages: count, octets: count * octets });
    expect(Math.max(...excess)).toBeLessThanOrEqual(0);
  },
);

test('of a server that sends little but headers of frames a piece is read in each turn of the event loop', async () => {
  const sizes = Array.from({ length: 64 }, (_, at) => 1000 * at);
  const { read, socket } = await flooded((server, connection) => {
    for (const size of sizes) server.send(Buffer.alloc(size, 0x61));
    // Frames without content.
    connection.write(Buffer.alloc(60_000, Buffer.from([0x82, 0])));
    server.close(1000, 'the end');
  });
  let inTurn = 0;
  let most = 0;
  socket.on('message', () => {
    if (inTurn === 0) setImmediate(() => (inTurn = 0));
    most = Math.max(most, ++inTurn);
  });
  const [code, reason] = await once(socket, 'close');
  expect([code, String(reason)]).toEqual([1000, 'the end']);
  expect(read.messages).toBe(sizes.length + 30_000);
  // Two pieces come between two of these looks at most.
  expect(most).toBeLessThanOrEqual(2 * (4096 / 2));
});

test('a server that keeps within the budget is never held back', async () => {
  const { clock, read, socket } = await flooded((server) => {
    // Half a minute of speech in messages of 20 ms, and ten seconds in one.
    for (let sent = 0; sent < 1500; sent++) server.send('m'.repeat(240));
    server.send('l'.repeat(640_000));
  });
  const began = clock.elapsed();
  while (read.messages < 1501) await once(socket, 'message');
  expect(clock.elapsed()).toBe(began);
});

test('every WebSocket of both programs to others than control is opened with a budget', () => {
  const root = dirname(import.meta.dirname);
  const makers = ['outgoing', 'edge', 'control', 'shared'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => join(folder, name))
      .filter((name) => /new WebSocket\(/.test(readFileSync(join(root, name), 'utf8'))),
  );
  // The first two are to control.
  expect(makers.sort()).toEqual([
    'edge/agent/test-caller/run-socket.ts',
    'edge/reporting/link.ts',
    'outgoing/web-socket.ts',
  ]);
});
