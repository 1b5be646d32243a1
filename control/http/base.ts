/** The bare HTTP server of the API: request ids, headers, bodies. It knows no area and no database. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import fastify, {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { ApiError, type ApiErrorCode, errorItem } from '#shared/errors.ts';
import { supervisorAgent } from '#shared/supervisor-agent.ts';
import type { App } from './app-types.ts';
import { compiled } from './compiled.ts';
import { addCors } from './cors.ts';
import { addErrorHandler, sendError } from './errors.ts';
import { addJsonBodies } from './json-body.ts';
import { addNotFound } from './not-found.ts';
import { addUnreadBodies } from './unread-body.ts';
import { validatorCompiler } from './validation.ts';

/** Contract 1.7. */
const bodyLimitBytes = 1_048_576;
/** More than Node reads of a request's head, so that the route handles an id of any length. */
const mostPathLength = 16_384;
/** Timeout for receiving a request, ms: enough for 11 MiB over a slow line. */
const requestTimeoutMs = 300_000;
const requestIdForm = /^[A-Za-z0-9._-]{1,64}$/;

export interface BaseOptions {
  readonly logger: FastifyBaseLogger;
  /** Whether responses are checked against their schemas; a wrong one fails. For tests. */
  readonly checkAnswers: boolean;
  /** Proxies that are trusted to report the client's address. */
  readonly trustedProxies?: readonly string[];
  /** Origins whose pages may use the API. */
  readonly corsOrigins?: readonly string[];
}

export function createBase(options: BaseOptions): App {
  const app: App = fastify({
    loggerInstance: options.logger,
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    trustProxy: options.trustedProxies?.length ? [...options.trustedProxies] : false,
    genReqId: requestId,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: mostPathLength },
    clientErrorHandler: refuseUnreadable,
    frameworkErrors: (_error, request, reply: FastifyReply) => {
      reply.headers(commonHeaders(request.id));
      return sendError(request, reply, ApiError.of('ROUTE_NOT_FOUND'), '');
    },
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(({ schema }) => {
    if (!options.checkAnswers) return (data) => withinAnswer(JSON.stringify(data));
    return (data) => {
      const text = withinAnswer(JSON.stringify(data));
      const [wrong] = compiled(schema).Errors(JSON.parse(text));
      if (wrong)
        throw new Error(`Answer breaks its schema at ${wrong.instancePath}: ${wrong.message}: ${text}`);
      return text;
    };
  });
  app.addHook('onRequest', async (request, reply) => void reply.headers(commonHeaders(request.id)));
  addUnreadBodies(app);
  addCors(app, options.corsOrigins ?? []);
  addErrorHandler(app);
  addNotFound(app);
  addJsonBodies(app);
  addAccessLog(app);
  return app;
}

/**
 * The largest JSON response, characters. Pages of lists are far smaller (pages.ts); this catches single items that have
 * grown.
 */
const mostAnswerChars = 16 * 1_048_576;

/** @throws ApiError ANSWER_TOO_LARGE */
function withinAnswer(text: string): string {
  if (text.length <= mostAnswerChars) return text;
  throw ApiError.of('ANSWER_TOO_LARGE', { limit: mostAnswerChars, size: text.length });
}

/** Paths polled every few seconds. */
export const probePaths: ReadonlySet<string> = new Set([
  '/health',
  '/health/live',
  '/health/ready',
  '/metrics',
]);

interface Unreadable {
  readonly status: string;
  readonly code: ApiErrorCode;
  readonly text: string;
}

const notHttp: Unreadable = {
  status: '400 Bad Request',
  code: 'INVALID_PARAMETER',
  text: 'not a readable HTTP request',
};

/** By the code of Node's error. */
const unreadable: ReadonlyMap<string | undefined, Unreadable> = new Map([
  [
    'HPE_HEADER_OVERFLOW',
    {
      status: '431 Request Header Fields Too Large',
      code: 'PAYLOAD_TOO_LARGE',
      text: 'the request headers are too large',
    },
  ],
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    { status: '408 Request Timeout', code: 'INVALID_PARAMETER', text: 'the request did not arrive in time' },
  ],
]);

/** Answers input that Node cannot parse as HTTP, in the form of other errors (contract 1.3 and 1.7). */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, code, text } = unreadable.get(error.code) ?? notHttp;
  const item = errorItem(code, { rule: text }, text);
  const body = JSON.stringify({ data: null, errors: [item] });
  const headers = Object.entries({
    ...commonHeaders(randomUUID()),
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  socket.end(
    `HTTP/1.1 ${status}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
}

function requestId(request: IncomingMessage): string {
  const sent = request.headers['x-request-id'];
  return typeof sent === 'string' && requestIdForm.test(sent) ? sent : randomUUID();
}

function commonHeaders(id: string): Record<string, string> {
  return { 'x-request-id': id, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
}

function loggedPath(request: FastifyRequest): string {
  const { config, url = '' } = request.routeOptions;
  return config.secretPath ? url : (request.url.split('?', 1)[0] ?? '');
}

/** Without a valid key, and beyond a limit. */
const refusals: ReadonlySet<number> = new Set([401, 429]);

function addAccessLog(app: App): void {
  app.addHook('onResponse', async (request, reply) => {
    // Probes and scrapers poll all the time, but their errors are still logged; not those of who waits for the start.
    const isExpected = reply.statusCode < 400 || request.headers['user-agent'] === supervisorAgent;
    const level = probePaths.has(request.url) && isExpected ? 'debug' : 'info';
    request.log[level](
      {
        method: request.method,
        path: loggedPath(request),
        status: reply.statusCode,
        // For whoever has to block the one who guesses keys; of others nobody needs it.
        ...(refusals.has(reply.statusCode) && { address: request.ip }),
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    );
  });
}
