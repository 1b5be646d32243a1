/**
 * Our certificates for hosts that request one when we connect (mTLS): a folder with `<host>.crt` (the
 * certificate, followed by its intermediates) and `<host>.key`, both PEM, for each such host.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyPair } from './certificates.ts';

/**
 * @returns by host, in lower case; empty when the folder does not exist. Files with other extensions are ignored.
 * @throws Error that names the file and what is wrong with it
 */
export function readClientCertificates(folder: string): ReadonlyMap<string, KeyPair> {
  const files = new Set(listed(folder).filter((name) => /.\.(?:crt|key)$/.test(name)));
  const pairs = new Map<string, KeyPair>();
  for (const name of files) {
    const host = name.slice(0, -'.crt'.length);
    if (pairs.has(host.toLowerCase())) continue;
    for (const extension of ['crt', 'key']) {
      if (files.has(`${host}.${extension}`)) continue;
      throw new Error(`client certificate for ${host}: ${join(folder, host)}.${extension} is missing`);
    }
    pairs.set(host.toLowerCase(), readPair(folder, host));
  }
  return pairs;
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw new Error(`client certificates: cannot read the folder ${folder}: ${text(error)}`);
  }
}

function readPair(folder: string, host: string): KeyPair {
  const [cert, key] = [readPem(folder, host, 'crt'), readPem(folder, host, 'key')];
  let belong: boolean;
  try {
    belong = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch (error) {
    throw new Error(`client certificate for ${host}: ${host}.crt or ${host}.key is not PEM: ${text(error)}`);
  }
  if (!belong) throw new Error(`client certificate for ${host}: ${host}.key is not the key of ${host}.crt`);
  return { cert, key };
}

function readPem(folder: string, host: string, extension: string): string {
  const path = join(folder, `${host}.${extension}`);
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`client certificate for ${host}: cannot read ${path}: ${text(error)}`);
  }
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
