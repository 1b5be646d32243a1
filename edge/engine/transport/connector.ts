/** Outbound TLS connections: name resolution, one address after another, certificate check. */

import { isIP } from 'node:net';
import { connect, type PeerCertificate, type SecureContext, type TLSSocket } from 'node:tls';
import type { Clock } from '#shared/clock.ts';
import { type ConnectionFault, type SocketFailure, socketFailure } from '#shared/connection-faults.ts';
import type { ResolveHost } from '#shared/judged-lookup.ts';
import { formatHostPort } from '../message/uri.ts';
import { TransportError } from './flow.ts';
import { checkSipIdentity } from './identity.ts';

export interface Target {
  /** Name or address. */
  readonly host: string;
  readonly port: number;
  readonly protocol: 'tls';
  /** The name for SNI that the certificate must contain, when it is not `host` (RFC 5922 section 4). */
  readonly serverName?: string;
}

export interface ConnectOptions {
  readonly resolve: ResolveHost;
  /** Called with the addresses before the first of them is tried; an exception ends the attempt. */
  readonly resolved?: (addresses: readonly string[]) => void;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly context: SecureContext;
  /** Ends the attempt when the transport closes. */
  readonly signal: AbortSignal;
}

/**
 * Opens a connection and completes the handshake.
 * @throws TransportError that names the target and the cause at the last address
 */
export async function connectTls(target: Target, options: ConnectOptions): Promise<TLSSocket> {
  const deadline = timeLimit(options.timeoutMs, options);
  const name = formatHostPort(target.host, target.port);
  const ended = (fault: ConnectionFault, what: string, ms: number) =>
    options.signal.aborted
      ? new TransportError('closing', `${name}: the transport is closing`)
      : new TransportError(fault, `${name}: ${what} timed out after ${ms / 1000} s`);
  try {
    const { host } = target;
    const addresses = isIP(host) ? [host] : await resolveName(host, options.resolve, deadline.signal);
    if (deadline.signal.aborted) throw ended('no_address', 'name resolution', options.timeoutMs);
    options.resolved?.(addresses);
    let failure = new TransportError('no_address', `${name}: the name does not resolve to an address`);
    for (const address of addresses) {
      // An address that drops everything must leave time for the next one.
      const share = timeLimit(options.timeoutMs / addresses.length, options);
      const outcome = await attempt(address, target, options.context, share.signal);
      share.stop();
      if (outcome.ok) return outcome.socket;
      const [fault, step] = outcome.connected
        ? (['handshake_timeout', `TLS handshake with ${address}`] as const)
        : (['connect_timeout', `TCP connection to ${address}`] as const);
      failure = share.signal.aborted
        ? ended(fault, step, options.timeoutMs / addresses.length)
        : explain(outcome, name, address);
      if (options.signal.aborted) break;
    }
    throw failure;
  } finally {
    deadline.stop();
  }
}

/** A signal that fires after `ms` milliseconds or when the transport closes, until `stop`. */
function timeLimit(ms: number, { clock, signal }: ConnectOptions): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const timer = clock.after(ms, () => controller.abort());
  return { signal: AbortSignal.any([controller.signal, signal]), stop: () => timer.cancel() };
}

/** The addresses; none when the signal ended the wait. */
async function resolveName(
  host: string,
  resolve: ResolveHost,
  signal: AbortSignal,
): Promise<readonly string[]> {
  let stop = () => {};
  const stopped = new Promise<readonly string[]>((done) => {
    stop = () => done([]);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([resolve(host), stopped]);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new TransportError('no_address', `${host}: name resolution failed: ${cause}`);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

type Attempt = { readonly ok: true; readonly socket: TLSSocket } | ({ readonly ok: false } & SocketFailure);

/** One address: the socket after its handshake, or how far the attempt got. */
function attempt(
  address: string,
  target: Target,
  context: SecureContext,
  signal: AbortSignal,
): Promise<Attempt> {
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
    let connected = false;
    const settle = () => {
      signal.removeEventListener('abort', abort);
      socket.off('secureConnect', done);
      socket.off('close', closed);
    };
    const fail = (error: Error | null) => {
      settle();
      // Checked before `destroy`, which clears it.
      const certificateSeen = hasCertificate(socket);
      socket.destroy();
      resolve({ ok: false, error, connected, certificateSeen });
    };
    const abort = () => fail(null);
    const done = () => {
      settle();
      resolve({ ok: true, socket });
    };
    const closed = () => fail(null);
    signal.addEventListener('abort', abort, { once: true });
    socket.once('connect', () => {
      connected = true;
    });
    socket.once('secureConnect', done);
    // Stays attached: catches an error before the wire's own listener is attached, and any second error.
    socket.on('error', fail);
    socket.once('close', closed);
  });
}

/** Whether the peer's certificate has arrived. Without one Node returns an empty object, or null. */
function hasCertificate(socket: TLSSocket): boolean {
  const certificate: PeerCertificate | null = socket.getPeerCertificate();
  return certificate !== null && Object.keys(certificate).length > 0;
}

function explain(failure: SocketFailure, name: string, address: string): TransportError {
  const where = name.includes(address) ? name : `${name} (${address})`;
  const { fault, text, detail } = socketFailure(failure);
  return new TransportError(fault, `${where}: ${text}`, detail);
}
