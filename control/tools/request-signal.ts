import type { FastifyRequest } from 'fastify';
import { ApiError } from '#shared/errors.ts';

/**
 * Does work that is of no use once the asker has gone.
 * @param work is told by its signal when the connection of the request closes
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
