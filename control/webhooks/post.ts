/** One HTTPS POST to an address that was judged (contract 1.9 and 13). */
import { lookup } from 'node:dns/promises';
import { request } from 'node:https';
import { type BlockList, isIP, type LookupFunction } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import { judgeAddress } from '#shared/outgoing-targets.ts';
import type { AttemptResult } from './rules.ts';

interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export interface PostParts {
  readonly clock: Clock;
  readonly allowedTargets: BlockList;
  /** Longest time from the look-up to the head of the answer, ms. */
  readonly timeoutMs: number;
  /** All addresses of a host name. Default: the system's. */
  readonly resolve?: (host: string) => Promise<readonly ResolvedAddress[]>;
  /** PEM of the authorities that are trusted. Default: the system's. */
  readonly ca?: string;
}

/** Resolves with the status of the answer, whatever it is, or with why there was none. Follows no redirect. */
export async function post(
  parts: PostParts,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const limit = new AbortController();
  const timer = parts.clock.after(parts.timeoutMs, () =>
    limit.abort(new Error(`no answer within ${parts.timeoutMs} ms`)),
  );
  const either = AbortSignal.any([signal, limit.signal]);
  try {
    const target = new URL(url);
    const pinned = await untilAborted(judgedLookup(target, parts), either);
    return { status: await send(parts, target, pinned, headers, body, either) };
  } catch (error) {
    const cause = limit.signal.aborted ? limit.signal.reason : error;
    return { error: cause instanceof Error ? cause.message : String(cause) };
  } finally {
    timer.cancel();
  }
}

function send(
  { ca }: PostParts,
  target: URL,
  pinned: LookupFunction,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      target,
      { method: 'POST', headers, lookup: pinned, agent: false, signal, ...(ca !== undefined && { ca }) },
      (answer) => {
        resolve(answer.statusCode ?? 0);
        // What the answer says is of no use, however long it is.
        answer.destroy();
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/**
 * Resolves the host and judges every address it has. The look-up that is returned yields these addresses only,
 * whatever DNS says a moment later. @throws Error that names a refused address
 */
async function judgedLookup(url: URL, parts: PostParts): Promise<LookupFunction> {
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  const family = isIP(host);
  const resolve = parts.resolve ?? ((name) => lookup(name, { all: true }));
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
  const [first] = addresses;
  if (!first) throw new Error(`${host} has no address`);
  for (const { address } of addresses) {
    const verdict = judgeAddress(address, parts.allowedTargets);
    if (!verdict.allowed) throw new Error(`${host} must not be contacted: ${verdict.reason}`);
  }
  return (_host, options, callback) => {
    if (options.all) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
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
