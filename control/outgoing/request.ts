/** One HTTP request to an address that was judged (contract 1.9). Redirects are not followed. */
import { lookup } from 'node:dns/promises';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type BlockList, isIP, type LookupFunction } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import { judgeAddresses, pinnedLookup, type ResolvedAddress } from '#shared/outgoing-targets.ts';

export interface OutgoingParts {
  readonly clock: Clock;
  readonly allowedTargets: BlockList;
  /** All addresses of a host name. Default: the system's. */
  readonly resolve?: (host: string) => Promise<readonly ResolvedAddress[]>;
  /** PEM of the authorities that are trusted. Default: the system's. */
  readonly ca?: string;
}

export interface OutgoingRequest {
  readonly method: string;
  /** http or https */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** null: none */
  readonly body: string | null;
  /** Longest time from the look-up to the end of what is read of the answer, ms. */
  readonly timeoutMs: number;
  /** Most bytes of the answer that are read; 0: none, the head is enough. */
  readonly mostBytes: number;
  readonly signal: AbortSignal;
}

export interface OutgoingAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  /** Whether the answer was longer than `mostBytes`. */
  readonly cut: boolean;
}

/** There was no answer. `refused`: the target must not be contacted; `aborted`: the asker gave up. */
export class OutgoingFailure extends Error {
  override readonly name = 'OutgoingFailure';
  readonly kind: 'refused' | 'timeout' | 'network' | 'aborted';
  constructor(kind: OutgoingFailure['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** Resolves with the answer, whatever its status. @throws OutgoingFailure */
export async function sendOutgoing(parts: OutgoingParts, request: OutgoingRequest): Promise<OutgoingAnswer> {
  const limit = new AbortController();
  const timer = parts.clock.after(request.timeoutMs, () => limit.abort());
  const signal = AbortSignal.any([request.signal, limit.signal]);
  try {
    const lookup = await untilAborted(judgedLookup(request.url, parts), signal);
    return await exchange(open(parts, request, lookup, signal), request, signal);
  } catch (error) {
    throw failureOf(error, request, limit.signal);
  } finally {
    timer.cancel();
  }
}

function failureOf(error: unknown, request: OutgoingRequest, limit: AbortSignal): OutgoingFailure {
  if (error instanceof OutgoingFailure) return error;
  if (request.signal.aborted) return new OutgoingFailure('aborted', 'the request was given up', error);
  if (limit.aborted) {
    return new OutgoingFailure('timeout', `no answer within ${request.timeoutMs} ms`, error);
  }
  return new OutgoingFailure('network', error instanceof Error ? error.message : String(error), error);
}

function open(
  { ca }: OutgoingParts,
  { url, method, headers }: OutgoingRequest,
  lookup: LookupFunction,
  signal: AbortSignal,
): ClientRequest {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new OutgoingFailure('refused', `${url.protocol} is not supported`);
  }
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  // Without an agent: a kept connection would go to an address that was judged for another request.
  return send(url, { method, headers, lookup, agent: false, signal, ...(ca !== undefined && { ca }) });
}

function exchange(
  outgoing: ClientRequest,
  { body, mostBytes }: OutgoingRequest,
  signal: AbortSignal,
): Promise<OutgoingAnswer> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('response', (answer) => {
      const status = answer.statusCode ?? 0;
      const contentType = answer.headers['content-type'] ?? '';
      read(answer, mostBytes).then(
        // A body that ends because the time is over is not the whole of it.
        (rest) => (signal.aborted ? reject(signal.reason) : resolve({ status, contentType, ...rest })),
        reject,
      );
    });
    outgoing.end(body ?? undefined);
  });
}

async function read(answer: IncomingMessage, most: number): Promise<Pick<OutgoingAnswer, 'body' | 'cut'>> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    if (most === 0) return { body: Buffer.alloc(0), cut: true };
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > most) break;
    }
  } finally {
    answer.destroy();
  }
  return { body: Buffer.concat(chunks).subarray(0, most), cut: size > most };
}

async function judgedLookup(url: URL, parts: OutgoingParts): Promise<LookupFunction> {
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  const family = isIP(host);
  const resolve = parts.resolve ?? ((name) => lookup(name, { all: true }));
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
  const [first, ...others] = addresses;
  if (!first) throw new Error(`${host} has no address`);
  const verdict = judgeAddresses(addresses, parts.allowedTargets);
  if (!verdict.allowed) {
    throw new OutgoingFailure('refused', `${host} must not be contacted: ${verdict.reason}`);
  }
  return pinnedLookup([first, ...others]);
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
