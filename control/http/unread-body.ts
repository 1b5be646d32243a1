/** Lets a client that was refused before its body was read finish sending, so that it gets to read why. */
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { App } from './app-types.ts';

/** What is read and thrown away of such a body at most; who sends on then is cut off. */
const mostDrainedBytes = 64 * 1_048_576;

/**
 * A connection that is closed while data of the client lies unread is reset, and the reset takes the answer with it
 * (RFC 9112 section 9.6). So the rest of the body is read and thrown away instead of closing, which Fastify asks for
 * when a body is too large. How long that may take the server's request timeout says.
 */
export function addUnreadBodies(app: App): void {
  let ending = false;
  app.addHook('preClose', async () => {
    ending = true;
  });
  app.addHook('onSend', async ({ raw }, reply) => {
    // A request that was handed to Fastify within the process has no connection.
    if (!(raw.socket instanceof Socket) || raw.complete || raw.socket.destroyed) return;
    reply.removeHeader('connection');
    drain(raw);
    // Who stops the server waits for this connection, which nothing else would end (RFC 9112 section 9.6).
    const whenDone = () => {
      if (raw.readableEnded && reply.raw.writableFinished && ending) raw.socket.end();
    };
    raw.once('end', whenDone);
    reply.raw.once('finish', whenDone);
  });
}

function drain(raw: IncomingMessage): void {
  let left = mostDrainedBytes;
  // A parser that still reads, as that of uploads does, reads to the end by itself.
  const isRead = raw.listenerCount('data') > 0;
  raw.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) raw.socket.destroy();
  });
  raw.on('error', () => undefined);
  if (!isRead) raw.resume();
}
