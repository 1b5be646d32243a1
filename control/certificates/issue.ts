/** Issues a certificate authority and server certificates (RFC 5280), ECDSA on P-256. */
import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const dayMs = 24 * 60 * 60 * 1000;
const authorityDays = 3650;
/** The longest validity of public authorities, which clients accept. */
const serverDays = 397;

/** PEM texts; keys in PKCS #8. */
export interface Issued {
  readonly cert: string;
  readonly key: string;
}

/** @param name its common name, shown where the certificate is installed @param now ms */
export async function issueAuthority(name: string, now: number): Promise<Issued> {
  cryptoProvider.set(webcrypto);
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: `CN=${name}`,
    notBefore: new Date(now - dayMs),
    notAfter: new Date(now + authorityDays * dayMs),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: `${certificate.toString('pem')}\n`, key: await exportKey(keys.privateKey) };
}

/**
 * @param hosts names and addresses in the certificate; the first becomes the common name
 * @returns the certificate followed by the authority's
 */
export async function issueServer(authority: Issued, hosts: readonly string[], now: number): Promise<Issued> {
  cryptoProvider.set(webcrypto);
  const issuer = new X509Certificate(authority.cert);
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: `CN=${hosts[0] ?? 'localhost'}`,
    issuer: issuer.subject,
    notBefore: new Date(now - dayMs),
    notAfter: new Date(now + serverDays * dayMs),
    publicKey: keys.publicKey,
    signingKey: await importKey(authority.key),
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
      new SubjectAlternativeNameExtension(
        hosts.map((host) => ({ type: isIP(host) ? ('ip' as const) : ('dns' as const), value: host })),
      ),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  const chain = `${certificate.toString('pem')}\n${authority.cert}`;
  return { cert: chain, key: await exportKey(keys.privateKey) };
}

/** RFC 5280 section 4.1.2.2: positive and unpredictable. */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes.toString('hex');
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  return `${PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')}\n`;
}

function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const [der] = PemConverter.decode(pem);
  if (!der) throw new Error('The key of the certificate authority is not PEM');
  return webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
}
