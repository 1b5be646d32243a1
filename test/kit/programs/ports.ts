/** Free ports for a system under test, and checks that they are free again. */

import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';

/**
 * Test files run in parallel, so each worker uses a separate port range. All ranges are below the kernel's ephemeral
 * ports: a free port stays free until the test opens it.
 */
export const portParts = 8;
const part = Number(process.env.VITEST_POOL_ID ?? 0) % portParts;
const portsInPart = 10_000 / portParts;
const tcpPart = { first: 10_000 + part * portsInPart, count: portsInPart };
const udpPart = { first: 20_000 + part * portsInPart, count: portsInPart };

let given = randomInt(tcpPart.count);

/** A TCP port without listener, a new one each time. */
export async function freeTcpPort(): Promise<number> {
  for (;;) {
    given = (given + 1) % tcpPart.count;
    const port = tcpPart.first + given;
    if (await isTcpFree(port)) return port;
  }
}

/** Whether a TCP listener could be opened on it. */
export function isTcpFree(port: number, host = '0.0.0.0'): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

/** Whether a UDP socket could be opened on it. */
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
    const first = udpPart.first + 2 * randomInt(Math.floor((udpPart.count - count) / 2));
    if ((await busyUdpPorts(first, count)).length === 0) return first;
  }
}

/** Ports on which any socket of this network namespace receives, by the kernel's tables: to bind each takes far longer. */
export async function busyUdpPorts(first: number, count: number): Promise<number[]> {
  const udp = await readFile('/proc/self/net/udp', 'latin1');
  // Missing where the kernel has no IPv6.
  const udp6 = await readFile('/proc/self/net/udp6', 'latin1').catch(() => '');
  // `  12: 0100007F:4E20 00000000:0000 07 …`: place, local address and port, remote ones.
  const used = `${udp}${udp6}`.matchAll(/^ *\d+: [0-9A-F]+:([0-9A-F]{4}) /gm);
  const ports = new Set([...used].map(([, port = '']) => Number.parseInt(port, 16)));
  return [...ports].filter((port) => port >= first && port < first + count).sort((a, b) => a - b);
}
