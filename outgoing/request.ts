/** One HTTP request with undici, on its own connection to a checked address. Redirects are not followed. */

import type { Client } from 'undici';
import type { Clock } from '#shared/clock.ts';
import { systemAddresses } from '#shared/judged-lookup.ts';
import { bareHost, type ConnectParts, connectJudged } from './connect.ts';
import { failureWords, OutgoingFailure } from './failure.ts';

export interface OutgoingParts {
  readonly clock: Clock;
  /** Networks that may be contacted although they are otherwise forbidden; null: the operator named the target. */
  readonly allowedTargets: ConnectParts['allowed'];
  /** All addresses of a host name. Default: the system's. */
  readonly resolve?: ConnectParts['resolve'];
  /** PEM of the trusted authorities. Default: Node's. */
  readonly ca?: ConnectParts['ca'];
}

export interface OutgoingRequest {
  readonly method: string;
  /** http or https */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** null: none */
  readonly body: string | Uint8Array | null;
  /** Time limit from the lookup to the end of the response, ms. */
  readonly timeoutMs: number;
  /** Maximum bytes of the response body to read; 0: none, only the head. */
  readonly mostBytes: number;
  /** The same of an answer that is no success (not 2xx). Default: `mostBytes`. */
  readonly mostFailureBytes?: number;
  readonly signal: AbortSignal;
}

export interface OutgoingAnswer {
  readonly status: number;
  readonly contentType: string;
  /** Of a redirect. */
  readonly location: string | null;
  readonly body: Buffer;
  /** Whether the body was longer than the most that is read. */
  readonly cut: boolean;
}

/** Maximum size of a response head, bytes; Node's own limit. */
const mostHeadBytes = 16_384;

/** Resolves with the response, whatever its status. @throws OutgoingFailure */
export async function sendOutgoing(parts: OutgoingParts, request: OutgoingRequest): Promise<OutgoingAnswer> {
  const { url, timeoutMs } = request;
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new OutgoingFailure('refused', `${url.protocol} is not supported`);
  }
  const limit = new AbortController();
  const timer = parts.clock.after(timeoutMs, () => limit.abort());
  const signal = AbortSignal.any([request.signal, limit.signal]);
  const client = await clientFor(parts, url, signal);
  try {
    signal.throwIfAborted();
    return await exchange(client, request, signal);
  } catch (error) {
    throw failureOf(error, request, limit.signal);
  } finally {
    timer.cancel();
    // No keep-alive: the connection's address was checked for this request only.
    await client.destroy();
  }
}

/** A client for one request: its connection goes to a checked address, and the signal aborts it while connecting. */
async function clientFor(parts: OutgoingParts, { href, origin }: URL, signal: AbortSignal): Promise<Client> {
  // Most programs send no request for a long time.
  const { Client } = await import('undici');
  const { allowedTargets: allowed, resolve = systemAddresses, ca } = parts;
  return new Client(origin, {
    pipelining: 0,
    maxHeaderSize: mostHeadBytes,
    // The deadline of the whole request applies instead.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_options, callback) => {
      connectJudged(new URL(href), { allowed, resolve, ca }, signal).then(
        (socket) => callback(null, socket),
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
      );
    },
  });
}

async function exchange(
  client: Client,
  { url, method, headers, body, ...most }: OutgoingRequest,
  signal: AbortSignal,
): Promise<OutgoingAnswer> {
  const answer = await client.request({
    method: method as 'GET',
    path: url.pathname + url.search,
    headers: { ...credentials(url), ...headers },
    body,
    signal,
  });
  const isSuccess = answer.statusCode >= 200 && answer.statusCode <= 299;
  const mostBytes = isSuccess ? most.mostBytes : (most.mostFailureBytes ?? most.mostBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  // We ended it, because the head was enough or the body too long: not a failure of the request.
  answer.body.on('error', () => undefined);
  try {
    if (mostBytes > 0) {
      for await (const chunk of answer.body as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        size += chunk.length;
        if (size > mostBytes) break;
      }
    }
  } finally {
    answer.body.destroy();
  }
  return {
    status: answer.statusCode,
    contentType: first(answer.headers['content-type']) ?? '',
    location: first(answer.headers.location) ?? null,
    body: Buffer.concat(chunks).subarray(0, mostBytes),
    cut: mostBytes === 0 || size > mostBytes,
  };
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** Name and password in a URL are used for HTTP basic authentication (RFC 7617). */
function credentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const plain = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(plain).toString('base64')}` };
}

function failureOf(error: unknown, request: OutgoingRequest, limit: AbortSignal): OutgoingFailure {
  if (request.signal.aborted) return new OutgoingFailure('aborted', 'the request was aborted', error);
  if (limit.aborted) return new OutgoingFailure('timeout', `no answer within ${request.timeoutMs} ms`, error);
  if (error instanceof OutgoingFailure) return error;
  // A header or method that cannot be sent: a retry would fail too.
  const code = error instanceof Error && 'code' in error ? error.code : null;
  const isOurs = code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED';
  if (error instanceof Error && (isOurs || error instanceof URIError)) {
    return new OutgoingFailure('refused', `the request cannot be sent: ${error.message}`, error);
  }
  return new OutgoingFailure('network', failureWords(bareHost(request.url), error), error);
}
