/** A target that fails in one stage: as soon as the connection opens, or after the request. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { createAuthority } from '../fakes/certificates.ts';

export const authority = createAuthority();
export const pair = authority.issue({ names: ['DNS:target.example', 'IP:127.0.0.1'] });

/** What the target does with a connection. `reset` closes it with a TCP reset. */
type Behaviour = (socket: Socket, reset: () => void) => void;

export const http = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
export const onRequest = (answer: Behaviour): Behaviour => {
  return (socket, reset) => void socket.once('data', () => answer(socket, reset));
};

/** Before any octet, TLS included. */
export const onAccept: Record<string, { behaviour: Behaviour; late: boolean }> = {
  'resets the connection at once': { behaviour: (_socket, reset) => reset(), late: false },
  'closes the connection at once': { behaviour: (socket) => socket.end(), late: false },
  'talks another protocol': {
    behaviour: (socket) => socket.end('\u0000\u0001SSH-2.0-x\r\n\r\n'),
    late: false,
  },
  'says nothing': { behaviour: () => undefined, late: true },
};

/** After the request; `judgesBody`: only clients that read a body can see it. */
export const onHead: Record<string, { behaviour: Behaviour; late?: boolean; body?: boolean }> = {
  'resets instead of a head': { behaviour: onRequest((_socket, reset) => reset()) },
  'closes instead of a head': { behaviour: onRequest((socket) => socket.end()) },
  'answers what is not HTTP': { behaviour: onRequest((socket) => socket.end('220 ready\r\n\r\n')) },
  'closes in the middle of a head': { behaviour: onRequest((socket) => socket.end(http)) },
  'has a head without end': {
    behaviour: onRequest((socket) => socket.write(`${http}x: ${'y'.repeat(200_000)}`)),
  },
  'asks for an upgrade that nobody wants': {
    behaviour: onRequest((socket) =>
      socket.write('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    ),
  },
  'never sends a head': { behaviour: onRequest(() => undefined), late: true },
  'resets in the middle of its body': {
    behaviour: onRequest((socket, reset) => {
      socket.write(`${http}content-length: 100\r\n\r\n{`, () => setImmediate(reset));
    }),
    body: true,
  },
  'closes in the middle of its body': {
    behaviour: onRequest((socket) => socket.end(`${http}content-length: 100\r\n\r\n{`)),
    body: true,
  },
  'has chunks that are none': {
    behaviour: onRequest((socket) => socket.end(`${http}transfer-encoding: chunked\r\n\r\nnothing`)),
    body: true,
  },
  'never ends its body': {
    behaviour: onRequest((socket) => socket.write(`${http}content-length: 100\r\n\r\n{`)),
    late: true,
    body: true,
  },
};

export class Target {
  readonly server: Server;
  readonly sockets = new Set<Socket>();
  /** Resolves when the behavior was reached: the connection is open, or the request has arrived. */
  readonly reached = Promise.withResolvers<void>();

  constructor(tls: boolean, stage: 'accept' | 'request', behaviour: Behaviour) {
    const act = (socket: Socket) => {
      // After `behaviour`, so that its handling of the same data is finished.
      socket.on('error', () => undefined);
      behaviour(socket, () => {
        // The connection below TLS: TLS itself can only close in order.
        for (const raw of this.sockets) raw.resetAndDestroy();
      });
      // Unread data would hide that the other side has closed.
      socket.resume();
      if (stage === 'accept') this.reached.resolve();
      else socket.once('data', () => this.reached.resolve());
    };
    const secured = tls && stage === 'request';
    this.server = secured ? createTlsServer(pair, act) : createServer(act);
    this.server.on('tlsClientError', () => undefined);
    this.server.prependListener('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  async listen(): Promise<number> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}
