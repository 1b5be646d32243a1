/**
 * The network of the simulated world, replacing `node:net`, `node:tls` and `node:dgram`. Octets of a connection arrive
 * in order, late, and split anywhere; connections open late or not at all, are reset, and stall while two machines are
 * partitioned. There is no TLS: the handshake succeeds after one round trip.
 */
import dgram from 'node:dgram';
import { EventEmitter } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import tls from 'node:tls';
import type { Random } from './random.ts';
import { SimServer, SimSocket } from './sockets.ts';
import type { SimTime } from './time.ts';

export interface NetworkFaults {
  /** Longest one-way delay, ms. */
  readonly delayMs: number;
  /** Share of segments that are lost once and arrive after a retransmission. */
  readonly loss: number;
  /** Share of segments that are split in two. */
  readonly cuts: number;
}

const retransmitMs = 300;
/** A segment without acknowledgment for this time ends the connection. */
const giveUpMs = 40_000;
const connectGiveUpMs = 20_000;

export class SimNetwork {
  readonly time: SimTime;
  faults: NetworkFaults = { delayMs: 20, loss: 0, cuts: 0 };
  readonly #random: Random;
  readonly #listeners = new Map<string, (socket: SimSocket) => void>();
  readonly #sockets = new Set<SimSocket>();
  readonly #partings = new Set<string>();
  #port = 20_000;

  constructor(time: SimTime, random: Random) {
    this.time = time;
    this.#random = random;
  }

  /** Open connections of a machine. */
  sockets(host: string): readonly SimSocket[] {
    return [...this.#sockets].filter(({ localAddress }) => localAddress === host);
  }

  /** Partitions the two machines; without `other`, this machine from all. */
  part(one: string, other: string): void {
    this.#partings.add(pair(one, other));
  }

  join(one: string, other: string): void {
    this.#partings.delete(pair(one, other));
  }

  joinAll(): void {
    this.#partings.clear();
  }

  listen(host: string, port: number, accept: (socket: SimSocket) => void): [string, number] {
    const bound = port === 0 ? this.#port++ : port;
    const key = `${host} ${bound}`;
    if (this.#listeners.has(key)) {
      throw Object.assign(new Error(`listen EADDRINUSE: address already in use ${host}:${bound}`), {
        code: 'EADDRINUSE',
      });
    }
    this.#listeners.set(key, accept);
    return [host, bound];
  }

  unlisten(host: string, port: number): void {
    this.#listeners.delete(`${host} ${port}`);
  }

  connect(from: string, host: string, port: number): SimSocket {
    const socket = new SimSocket(this, [from, this.#port++], [host, port]);
    socket.connecting = true;
    this.#sockets.add(socket);
    this.#open(socket, this.time.now);
    return socket;
  }

  #open(socket: SimSocket, begun: number): void {
    const { localAddress: from, remoteAddress: host, remotePort: port } = socket;
    this.time.after(this.#delay(from, host) * 2, () => {
      if (socket.destroyed) return;
      if (this.#parted(from, host)) {
        if (this.time.now - begun > connectGiveUpMs) socket.destroy(failure('ETIMEDOUT', host, port));
        else this.time.after(1000, () => this.#open(socket, begun));
        return;
      }
      const wild = host === machine ? this.#listeners.get(`0.0.0.0 ${port}`) : undefined;
      const accept = this.#listeners.get(`${host} ${port}`) ?? wild;
      if (!accept) {
        socket.destroy(failure('ECONNREFUSED', host, port));
        return;
      }
      const twin = new SimSocket(this, [host, port], [from, socket.localPort]);
      this.#sockets.add(twin);
      socket.twin = twin;
      twin.twin = socket;
      accept(twin);
      socket.connecting = false;
      socket.emit('connect');
      socket.emit('secureConnect');
    });
  }

  carry(socket: SimSocket, octets: Buffer): void {
    const at = octets.length > 1 && this.#random.chance(this.faults.cuts) ? octets.length >> 1 : 0;
    const pieces = at === 0 ? [octets] : [octets.subarray(0, at), octets.subarray(at)];
    for (const piece of pieces) this.#deliver(socket, (twin) => twin.push(piece));
  }

  finish(socket: SimSocket): void {
    this.#deliver(socket, (twin) => twin.push(null));
  }

  /** Closes a connection at one end: a reset for the other. */
  cut(socket: SimSocket): void {
    this.#sockets.delete(socket);
    const { twin } = socket;
    if (!twin || twin.destroyed) return;
    this.#deliver(socket, (other) => {
      if (other.readableEnded || other.writableFinished) other.destroy();
      else other.destroy(failure('ECONNRESET', socket.localAddress, socket.localPort));
    });
  }

