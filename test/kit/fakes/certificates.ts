/**
 * Certificates for tests: an authority and the certificates that it issues (P-256), created by the openssl command in a
 * directory that is deleted before the function returns.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TestKeyPair {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

interface CertificateRequest {
  readonly commonName?: string;
  /** Subject alternative names as openssl writes them: `DNS:sip.example.com`, `IP:127.0.0.1`, `URI:sip:example.com`. */
  readonly names?: readonly string[];
  /** Its validity ended a day ago. */
  readonly expired?: boolean;
  /** Of its validity; 1 unless given. */
  readonly days?: number;
}

export interface TestAuthority extends TestKeyPair {
  issue(request: CertificateRequest): TestKeyPair;
}

/** A self-signed authority, valid for a day. */
export function createAuthority(commonName = 'Test authority'): TestAuthority {
  const authority = inTemporaryDirectory((directory) => {
    openssl(directory, [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'],
      ...['-keyout', 'key.pem', '-out', 'cert.pem', '-subj', `/CN=${commonName}`],
      ...['-addext', 'keyUsage=critical,keyCertSign,cRLSign'],
    ]);
    return pairIn(directory);
  });
  return { ...authority, issue: (request) => issue(authority, request) };
}

/** A self-signed certificate. */
export function createSelfSigned(names: readonly string[]): TestKeyPair {
  return inTemporaryDirectory((directory) => {
    openssl(directory, [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'],
      ...['-keyout', 'key.pem', '-out', 'cert.pem', '-subj', '/CN=self-signed'],
      ...['-addext', `subjectAltName=${names.join(',')}`],
    ]);
    return pairIn(directory);
  });
}

/** A certificate from an authority whose PEM files exist. */
export function issue(authority: TestKeyPair, request: CertificateRequest): TestKeyPair {
  return inTemporaryDirectory((directory) => {
    writeFileSync(join(directory, 'ca.pem'), authority.cert);
    writeFileSync(join(directory, 'ca.key'), authority.key);
    const names = request.names ?? ['DNS:localhost', 'IP:127.0.0.1'];
    writeFileSync(
      join(directory, 'extensions'),
      `subjectAltName=${names.join(',')}\nbasicConstraints=CA:FALSE\n`,
    );
    openssl(directory, [
      ...['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ...['-keyout', 'key.pem', '-out', 'request.pem', '-subj', `/CN=${request.commonName ?? 'localhost'}`],
    ]);
    openssl(directory, [
      ...['x509', '-req', '-in', 'request.pem', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'],
      ...[
        '-extfile',
        'extensions',
        '-days',
        request.expired ? '-1' : String(request.days ?? 1),
        '-out',
        'cert.pem',
      ],
    ]);
    return pairIn(directory);
  });
}

function openssl(directory: string, parameters: readonly string[]): void {
  execFileSync('openssl', parameters, { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
}

function pairIn(directory: string): TestKeyPair {
  return {
    cert: readFileSync(join(directory, 'cert.pem'), 'latin1'),
    key: readFileSync(join(directory, 'key.pem'), 'latin1'),
  };
}

function inTemporaryDirectory<T>(work: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'certificates-'));
  try {
    return work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
