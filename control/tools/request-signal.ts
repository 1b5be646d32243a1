import type { FastifyRequest } from 'fastify';
import { ApiError } from '#shared/errors.ts';

/**
 * Runs work that is useless once the client has disconnected.
 * @param work its signal is aborted when the request's connection closes
 */
export async function untilGone<T>(
  request: Pick<FastifyRequest, 'raw'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const gone = new AbortController();
  const { socket } = request.raw;
  const give = () => gone.abort(ApiError.unavailable('The asker has gone.', 1));
  socket.once('close', give);
  try {
    return await work(gone.signal);
  } finally {
    socket.off('close', give);
  }
}
