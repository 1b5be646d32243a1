/** Free ports for a system under test, and the proof that they are free again. */

import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** A TCP port that nothing listens on. */
export function freeTcpPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** Whether a TCP listener could be opened there. */
export function isTcpFree(port: number, host = '0.0.0.0'): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

/** Whether a UDP socket could be opened there. */
export function isUdpFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.once('error', () => {
      socket.close();
      resolve(false);
    });
    socket.bind(port, host, () => socket.close(() => resolve(true)));
  });
}

/** Lowest port of `count` free UDP ports in a row, even. */
export async function freeUdpRange(count: number): Promise<number> {
  for (;;) {
    const first = 20_000 + 2 * randomInt(4000);
    if ((await busyUdpPorts(first, count)).length === 0) return first;
  }
}

export async function busyUdpPorts(first: number, count: number): Promise<number[]> {
  const busy: number[] = [];
  for (let port = first; port < first + count; port++) if (!(await isUdpFree(port))) busy.push(port);
  return busy;
}
