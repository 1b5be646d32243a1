import type { Socket } from 'node:net';

/**
 * Resolves when a socket is closed, also by a reset, and also if it was closed before. `events.once` would reject on a reset, and whether the far end
 * closes or resets depends on whether our octets were still in flight.
 */
export function untilClosed(socket: Socket): Promise<void> {
  socket.on('error', () => {});
  if (socket.closed) return Promise.resolve();
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
