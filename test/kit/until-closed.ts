import type { Socket } from 'node:net';

/**
 * Resolves when a socket is closed, whichever way: a reset is an end too. `events.once` would reject on it, and
 * whether the far end closes or resets depends on whether octets of ours were still on their way.
 */
export function untilClosed(socket: Socket): Promise<void> {
  socket.on('error', () => {});
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
