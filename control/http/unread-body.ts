/** Lets a client whose request was rejected before its body was read finish sending, so that it can read the error. */
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { App } from './app-types.ts';

/** Most bytes read and discarded of such a body; then the client is disconnected. */
const mostDrainedBytes = 64 * 1_048_576;

/**
 * Closing a connection while client data is unread resets it, and the reset discards the response (RFC 9112 section
 * 9.6). So the rest of the body is read and discarded instead of closing, which Fastify does when a body is too large.
 * The server's request timeout limits how long that takes.
 */
export function addUnreadBodies(app: App): void {
  let ending = false;
  app.addHook('preClose', async () => {
    ending = true;
  });
  app.addHook('onSend', async ({ raw }, reply) => {
    // A request injected within the process has no connection.
    if (!(raw.socket instanceof Socket) || raw.complete || raw.socket.destroyed) return;
    reply.removeHeader('connection');
    drain(raw);
    // A server being stopped waits for this connection, which nothing else would close (RFC 9112 section 9.6).
    const whenDone = () => {
      if (raw.readableEnded && reply.raw.writableFinished && ending) raw.socket.end();
    };
    raw.once('end', whenDone);
    reply.raw.once('finish', whenDone);
  });
}

function drain(raw: IncomingMessage): void {
  let left = mostDrainedBytes;
  // A parser still reading, such as the upload parser, reads to the end itself.
  const isRead = raw.listenerCount('data') > 0;
  raw.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) raw.socket.destroy();
  });
  raw.on('error', () => undefined);
  if (!isRead) raw.resume();
}
