/** Warns about a certificate that peers will not accept: when it is loaded, and once a day. */
import { X509Certificate } from 'node:crypto';
import {
  type CertificateProblem,
  certificateProblems,
  type JudgedCertificate,
} from '#shared/certificate-problems.ts';
import type { Clock } from '#shared/clock.ts';
import type { Log } from './core/context.ts';

const dayMs = 24 * 3_600_000;

/** Warns about problems of the certificate in use: when it is loaded, and once a day. */
export class CertificateWatch {
  readonly #place: Pick<JudgedCertificate, 'file' | 'publicHost'>;
  readonly #clock: Clock;
  readonly #log: Log;
  #pem: string | null = null;
  #saidAt = 0;

  constructor(place: Pick<JudgedCertificate, 'file' | 'publicHost'>, clock: Clock, log: Log) {
    this.#place = place;
    this.#clock = clock;
    this.#log = log;
  }

  /** Peers get this certificate from now on. @throws when it cannot be parsed, as the listener does */
  taken(pem: string): void {
    this.#pem = pem;
    this.#say();
  }

  /** Call periodically: repeats the warnings once a day. */
  look(): void {
    if (this.#clock.elapsed() - this.#saidAt >= dayMs) this.#say();
  }

  /** By name: expiry in s since 1970; 1 when SIP_PUBLIC_HOST is not among the certificate's names. */
  metrics(): Record<string, number> {
    if (this.#pem === null) return {};
    return {
      certificate_expires_seconds: Math.floor(new X509Certificate(this.#pem).validToDate.getTime() / 1000),
      certificate_other_host: Number(this.#problems().some(({ kind }) => kind === 'other_host')),
    };
  }

  #say(): void {
    this.#saidAt = this.#clock.elapsed();
    for (const { message, fields } of this.#problems()) this.#log('warn', message, fields);
  }

  #problems(): CertificateProblem[] {
    return this.#pem === null
      ? []
      : certificateProblems({ ...this.#place, pem: this.#pem }, this.#clock.now());
  }
}
