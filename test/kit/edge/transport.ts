/** Helpers of the transport tests: transports with awaitable events, and foreign peers. */

import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import {
  connect as connectTls,
  createServer as createTlsServer,
  type TLSSocket,
  type TlsOptions,
} from 'node:tls';
import { afterEach } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { ConnectionFailure } from '#shared/connection-faults.ts';
import type { TlsMaterial } from '../../../edge/engine/transport/certificates.ts';
import type { Flow } from '../../../edge/engine/transport/flow.ts';
import { TransportLayer, type TransportOptions } from '../../../edge/engine/transport/layer.ts';
import { createAuthority } from '../fakes/certificates.ts';

export const authority = createAuthority();
export const server = authority.issue({ names: ['DNS:localhost', 'IP:127.0.0.1'] });
export const MESSAGE = Buffer.from('OPTIONS sip:b SIP/2.0\r\nl: 0\r\n\r\n');
export const HOST = '127.0.0.1';

export const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface TransportEvent {
  readonly what: string;
  readonly flow?: Flow;
  readonly text: string;
  /** Of `closed`. */
  readonly loss?: ConnectionFailure;
}

/** A transport with awaitable events. */
export class Recorder {
  readonly clock = new FakeClock();
  readonly seen: TransportEvent[] = [];
  readonly layer: TransportLayer;
  #wake: () => void = () => {};

  constructor(options: Partial<TransportOptions> = {}) {
    const record = (what: string, text: string, flow?: Flow, loss?: ConnectionFailure) => {
      this.seen.push({ what, text, ...(flow && { flow }), ...(loss && { loss }) });
      this.#wake();
    };
    this.layer = new TransportLayer(
      {
        tls: { host: HOST, port: 0 },
        certificates: (): TlsMaterial => ({ server, authorities: [authority.cert] }),
        ...options,
      },
      {
        message: (flow, bytes) => record('message', bytes.toString('latin1'), flow),
        frameError: (flow, error) => {
          flow.send(Buffer.from(`${error.status}`));
          flow.close(error.reason);
          record('frameError', error.reason, flow);
        },
        closed: (flow, loss) => record('closed', loss.text, flow, loss),
        opened: (flow) => record('opened', flow.protocol, flow),
        refused: (address, reason) => record('refused', `${address}: ${reason}`),
      },
      this.clock,
    );
    cleanups.push(() => this.layer.close());
  }

  /** The `nth` event of a kind, as soon as it occurs. */
  async event(what: string, nth = 1): Promise<TransportEvent> {
    for (;;) {
      const found = this.seen.filter((entry) => entry.what === what)[nth - 1];
      if (found) return found;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** @param known sources that the configuration names */
export async function listening(
  options: Partial<TransportOptions> = {},
  known: readonly string[] = [HOST],
): Promise<Recorder & { port: number }> {
  const recorder = new Recorder(options);
  recorder.layer.setKnown({ org: known });
  const { tls } = await recorder.layer.listen();
  return Object.assign(recorder, { port: tls.port });
}

/** A TLS server that is not one of ours. */
export async function foreignServer(
  options: TlsOptions,
): Promise<{ port: number; socket: Promise<TLSSocket> }> {
  const foreign = createTlsServer(options);
  foreign.on('tlsClientError', () => {});
  const socket = new Promise<TLSSocket>((resolve) => foreign.once('secureConnection', resolve));
  await new Promise<void>((resolve) => foreign.listen(0, HOST, resolve));
  cleanups.push(() => new Promise((resolve) => foreign.close(resolve)));
  return { port: (foreign.address() as AddressInfo).port, socket };
}

export function failure(promise: Promise<unknown>): Promise<{ fault: string; message: string }> {
  return promise.then(
    () => ({ fault: 'none', message: 'it succeeded' }),
    (error) => error,
  );
}

export const target = (port: number, host = HOST) => ({ host, port, protocol: 'tls' as const });

/** A client that writes arbitrary bytes. */
export function rawClient(port: number, localAddress?: string) {
  const from = localAddress === undefined ? {} : { localAddress };
  const socket = connectTls({ host: HOST, port, ca: authority.cert, ...from });
  cleanups.push(() => socket.destroy());
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  const ready = new Promise<void>((resolve) => socket.once('secureConnect', () => resolve()));
  return { socket, closed, ready };
}

/** A TCP server that accepts and sends nothing; `accepted` resolves when the first client sends data. */
export async function silentServer(
  host = HOST,
  port = 0,
): Promise<{ port: number; accepted: Promise<void> }> {
  const { promise: accepted, resolve } = Promise.withResolvers<void>();
  const silent = createTcpServer((socket) => {
    cleanups.push(() => socket.destroy());
    // Its first octets show that it has completed the connection.
    socket.once('data', () => resolve());
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => silent.listen(port, host, resolve));
  cleanups.push(() => new Promise((resolve) => silent.close(resolve)));
  return { port: (silent.address() as AddressInfo).port, accepted };
}
