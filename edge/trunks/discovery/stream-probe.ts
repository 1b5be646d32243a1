/** OPTIONS over TCP and over TLS. */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { connect as connectTls, DEFAULT_CIPHERS, type TLSSocket } from 'node:tls';
import {
  type ConnectionFailure,
  connectionFailure,
  connectionLoss,
  connectionProblem,
  socketFailure,
} from '#shared/connection-faults.ts';
import { hostPortOf } from '../circuit.ts';
import {
  type AttemptResult,
  answered,
  type Candidate,
  connectFailed,
  type ProbeLimits,
  type TlsFacts,
  unanswered,
} from './attempt.ts';
import { optionsRequest } from './options-request.ts';
import { ResponseReader } from './sip-response.ts';
import { hasCertificate, tlsFacts, tlsProblem } from './tls-facts.ts';

/** Never rejects. @param signal ends the probe early, with a time-out */
export function probeTcp(
  candidate: Candidate,
  limits: ProbeLimits,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const socket = connectTcp({ host: candidate.address, port: candidate.port });
  return exchange(socket, 'connect', () => ({ tls: null, problem: null }), candidate, limits, signal);
}

/**
 * Never rejects. Accepts every certificate and old versions of TLS, because the probe reports them; sends nothing but
 * the OPTIONS on the connection.
 * @param ca PEM certificates of the trusted authorities
 */
export function probeTls(
  candidate: Candidate,
  limits: ProbeLimits,
  signal: AbortSignal,
  ca: readonly string[],
): Promise<AttemptResult> {
  const socket = connectTls({
    host: candidate.address,
    port: candidate.port,
    // RFC 6066 section 3: no IP addresses in the server name.
    ...(isIP(candidate.host) === 0 && { servername: candidate.host }),
    rejectUnauthorized: false,
    minVersion: 'TLSv1',
    // Otherwise OpenSSL 3 refuses TLS below 1.2, and an old system would seem to have no TLS.
    ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=0`,
    ca: [...ca],
  });
  return exchange(
    socket,
    'secureConnect',
    () => ({ tls: tlsFacts(socket), problem: tlsProblem(socket, hostPortOf(candidate)) }),
    candidate,
    limits,
    signal,
  );
}

/** How far a probe got before it failed. */
interface Progress {
  /** `host:port` */
  readonly peer: string;
  readonly connected: boolean;
  /** The request was sent. */
  readonly asked: boolean;
  readonly certificateSeen: boolean;
  readonly tls: TlsFacts | null;
}

interface Inspection {
  readonly tls: TlsFacts | null;
  /** Why a call on this connection would be rejected. */
  readonly problem: string | null;
}

function exchange<S extends Socket | TLSSocket>(
  socket: S,
  ready: 'connect' | 'secureConnect',
  inspect: () => Inspection,
  candidate: Candidate,
  limits: ProbeLimits,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const { promise, resolve } = Promise.withResolvers<AttemptResult>();
  const peer = hostPortOf(candidate);
  let seen: Inspection = { tls: null, problem: null };
  let reader: ResponseReader | null = null;
  let connected = false;
  let sentAt = 0;
  const abort = () => resolve(unanswered('timeout', waitedFor(peer, connected, reader), seen.tls));
  const limit = setTimeout(abort, limits.attemptMs);
  signal.addEventListener('abort', abort);

  socket.on('connect', () => {
    connected = true;
  });
  socket.on(ready, () => {
    seen = inspect();
    const request = optionsRequest({
      ...candidate,
      localAddress: socket.localAddress ?? '0.0.0.0',
      localPort: socket.localPort ?? 0,
    });
    reader = new ResponseReader(request.branch, limits.maxBytes);
    sentAt = performance.now();
    socket.write(request.text);
  });
  socket.on('data', (bytes: Buffer) => {
    const verdict = reader?.push(bytes) ?? 'more';
    if (verdict === 'not_sip') resolve(unanswered('refused', 'the data received was not SIP', seen.tls));
    else if (verdict !== 'more')
      resolve(answered(verdict, performance.now() - sentAt, seen.problem, seen.tls));
  });
  const progress = (): Progress => {
    const certificateSeen = 'getPeerCertificate' in socket && hasCertificate(socket);
    return { peer, connected, asked: reader !== null, certificateSeen, tls: seen.tls };
  };
  socket.on('error', (error) => resolve(broken(error, progress())));
  socket.on('close', () => resolve(closed(progress())));
  if (signal.aborted) abort();

  return promise.finally(() => {
    clearTimeout(limit);
    signal.removeEventListener('abort', abort);
    // Later errors of a closed socket do not matter, but need a listener.
    socket.on('error', () => {});
    socket.destroy();
  });
}

const handshakeTimeout: ConnectionFailure = connectionFailure('handshake_timeout', 'TLS handshake timed out');

function waitedFor(peer: string, connected: boolean, reader: ResponseReader | null): string | null {
  if (!connected) return null;
  return reader ? 'connected, but no response' : connectionProblem(peer, handshakeTimeout);
}

function broken(error: Error, at: Progress): AttemptResult {
  const { peer, connected, asked, certificateSeen, tls } = at;
  if (!connected) return connectFailed(error);
  const failure = asked ? connectionLoss(error) : socketFailure({ error, connected, certificateSeen });
  const { fault } = failure;
  // TLS 1.3 reports after the handshake what TLS 1.2 reports within it.
  const ofTls = !asked || fault === 'client_certificate_missing' || fault === 'client_certificate_refused';
  return unanswered(ofTls ? 'tls_error' : 'refused', connectionProblem(peer, failure), tls);
}

function closed({ peer, connected, asked, tls }: Progress): AttemptResult {
  if (!connected) return unanswered('refused');
  if (tls === null && asked) return unanswered('refused', 'the connection was closed before a response came');
  const failure = asked
    ? connectionLoss(null)
    : socketFailure({ error: null, connected, certificateSeen: tls !== null });
  return unanswered(asked ? 'refused' : 'tls_error', connectionProblem(peer, failure), tls);
}
