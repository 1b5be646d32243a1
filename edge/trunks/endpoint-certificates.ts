/**
 * Reads the certificates that outbound endpoints present, on connections of its own: the engine keeps one connection to
 * a peer for weeks, and would show a certificate that the peer has renewed long ago. No SIP is sent on them.
 */
import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { certificateNames } from '#shared/certificate-names.ts';
import type { Clock } from '#shared/clock.ts';
import type { EndpointCertificate } from '#shared/trunk-protocol.ts';
import type { Target } from './resolve.ts';

/** The certificate that an address presents; null: none within the limit. Never rejects. */
export type ReadCertificate = (target: Target, limitMs: number) => Promise<EndpointCertificate | null>;

/** A name server, a peer or a mistyped certificate must not fill reports: names, and characters of each text. */
const mostNames = 20;
const longestText = 255;

/** With the protocol versions that calls use, and without a certificate of ours: a peer shows its own first. */
export function certificateReader(clock: Clock): ReadCertificate {
  return (target, limitMs) => {
    const { promise, resolve } = Promise.withResolvers<EndpointCertificate | null>();
    const socket = connect({
      host: target.address,
      port: target.port,
      // RFC 6066 section 3: SNI carries names, never addresses.
      ...(isIP(target.serverName) === 0 && { servername: target.serverName }),
      minVersion: 'TLSv1.2',
      // One that has expired is the one to show.
      rejectUnauthorized: false,
    });
    const done = () => {
      const certificate = socket.getPeerX509Certificate();
      resolve(certificate === undefined ? null : certificateFacts(certificate, clock.now()));
    };
    const timer = clock.after(limitMs, done);
    socket.on('secureConnect', done);
    socket.on('error', done);
    socket.on('close', done);
    return promise.finally(() => {
      timer.cancel();
      socket.destroy();
    });
  };
}

/** @param now ms @returns null when its dates cannot be read */
function certificateFacts(certificate: X509Certificate, now: number): EndpointCertificate | null {
  const { issuer, subject, validFromDate: from, validToDate: to } = certificate;
  if (Number.isNaN(from.getTime()) || Number.isNaN(to.getTime())) return null;
  return {
    subject: oneLine(subject),
    issuer: oneLine(issuer),
    names: certificateNames(certificate).slice(0, mostNames).map(oneLine),
    valid_from: from.toISOString(),
    expires_at: to.toISOString(),
    seen_at: new Date(now).toISOString(),
  };
}

function oneLine(text: string): string {
  return text.replaceAll('\n', ', ').slice(0, longestText);
}

export interface CertificateTimes {
  /** From the first probe of an endpoint to the first look: a start with thousands of endpoints has enough to do. */
  readonly firstMs: number;
  /** From one look to the next. */
  readonly everyMs: number;
  /** The same after a look that saw none. */
  readonly againMs: number;
}

const hourMs = 3_600_000;
const certificateTimes: CertificateTimes = {
  firstMs: 45_000,
  everyMs: 6 * hourMs,
  againMs: hourMs / 4,
};

interface Kept {
  dueAt: number;
  certificate: EndpointCertificate | null;
  /** Trunks whose reports had this certificate. */
  told: Set<string>;
}

/** The certificates of the endpoints that this edge probes, each by the key of its endpoint. */
export class EndpointCertificates {
  readonly #clock: Clock;
  readonly #read: ReadCertificate;
  readonly #times: CertificateTimes;
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock, read: ReadCertificate, times = certificateTimes) {
    this.#clock = clock;
    this.#read = read;
    this.#times = times;
  }

  /** Call with each probe: reads the certificate when it is time for it. Of several addresses, the first to expire. */
  async look(key: string, targets: readonly Target[], limitMs: number): Promise<void> {
    const now = this.#clock.elapsed();
    const kept = this.#kept.get(key);
    if (!kept) {
      this.#kept.set(key, { dueAt: now + this.#times.firstMs, certificate: null, told: new Set() });
      return;
    }
    if (now < kept.dueAt) return;
    kept.dueAt = now + this.#times.againMs;
    const seen = await Promise.all(targets.map((target) => this.#read(target, limitMs)));
    const [first] = seen
      .filter((certificate) => certificate !== null)
      .sort((a, b) => Date.parse(a.expires_at) - Date.parse(b.expires_at));
    if (!first) return;
    kept.dueAt = now + this.#times.everyMs;
    kept.certificate = first;
    kept.told = new Set();
  }

  /** What a trunk's report has to say about the endpoint's certificate; undefined: nothing new. */
  news(key: string, trunkId: string): EndpointCertificate | undefined {
    const kept = this.#kept.get(key);
    if (!kept?.certificate || kept.told.has(trunkId)) return undefined;
    kept.told.add(trunkId);
    return kept.certificate;
  }

  forget(key: string): void {
    this.#kept.delete(key);
  }
}