  /**
   * A machine or a program on it crashes: it gets no more events, the far ends get a reset.
   * @param which of its connections and listening ports; all unless given
   */
  kill(
    host: string,
    which: (of: { localPort: number; remoteAddress: string; remotePort: number }) => boolean = () => true,
  ): void {
    for (const socket of this.sockets(host)) {
      if (!which(socket)) continue;
      socket.removeAllListeners();
      socket.on('error', () => {});
      socket.destroy();
    }
    for (const key of [...this.#listeners.keys()]) {
      const [at, port] = key.split(' ');
      const isHere = at === host || (host === machine && at === '0.0.0.0');
      if (isHere && which({ localPort: Number(port), remoteAddress: '', remotePort: 0 }))
        this.#listeners.delete(key);
    }
  }

  #deliver(socket: SimSocket, what: (twin: SimSocket) => void, since = this.time.now): void {
    const { twin } = socket;
    if (!twin) return;
    const at = socket.arrival(this.time.now + this.#delay(socket.localAddress, socket.remoteAddress));
    this.time.at(at, () => {
      if (twin.destroyed) return;
      const isBehind = this.#waiting.has(socket);
      if (!isBehind && !this.#parted(socket.localAddress, socket.remoteAddress)) what(twin);
      else if (this.time.now - since > giveUpMs) {
        socket.destroy(failure('ETIMEDOUT', socket.remoteAddress, socket.remotePort));
      } else {
        // Later data wait behind it.
        socket.arrival(this.time.now + 1000);
        this.#held(socket, what, since);
      }
    });
  }

  #held(socket: SimSocket, what: (twin: SimSocket) => void, since: number): void {
    const { twin } = socket;
    if (!twin) return;
    const queue = this.#waiting.get(socket);
    if (queue) {
      queue.push(what);
      return;
    }
    const held = [what];
    this.#waiting.set(socket, held);
    const again = () => {
      if (twin.destroyed) this.#waiting.delete(socket);
      else if (!this.#parted(socket.localAddress, socket.remoteAddress)) {
        this.#waiting.delete(socket);
        for (const each of held) if (!twin.destroyed) each(twin);
      } else if (this.time.now - since > giveUpMs) {
        this.#waiting.delete(socket);
        socket.destroy(failure('ETIMEDOUT', socket.remoteAddress, socket.remotePort));
      } else this.time.after(500, again);
    };
    this.time.after(500, again);
  }

  readonly #waiting = new Map<SimSocket, ((twin: SimSocket) => void)[]>();

  #delay(from: string, to: string): number {
    if (from === to) return 0.1;
    const { delayMs, loss } = this.faults;
    const lost = this.#random.chance(loss) ? retransmitMs : 0;
    return 0.5 + this.#random.next() * delayMs + lost;
  }

  #parted(one: string, other: string): boolean {
    return this.#partings.has(pair(one, other));
  }
}

function pair(one: string, other: string): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}

function failure(code: string, host: string, port: number): Error {
  return Object.assign(new Error(`${code} ${host}:${port}`), { code });
}

/** The machine of edge and engine; connections between them use loopback. */
export const machine = '10.0.0.1';
export const loopback = '127.0.0.1';
export const controlHost = '10.0.0.2';

interface Place {
  readonly host?: string;
  readonly port?: number;
}

/**
 * Replaces Node's network with the world's, permanently for this process: everything that connects or listens from now
 * on does so in the world.
 */
export function takeNetwork(network: SimNetwork): void {
  const connect = (where: Place | number, ...rest: unknown[]) => {
    const place = typeof where === 'number' ? { port: where, host: String(rest[0] ?? loopback) } : where;
    const host = place.host ?? loopback;
    const socket = network.connect(host === loopback ? loopback : machine, host, place.port ?? 0);
    const done = rest.find((one): one is () => void => typeof one === 'function');
    if (done) socket.once('secureConnect', done);
    return socket;
  };
  const createServer = (...args: unknown[]) =>
    new SimServer(
      network,
      args.find((one): one is (socket: SimSocket) => void => typeof one === 'function'),
    );
  const createTlsServer = () => {
    const server = new SimServer(network);
    server.on('connection', (socket) => setImmediate(() => server.emit('secureConnection', socket)));
    return Object.assign(server, { setSecureContext: () => {} });
  };
  const createSocket = () => {
    const socket = new EventEmitter();
    return Object.assign(socket, {
      bind: (...args: unknown[]) => {
        const ready = args.find((one): one is () => void => typeof one === 'function');
        process.nextTick(() => ready?.());
        return socket;
      },
      close: (done?: () => void) => process.nextTick(() => done?.()),
      unref: () => socket,
      address: () => ({ address: loopback, port: 0 }),
    });
  };
  Object.assign(net, { connect, createConnection: connect, createServer });
  Object.assign(tls, { connect, createServer: createTlsServer });
  Object.assign(dgram, { createSocket });
  // drachtio-srf asserts that its sockets are Node's.
  Object.defineProperty(net.Socket, Symbol.hasInstance, {
    configurable: true,
    value: (one: unknown) => one instanceof SimSocket,
  });
  syncBuiltinESMExports();
}
