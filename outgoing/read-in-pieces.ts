import type { Socket } from 'node:net';

/** A piece has at most 2,048 frames, which take a few ms; what is read of a socket at once, 64 KiB, can have 30,000. */
const pieceOctets = 4096;

/**
 * Has a connection give what it reads in pieces, one in each turn of the event loop, so that a peer who sends little but
 * headers of frames does not stop the thread.
 * @param isHeld whether the reader has paused the connection, and will resume it
 */
export function readInPieces(connection: Socket, isHeld: () => boolean): void {
  const push = connection.push.bind(connection);
  let hasMore = false;
  connection.push = (octets: Buffer | null) => {
    if (octets === null || octets.length <= pieceOctets) return push(octets);
    let takesMore = true;
    for (let at = 0; at < octets.length; at += pieceOctets) {
      hasMore = at + pieceOctets < octets.length;
      takesMore = push(octets.subarray(at, at + pieceOctets));
    }
    return takesMore;
  };
  connection.prependListener('data', () => {
    if (!hasMore && connection.readableLength === 0) return;
    connection.pause();
    setImmediate(() => !isHeld() && connection.resume());
  });
}
