/**
 * Time of a test may only pass while nothing is on its way between the sockets of this process: on a busy machine the
 * kernel may carry octets late, and a test that lets 20 ms pass for each turn of the event loop would wait seconds for
 * them.
 */
import { subscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Sockets that stay unequal for so long have no other end in this process, or one that does not read. */
const patienceMs = 2_000;

const clients = new Set<Socket>();
/** By the ports of client and server. */
const servers = new Map<string, Socket>();
const given = new WeakSet<Socket>();
/** Sockets of servers whose client is known; those with TLS are not. */
const paired = new WeakSet<Socket>();

const socketOf = (message: unknown): Socket | null =>
  message instanceof Object && 'socket' in message && message.socket instanceof Socket
    ? message.socket
    : null;

subscribe('net.client.socket', (message) => {
  const socket = socketOf(message);
  if (!socket) return;
  clients.add(socket);
  socket.once('close', () => clients.delete(socket));
});

subscribe('net.server.socket', (message) => {
  const socket = socketOf(message);
  if (!socket) return;
  const ports = `${socket.remotePort} ${socket.localPort}`;
  servers.set(ports, socket);
  socket.once('close', () => {
    if (servers.get(ports) === socket) servers.delete(ports);
  });
});

/** Lets the sockets of this process work until all that was sent has been received. */
export async function wireSettled(): Promise<void> {
  const began = performance.now();
  for (let quiet = 0; quiet < 2; ) {
    await nextTurn();
    const busy = busySockets();
    quiet = busy.length === 0 ? quiet + 1 : 0;
    if (busy.length > 0 && performance.now() - began > patienceMs)
      for (const socket of busy) given.add(socket);
  }
}

function busySockets(): Socket[] {
  const left = new Set(servers.values());
  const busy: Socket[] = [];
  for (const client of clients) {
    const server = servers.get(`${client.localPort} ${client.remotePort}`);
    if (server) {
      left.delete(server);
      paired.add(server);
    }
    const isQuiet = server !== undefined && hasAll(server, client) && hasAll(client, server);
    if (!isQuiet && !given.has(client)) busy.push(client);
  }
  // Their clients have gone, and they have not noticed it yet.
  for (const server of left) if (paired.has(server) && !given.has(server)) busy.push(server);
  return busy;
}

/** Octets that wait in a socket, when it was looked at last. */
const waiting = new WeakMap<Socket, number>();

/** Whether a socket that is paused now is read piece by piece, one in each turn: it is not paused until time passes. */
function readsOn(socket: Socket): boolean {
  const { readableLength } = socket;
  const reads = waiting.get(socket) !== readableLength;
  waiting.set(socket, readableLength);
  return reads;
}

/** Whether `one` has received what `other` has sent, and its end. */
function hasAll(one: Socket, other: Socket): boolean {
  if (one.isPaused()) return !readsOn(one);
  const hasEnd = one.readableEnded || !other.writableFinished;
  return !one.connecting && !one.destroyed && one.bytesRead === other.bytesWritten && hasEnd;
}
