/** The certificate files of a deployment: the operator's own, or issued and kept in the data folder. */
import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pathExists } from '#shared/path-exists.ts';
import { SettingError } from '#shared/settings/reader.ts';
import { storageFault } from '#shared/storage-fault.ts';
import type { Issued } from './issue.ts';

const renewBeforeMs = 30 * 24 * 60 * 60 * 1000;

/** Absolute paths of PEM files. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
  /** What peers must trust. */
  readonly ca: string;
}

export interface CertificateOptions {
  readonly dataFolder: string;
  /** The operator's own files; null: they are issued. */
  readonly given: { readonly cert: string; readonly key: string; readonly ca: string | null } | null;
  readonly publicHost: string | null;
  /** ms */
  readonly now: number;
}

/**
 * Finds or issues the files. The authority is created once; the server certificate is renewed when it expires within 30
 * days or does not cover all hosts.
 * @throws SettingError naming the setting whose file cannot be read, or the folder whose files cannot be used
 */
export async function ensureCertificates(options: CertificateOptions): Promise<CertificateFiles> {
  const { given } = options;
  if (given) {
    assertReadable('TLS_CERT', given.cert);
    assertReadable('TLS_KEY', given.key);
    if (given.ca !== null) assertReadable('TLS_CA', given.ca);
    return { cert: given.cert, key: given.key, ca: given.ca ?? given.cert };
  }
  const folder = join(options.dataFolder, 'tls');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const authorityFiles = { cert: join(folder, 'ca.crt'), key: join(folder, 'ca.key') };
  const serverFiles = { cert: join(folder, 'server.crt'), key: join(folder, 'server.key') };
  try {
    const authority = await ensureAuthority(authorityFiles, options.now);
    const hosts = certificateHosts(options.publicHost);
    if (!isCurrent(serverFiles, authority, hosts, options.now)) {
      const { issueServer } = await loadIssuer();
      write(serverFiles, await issueServer(authority, hosts, options.now));
    }
  } catch (error) {
    if (storageFault(error) !== null) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new SettingError(
      `${folder}: a certificate or key in it cannot be used (${why}); restore the files, or move the folder away: ` +
        'the next start creates a new authority, whose ca.crt peers have to trust',
    );
  }
  return { ...serverFiles, ca: authorityFiles.cert };
}

/** Loaded only to issue a certificate: most starts have theirs. */
const loadIssuer = () => import('./issue.ts');

function assertReadable(setting: string, file: string): void {
  try {
    readFileSync(file);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SettingError(`${setting}: the file ${file} cannot be read (${why}); set a readable file`);
  }
}

async function ensureAuthority(files: { cert: string; key: string }, now: number): Promise<Issued> {
  if (!pathExists(files.cert) || !pathExists(files.key)) {
    const { issueAuthority } = await loadIssuer();
    write(files, await issueAuthority(`Trunkline CA ${hostname()}`.slice(0, 64), now));
  }
  return { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') };
}

/** The host names of an edge on this machine. */
function certificateHosts(publicHost: string | null): string[] {
  const own = hostname();
  const hosts = ['localhost', ...(/^[A-Za-z0-9.-]+$/.test(own) ? [own] : []), '127.0.0.1'];
  return [...new Set(publicHost === null ? hosts : [publicHost, ...hosts])];
}

function isCurrent(
  files: { cert: string; key: string },
  authority: Issued,
  hosts: readonly string[],
  now: number,
): boolean {
  if (!pathExists(files.cert) || !pathExists(files.key)) return false;
  const certificate = new X509Certificate(readFileSync(files.cert));
  const issuer = new X509Certificate(authority.cert);
  return (
    certificate.verify(issuer.publicKey) &&
    Date.parse(certificate.validTo) > now + renewBeforeMs &&
    hosts.every(
      (host) => (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined,
    )
  );
}

/** The key first, the final name last, so that a crash in between leaves no mismatched pair. */
function write(files: { cert: string; key: string }, issued: Issued): void {
  writeFileSync(`${files.key}.new`, issued.key, { mode: 0o600 });
  writeFileSync(`${files.cert}.new`, issued.cert, { mode: 0o644 });
  renameSync(`${files.key}.new`, files.key);
  renameSync(`${files.cert}.new`, files.cert);
}
