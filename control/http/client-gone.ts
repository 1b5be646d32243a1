/** Work that is useless once the client has disconnected. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#shared/errors.ts';

/** Aborted when the answer is over: sent, or the client has gone, also before this call. Node tells that only once. */
export function answerOver({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const over = new AbortController();
  const give = () => over.abort(gone());
  raw.once('close', give);
  if (raw.destroyed) give();
  return over.signal;
}

/** @param work its signal is aborted when the request's connection closes, or is closed already */
export async function untilGone<T>(
  request: Pick<FastifyRequest, 'raw'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const { socket } = request.raw;
  const give = () => over.abort(gone());
  socket.once('close', give);
  if (socket.destroyed) give();
  try {
    return await work(over.signal);
  } finally {
    socket.off('close', give);
  }
}

function gone(): ApiError {
  return ApiError.unavailable('The asker has gone.', 1);
}
