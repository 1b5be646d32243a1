/** SIP servers on loopback for discovery tests. Each answers as its test defines. */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { afterEach } from 'vitest';
import { parseResponse, type SipResponse } from '../../../edge/trunks/discovery/sip-response.ts';

export const host = '127.0.0.1';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Gets a request, a function to send with, and one that closes the connection. */
type Answerer = (request: string, send: (text: string) => void, close: () => void) => void;

export async function udpServer(answerer: Answerer): Promise<number> {
  const socket = createSocket('udp4');
  socket.on('message', (bytes: Buffer, { address, port }: RemoteInfo) => {
    answerer(
      bytes.toString(),
      (text) => socket.send(text, port, address),
      () => {},
    );
  });
  socket.bind(0, host);
  await once(socket, 'listening');
  cleanups.push(() => new Promise<void>((resolve) => socket.close(resolve)));
  return socket.address().port;
}

export function tcpServer(answerer: Answerer): Promise<number> {
  return listening(createServer((socket) => serve(socket, answerer)));
}

export function tlsServer(options: TlsOptions, answerer: Answerer): Promise<number> {
  const server = createTlsServer(options, (socket) => serve(socket, answerer));
  // Half of the probes use another transport.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return listening(server);
}

/** A port on loopback without a listener. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function serve(socket: Socket, answerer: Answerer): void {
  cleanups.push(() => socket.destroy());
  socket.on('error', () => {});
  socket.on('data', (bytes) =>
    answerer(
      bytes.toString(),
      (text) => socket.write(text),
      () => socket.end(),
    ),
  );
}

async function listening(server: Server): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  cleanups.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A response to `request`; `lines` are additional headers. */
export function reply(request: string, status: string, lines: readonly string[] = [], body = ''): string {
  const own = request
    .split('\r\n')
    .filter((line) => /^(via|from|call-id|cseq|to):/i.test(line))
    .map((line) => (/^to:/i.test(line) ? `${line};tag=abc` : line));
  return [`SIP/2.0 ${status}`, ...own, ...lines, `Content-Length: ${body.length}`, '', body].join('\r\n');
}

/** A response with these header lines. */
export function response(lines: readonly string[], body = '', startLine = 'SIP/2.0 200 OK'): SipResponse {
  const parsed = parseResponse([startLine, ...lines, '', body].join('\r\n'));
  if (!parsed) throw new Error('no SIP response');
  return parsed;
}
