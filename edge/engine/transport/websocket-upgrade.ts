/** Upgrades to SIP over WebSocket (RFC 7118). Loaded only with a WSS listener: HTTP and `ws` take 10 MiB of memory. */
import type { IncomingMessage } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { TransportLimits } from '#shared/engine-protocol/limits.ts';

/** A server that accepts WebSocket upgrades for `sip`, and answers everything else with 426 or 400. */
export function upgradingServer(
  options: ServerOptions,
  limits: TransportLimits,
  upgraded: (socket: WebSocket, raw: Socket) => void,
): Server {
  const server = createServer(options);
  const upgrader = new WebSocketServer({
    noServer: true,
    maxPayload: limits.maxMessageBytes,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has('sip') ? 'sip' : false),
  });
  server.on('request', (_request, response) => {
    response.writeHead(426, { Connection: 'close', Upgrade: 'websocket' }).end('SIP over WebSocket only\n');
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const offered = request.headers['sec-websocket-protocol'] ?? '';
    if (!offered.split(',').some((protocol) => protocol.trim() === 'sip')) {
      // The HTTP server has released the socket: we must handle its errors and its end.
      socket.on('error', () => socket.destroy());
      socket.once('finish', () => socket.destroy());
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    upgrader.handleUpgrade(request, socket, head, (webSocket) => upgraded(webSocket, request.socket));
  });
  return server;
}
