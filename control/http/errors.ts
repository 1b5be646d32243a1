/** Writes errors in the form of their group (contract 1.3). */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#shared/errors.ts';
import { faultWords, storageFault } from '#shared/storage-fault.ts';
import type { App } from './app-types.ts';
import { errorBody, groupOf } from './groups.ts';

/** Retry-After while nothing can be stored, s: someone has to free disk space. */
const storageRetryS = 30;

export function addErrorHandler(app: App): void {
  app.setErrorHandler((error: unknown, request, reply) => {
    const fault = storageFault(error);
    if (fault !== null) {
      request.log.error({ err: error, fault }, 'the control plane cannot store');
      const what = `The control plane cannot store anything now: ${faultWords[fault]}. Try again later.`;
      return sendError(request, reply, ApiError.unavailable(what, storageRetryS));
    }
    const answer = asApiError(error, request);
    if (answer.statusCode >= 500 && answer.code !== 'SERVICE_UNAVAILABLE') {
      request.log.error({ err: error }, 'request failed');
    }
    return sendError(request, reply, answer);
  });
}

/** @param path decides the group; defaults to the request's */
export function sendError(
  request: Pick<FastifyRequest, 'url'>,
  reply: FastifyReply,
  error: ApiError,
  path = request.url,
): FastifyReply {
  if (error.retryAfter !== undefined) reply.header('retry-after', error.retryAfter);
  return reply
    .code(error.statusCode)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(groupOf(path), error.statusCode, error.items));
}

/** Maps Fastify's own request errors to the contract's codes. */
function asApiError(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error;
  const { code, statusCode } = error instanceof Error ? (error as Partial<FastifyError>) : {};
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return ApiError.of('PAYLOAD_TOO_LARGE');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return ApiError.of('UNSUPPORTED_MEDIA_TYPE', undefined, takenTypes(request));
    default:
      return statusCode === 400 ? ApiError.of('INVALID_JSON') : ApiError.of('INTERNAL_ERROR');
  }
}

/** The accepted content types, when JSON is not the one. */
function takenTypes({ routeOptions }: FastifyRequest): string | undefined {
  const taken = routeOptions.schema?.consumes;
  return taken && `The body must be ${taken.join(' or ')}.`;
}
