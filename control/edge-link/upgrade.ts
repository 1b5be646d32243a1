/** Takes the edges' WebSocket connections: `GET /v1/edge/link` with a bearer edge token. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { refuseUpgrade, type WrongKeys } from '../http/index.ts';
import { findEdgeToken, keyOfHeader, revokedTokens, revokedTokensTopic } from '../organizations/index.ts';
import type { Bus } from '../replicas/index.ts';
import { closeCode } from './close-codes.ts';
import { serveLink } from './link.ts';
import type { LinkParts } from './link-parts.ts';
import { Sightings } from './sightings.ts';

/** How long to wait for an edge to complete the closing handshake. */
const closingGraceMs = 1000;

/** Before the next edge is told to move, ms: longer than a move takes, so that they connect one after another. */
const betweenMovesMs = 250;

const edgeLinkPath = '/v1/edge/link';

type UpgradeParts = Omit<LinkParts, 'sightings'> & { readonly wrongKeys: WrongKeys; readonly bus: Bus };

export interface EdgeConnections {
  /**
   * Accepts no more connections, and has the edges connect to other replicas, one after another. Resolves when they have,
   * or after `ms`. Close the others then.
   */
  move(ms: number): Promise<void>;
  /** Accepts no more connections, and resolves when all are closed. */
  close(): Promise<void>;
}

/**
 * Handles upgrades on `server`. Upgrades from anyone but edges are rejected: nothing else here uses WebSocket.
 * @param frameBytes largest accepted frame
 * @param otherUpgrades handles the edges' other upgrades; returns whether it did
 */
export function acceptEdges(
  server: Server,
  parts: UpgradeParts,
  frameBytes: number,
  otherUpgrades: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean = () => false,
): EdgeConnections {
  const tokens = new Map<WebSocket, string>();
  const links = new Map<WebSocket, ReturnType<typeof serveLink>>();
  let isMoving = false;
  const sightings = new Sightings(parts);
  const sockets = new WebSocketServer({ noServer: true, maxPayload: frameBytes, clientTracking: true });
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (otherUpgrades(request, socket, head)) return;
    if (isMoving) return refuseUpgrade(socket, 503);
    socket.on('error', destroy);
    admit(request, parts).then(
      (admitted) => {
        if ('status' in admitted) return refuseUpgrade(socket, admitted.status);
        socket.off('error', destroy);
        sockets.handleUpgrade(request, socket, head, (webSocket) => {
          tokens.set(webSocket, admitted.tokenId);
          webSocket.once('close', () => {
            tokens.delete(webSocket);
            links.delete(webSocket);
          });
          links.set(webSocket, serveLink(webSocket, { ...parts, sightings }));
        });
      },
      (error: unknown) => {
        parts.log.error({ err: error }, 'edge token could not be checked');
        refuseUpgrade(socket, 503);
      },
    );
    function destroy() {
      socket.destroy();
    }
  };
  server.on('upgrade', onUpgrade);
  const endRevoked = async () => {
    const revoked = await revokedTokens(parts.db, [...new Set(tokens.values())]);
    for (const [socket, id] of tokens)
      if (revoked.has(id)) socket.close(closeCode.policyViolation, 'the edge token was revoked');
  };
  const closed = (socket: WebSocket, ms: number) =>
    new Promise<void>((resolve) => {
      const timer = parts.clock.after(ms, resolve);
      socket.once('close', () => {
        timer.cancel();
        resolve();
      });
    });
  const move = async (ms: number) => {
    isMoving = true;
    const until = parts.clock.elapsed() + ms;
    const left = () => Math.max(0, until - parts.clock.elapsed());
    for (const [socket, link] of [...links]) {
      if (left() === 0) return;
      if (!links.has(socket)) continue;
      link.move();
      await closed(socket, Math.min(betweenMovesMs, left()));
    }
    await Promise.all([...links.keys()].map((socket) => closed(socket, left())));
  };
  const close = async () => {
    server.off('upgrade', onUpgrade);
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const client of sockets.clients)
      client.close(closeCode.goingAway, 'the control plane is shutting down');
    sockets.close(() => resolve());
    const grace = parts.clock.after(closingGraceMs, () => {
      for (const client of sockets.clients) client.terminate();
    });
    await promise;
    grace.cancel();
    await sightings.close();
  };
  const check = () => {
    endRevoked().catch((error: unknown) =>
      parts.log.error({ err: error }, 'revoked edge tokens could not be read'),
    );
  };
  revokedTokensTopic(parts.bus).on(check);
  parts.bus.onMissed(check);
  return { close, move };
}

type Admitted = { readonly tokenId: string } | { readonly status: 401 | 404 | 429 };

async function admit(request: IncomingMessage, { db, clock, wrongKeys }: UpgradeParts): Promise<Admitted> {
  if (request.url?.split('?', 1)[0] !== edgeLinkPath) return { status: 404 };
  const token = keyOfHeader(request.headers.authorization);
  const tokenId = token === null ? null : await findEdgeToken(db, clock, token);
  if (tokenId !== null) return { tokenId };
  const { statusCode } = await wrongKeys.refusal(request.socket.remoteAddress ?? '', token);
  return { status: statusCode === 429 ? 429 : 401 };
}
