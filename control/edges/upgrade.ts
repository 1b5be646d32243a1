/** Takes the edges' WebSocket connections: `GET /v1/edge/link` with a bearer edge token. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { keyOfHeader } from '../organizations/rules.ts';
import { isEdgeToken } from '../organizations/store.ts';
import { type LinkParts, serveLink } from './link.ts';

/** How long an edge may take to answer the closing of its connection. */
const closingGraceMs = 1000;

const edgeLinkPath = '/v1/edge/link';

/**
 * Answers upgrades on `server`. Others than those of edges are refused: nothing else here speaks WebSocket.
 * @param frameBytes largest frame that is taken
 * @returns a function that stops this and resolves when all connections are closed
 */
export function acceptEdges(server: Server, parts: LinkParts, frameBytes: number): () => Promise<void> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: frameBytes, clientTracking: true });
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', destroy);
    admit(request, parts).then(
      (status) => {
        if (status !== 101) return refuse(socket, status);
        socket.off('error', destroy);
        sockets.handleUpgrade(request, socket, head, (webSocket) => serveLink(webSocket, parts));
      },
      (error: unknown) => {
        parts.log.error({ err: error }, 'edge token could not be checked');
        refuse(socket, 503);
      },
    );
    function destroy() {
      socket.destroy();
    }
  };
  server.on('upgrade', onUpgrade);
  return async () => {
    server.off('upgrade', onUpgrade);
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const client of sockets.clients) client.close(1001, 'the control plane is shutting down');
    sockets.close(() => resolve());
    const grace = parts.clock.after(closingGraceMs, () => {
      for (const client of sockets.clients) client.terminate();
    });
    await promise;
    grace.cancel();
  };
}

async function admit(request: IncomingMessage, parts: LinkParts): Promise<101 | 401 | 404> {
  if (request.url?.split('?', 1)[0] !== edgeLinkPath) return 404;
  const token = keyOfHeader(request.headers.authorization);
  return token !== null && (await isEdgeToken(parts.db, token)) ? 101 : 401;
}

const reasons = { 401: 'Unauthorized', 404: 'Not Found', 503: 'Service Unavailable' } as const;

function refuse(socket: Duplex, status: keyof typeof reasons): void {
  if (socket.destroyed) return;
  socket.end(`HTTP/1.1 ${status} ${reasons[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
