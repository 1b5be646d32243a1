/** Upgrades to WebSocket that are refused. */
import type { Duplex } from 'node:stream';

const reasons = {
  401: 'Unauthorized',
  404: 'Not Found',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
} as const;

/** The HTTP server has released the connection of an upgrade: nothing else closes it, or hears of its errors. */
export function refuseUpgrade(socket: Duplex, status: keyof typeof reasons): void {
  if (socket.destroyed) return;
  socket.on('error', () => socket.destroy());
  // The peer may never close its side.
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${reasons[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
