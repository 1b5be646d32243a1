/** Outbound TLS connections: name resolution, one address after the other, certificate check. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { connect, type SecureContext, type TLSSocket } from 'node:tls';
import type { Clock } from '#shared/clock.ts';
import { formatHostPort } from '../message/uri.ts';
import { TransportError, type TransportErrorCode } from './flow.ts';
import { checkSipIdentity } from './identity.ts';
import { reasonOf } from './tls-wire.ts';

export interface Target {
  /** Name or address. */
  readonly host: string;
  readonly port: number;
  readonly protocol: 'tls';
  /** The name that the certificate must bear and that goes into SNI, when it is not `host` (RFC 5922 section 4). */
  readonly serverName?: string;
}

/** Addresses of a host name in the order in which to try them. Rejects when there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export const resolveWithDns: Resolve = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
};

export interface ConnectOptions {
  readonly resolve: Resolve;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly context: SecureContext;
  /** Ends the attempt when the transport closes. */
  readonly signal: AbortSignal;
}

/**
 * Opens a connection and completes the handshake.
 * @throws TransportError that names the target and the last address's cause
 */
export async function connectTls(target: Target, options: ConnectOptions): Promise<TLSSocket> {
  const deadline = timeLimit(options.timeoutMs, options);
  const name = formatHostPort(target.host, target.port);
  const ended = (what: string, ms: number) =>
    options.signal.aborted
      ? new TransportError('closed', `${name}: the transport is closing`)
      : new TransportError('timeout', `${name}: ${what} not done within ${ms / 1000} s`);
  try {
    const { host } = target;
    const addresses = isIP(host) ? [host] : await resolveName(host, options.resolve, deadline.signal);
    if (deadline.signal.aborted) throw ended('name resolution', options.timeoutMs);
    let failure = new TransportError('resolve', `${name}: the name has no address`);
    for (const address of addresses) {
      // An address that swallows everything must leave time for the next one.
      const share = timeLimit(options.timeoutMs / addresses.length, options);
      const outcome = await attempt(address, target, options.context, share.signal);
      share.stop();
      if (!(outcome instanceof Error)) return outcome;
      failure = share.signal.aborted
        ? ended(`connection to ${address}`, options.timeoutMs / addresses.length)
        : explain(outcome, name, address);
      if (options.signal.aborted) break;
    }
    throw failure;
  } finally {
    deadline.stop();
  }
}

/** A signal that fires after `ms` milliseconds or with the transport's end, until `stop`. */
function timeLimit(ms: number, { clock, signal }: ConnectOptions): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const timer = clock.after(ms, () => controller.abort());
  return { signal: AbortSignal.any([controller.signal, signal]), stop: () => timer.cancel() };
}

/** The addresses; none when the signal ended the wait. */
async function resolveName(host: string, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  let stop = () => {};
  const stopped = new Promise<readonly string[]>((done) => {
    stop = () => done([]);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([resolve(host), stopped]);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new TransportError('resolve', `${host}: name resolution failed: ${cause}`);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** One address: the socket after its handshake, or the error. */
function attempt(
  address: string,
  target: Target,
  context: SecureContext,
  signal: AbortSignal,
): Promise<TLSSocket | Error> {
  const identity = target.serverName ?? target.host;
  return new Promise((resolve) => {
    const socket = connect({
      host: address,
      port: target.port,
      // RFC 6066 section 3: SNI carries names, never addresses.
      ...(isIP(identity) ? {} : { servername: identity }),
      secureContext: context,
      rejectUnauthorized: true,
      checkServerIdentity: (_host, certificate) => checkSipIdentity(identity, certificate),
    });
    const settle = (outcome: TLSSocket | Error) => {
      signal.removeEventListener('abort', abort);
      socket.off('secureConnect', done);
      socket.off('close', closed);
      if (outcome instanceof Error) socket.destroy();
      resolve(outcome);
    };
    const abort = () => settle(new Error('aborted'));
    const done = () => settle(socket);
    const closed = () => settle(new Error('closed by the peer during the handshake'));
    signal.addEventListener('abort', abort, { once: true });
    socket.once('secureConnect', done);
    // Stays: an error between here and the wire's own listener must not go unheard, nor a second one later.
    socket.on('error', settle);
    socket.once('close', closed);
  });
}

const UNREACHABLE = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'EHOSTDOWN']);
/** OpenSSL's verification errors, as Node names them, are those that `X509_verify_cert_error_string` knows. */
const CERTIFICATE_CODES =
  /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_(CA|PURPOSE)|PATH_LENGTH_|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME)/;

function explain(error: Error, name: string, address: string): TransportError {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const where = name.includes(address) ? name : `${name} (${address})`;
  const fail = (kind: TransportErrorCode, text: string) => new TransportError(kind, `${where}: ${text}`);
  if (CERTIFICATE_CODES.test(code)) return fail('certificate', `certificate refused: ${error.message}`);
  if (code === 'ECONNREFUSED') return fail('refused', 'connection refused');
  if (code === 'ETIMEDOUT') return fail('timeout', 'no answer to TCP connect');
  if (UNREACHABLE.has(code)) return fail('unreachable', `unreachable (${code})`);
  return fail('tls', `TLS handshake failed: ${reasonOf(error)}`);
}
