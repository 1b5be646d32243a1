/**
 * The only way for both programs to connect to a customer's target (contract 1.9):
 *
 *     lookup --every address checked--> connect to a checked address --https, wss--> TLS handshake -> socket
 *
 * Each stage ends with a socket or an `OutgoingFailure`, and closes everything else.
 */
import { type BlockList, connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { judgedLookup, type ResolveHost } from '#shared/judged-lookup.ts';
import { failureWords, OutgoingFailure } from './failure.ts';

export interface ConnectParts {
  /** Networks that may be contacted although they are otherwise forbidden; null: the operator named the target. */
  readonly allowed: BlockList | null;
  readonly resolve: ResolveHost;
  /** PEM of the trusted authorities; undefined: Node's. */
  readonly ca: string | string[] | undefined;
}

/**
 * Connects to the host of `url` (http, https, ws, wss) and completes the TLS handshake.
 * @param signal aborts it at any stage; its reason is thrown
 * @returns an open socket with an error listener; the caller must destroy it
 * @throws OutgoingFailure
 */
export async function connectJudged(url: URL, parts: ConnectParts, signal: AbortSignal): Promise<Socket> {
  const host = bareHost(url);
  try {
    const addresses = await untilAborted(judgedAddresses(host, parts), signal);
    return await open(url, host, addresses, parts.ca, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OutgoingFailure) throw error;
    throw new OutgoingFailure('network', failureWords(host, error), error);
  }
}

/** The host of a URL in the form for lookups and certificates: IPv6 without brackets. */
export function bareHost({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** A single forbidden address forbids the host. */
async function judgedAddresses(host: string, { allowed, resolve }: ConnectParts): Promise<readonly string[]> {
  const { addresses, refusals } = await judgedLookup(host, resolve, allowed);
  const [refusal] = refusals;
  if (refusal !== undefined)
    throw new OutgoingFailure('refused', `${host} is not an allowed target: ${refusal}`);
  if (addresses.length === 0) throw new OutgoingFailure('network', `${host} has no address`);
  return addresses;
}

function open(
  url: URL,
  host: string,
  addresses: readonly string[],
  ca: string | string[] | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  const secure = url.protocol === 'https:' || url.protocol === 'wss:';
  const target = {
    host,
    port: Number(url.port) || (secure ? 443 : 80),
    lookup: pinnedLookup(addresses),
    noDelay: true,
  };
  return new Promise((resolve, reject) => {
    const socket = secure
      ? connectTls({
          ...target,
          ...(isIP(host) === 0 && { servername: host }),
          ...(ca !== undefined && { ca }),
          ALPNProtocols: ['http/1.1'],
        })
      : connectTcp(target);
    const abort = () => socket.destroy(new Error('the attempt was aborted'));
    // Stays attached after the hand-over: an error in between needs a listener.
    socket.on('error', (error) => {
      signal.removeEventListener('abort', abort);
      reject(error);
    });
    socket.once('close', () => reject(new OutgoingFailure('network', `${host} closed the connection`)));
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      signal.removeEventListener('abort', abort);
      resolve(socket);
    });
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
}

/**
 * A lookup for Node's sockets that returns exactly these addresses, whatever DNS says later. It answers in a later tick
 * like a real one, so that a connection that fails at once does not fail before it has listeners.
 */
function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    process.nextTick(() => {
      const [first] = entries;
      if (options.all) callback(null, entries);
      else callback(null, first?.address ?? '', first?.family);
    });
  };
}

/** The result of `work`, or the signal's reason if it is aborted first. */
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
