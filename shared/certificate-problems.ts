/**
 * Whether peers that validate our certificate will accept it (RFC 5922 section 7.2: the name that they dialed; RFC 5280:
 * its validity). When they reject it, no call arrives and nothing is logged here. Pure.
 */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { certificateNames } from './certificate-names.ts';

const dayMs = 24 * 3_600_000;
/** Time for an operator to act. For a short-lived certificate: the last third of its life. */
const warnBeforeMs = 14 * dayMs;

export interface CertificateProblem {
  readonly kind: 'other_host' | 'not_yet_valid' | 'expired' | 'expires_soon';
  /** What is wrong and what to do. */
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface JudgedCertificate {
  /** PEM; the first certificate is ours */
  readonly pem: string;
  readonly file: string;
  /** SIP_PUBLIC_HOST; null: the name that peers dial is not configured */
  readonly publicHost: string | null;
}

/** @param now ms since 1970 */
export function certificateProblems(
  { pem, file, publicHost }: JudgedCertificate,
  now: number,
): CertificateProblem[] {
  const certificate = new X509Certificate(pem);
  const { validFromDate, validToDate } = certificate;
  const fields = { file, expires: validToDate.toISOString() };
  const renew = `renew ${file} (restart control to renew one that control issued), then send the edge SIGHUP`;
  const problems: CertificateProblem[] = [];
  const add = (kind: CertificateProblem['kind'], message: string, more = {}) =>
    problems.push({ kind, message, fields: { ...fields, ...more } });
  if (publicHost !== null && !namesHost(certificate, publicHost)) {
    const names = certificateNames(certificate);
    add(
      'other_host',
      `the TLS certificate is not for SIP_PUBLIC_HOST (${publicHost}) but for ${names.join(', ') || 'no host'}: peers that ` +
        'check it do not connect; use a certificate for that host (TLS_CERT), or set SIP_PUBLIC_HOST to a name in the certificate',
      { host: publicHost, names },
    );
  }
  const left = validToDate.getTime() - now;
  const early = Math.min(warnBeforeMs, (validToDate.getTime() - validFromDate.getTime()) / 3);
  if (left <= 0) add('expired', `the TLS certificate has expired: peers do not connect; ${renew}`);
  else if (validFromDate.getTime() > now) {
    const from = validFromDate.toISOString();
    add('not_yet_valid', `the TLS certificate is not valid before ${from}: correct the clock, or ${renew}`);
  } else if (left <= early) add('expires_soon', `the TLS certificate expires soon; ${renew}`);
  return problems;
}

function namesHost(certificate: X509Certificate, host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  return (isIP(bare) === 0 ? certificate.checkHost(bare) : certificate.checkIP(bare)) !== undefined;
}
