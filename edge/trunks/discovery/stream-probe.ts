/** OPTIONS over TCP and over TLS. */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { connect as connectTls, DEFAULT_CIPHERS, type TLSSocket } from 'node:tls';
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
import { tlsFacts, tlsProblem } from './tls-facts.ts';

/** Never rejects. @param signal ends the probe early, as a time-out */
export function probeTcp(
  candidate: Candidate,
  limits: ProbeLimits,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const socket = connectTcp({ host: candidate.address, port: candidate.port });
  return exchange(socket, 'connect', () => ({ tls: null, problem: null }), candidate, limits, signal);
}

/**
 * Never rejects. Every certificate and old versions of TLS are taken, because they are what is to be found out;
 * nothing but the OPTIONS is said over the connection.
 * @param ca PEM certificates of the authorities to trust
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
    // RFC 6066 section 3: no addresses as server name.
    ...(isIP(candidate.host) === 0 && { servername: candidate.host }),
    rejectUnauthorized: false,
    minVersion: 'TLSv1',
    // Without this OpenSSL 3 would not speak TLS below 1.2, and an old system would look like none.
    ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=0`,
    ca: [...ca],
  });
  return exchange(
    socket,
    'secureConnect',
    () => ({ tls: tlsFacts(socket), problem: tlsProblem(socket) }),
    candidate,
    limits,
    signal,
  );
}

interface Inspection {
  readonly tls: TlsFacts | null;
  /** Why a call over this connection would be refused. */
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
  let seen: Inspection = { tls: null, problem: null };
  let reader: ResponseReader | null = null;
  let connected = false;
  let sentAt = 0;
  const abort = () => resolve(unanswered('timeout', waitedFor(connected, reader), seen.tls));
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
    if (verdict === 'not_sip') resolve(unanswered('refused', 'what came was no SIP message', seen.tls));
    else if (verdict !== 'more')
      resolve(answered(verdict, performance.now() - sentAt, seen.problem, seen.tls));
  });
  socket.on('error', (error) => resolve(broken(error, connected, reader !== null, seen.tls)));
  socket.on('close', () => resolve(closed(connected, reader !== null, seen.tls)));
  if (signal.aborted) abort();

  return promise.finally(() => {
    clearTimeout(limit);
    signal.removeEventListener('abort', abort);
    // Later errors of a socket that is done with are of no interest, but must have a listener.
    socket.on('error', () => {});
    socket.destroy();
  });
}

function waitedFor(connected: boolean, reader: ResponseReader | null): string | null {
  if (!connected) return null;
  return reader
    ? 'the connection stood, but no response came'
    : 'the connection stood, but the TLS handshake did not end';
}

function broken(error: Error, connected: boolean, asked: boolean, facts: TlsFacts | null): AttemptResult {
  if (!connected) return connectFailed(error);
  if (asked && /alert certificate required/.test(error.message))
    return unanswered('tls_error', 'it asks for a client certificate, which discovery does not show', facts);
  if (asked)
    return unanswered('refused', `the connection broke before a response came (${reasonOf(error)})`, facts);
  return unanswered('tls_error', handshakeProblem(error));
}

function handshakeProblem(error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ECONNRESET') return 'the connection was closed during the TLS handshake';
  // What OpenSSL says of text where a TLS record should be.
  if (/wrong version number|packet length too long|http request/.test(error.message)) {
    return 'what answers on this port does not speak TLS';
  }
  return reasonOf(error);
}

/** What OpenSSL calls its reason, without the places in its source that the message names too. */
function reasonOf(error: Error): string {
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}

function closed(connected: boolean, asked: boolean, facts: TlsFacts | null): AttemptResult {
  if (!connected) return unanswered('refused');
  if (asked) return unanswered('refused', 'the connection was closed before a response came', facts);
  return unanswered('tls_error', 'the connection was closed during the TLS handshake');
}
