/**
 * Certificates for tests: an authority and the certificates that it issues (P-256, RFC 5280). They are written here, because
 * the openssl command takes a process for each step, and each process more CPU than many a test.
 */
import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIPv6 } from 'node:net';

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
  const authority = selfSigned(commonName, [
    extension('551d13', [sequence(boolean(true))], true),
    // keyCertSign and cRLSign.
    extension('551d0f', [tlv(0x03, Buffer.from('0106', 'hex'))], true),
  ]);
  return { ...authority, issue: (request) => issue(authority, request) };
}

/** A self-signed certificate. */
export function createSelfSigned(names: readonly string[]): TestKeyPair {
  return selfSigned('self-signed', [
    extension('551d13', [sequence(boolean(true))], true),
    alternatives(names),
  ]);
}

/** A certificate from an authority whose PEM files exist. */
export function issue(authority: TestKeyPair, request: CertificateRequest): TestKeyPair {
  const key = newKey();
  const signing = createPrivateKey(authority.key);
  const issuer = new X509Certificate(authority.cert);
  const begins = request.expired ? -2 : 0;
  return signed({
    key,
    signing,
    issuer: subjectOf(issuer.raw),
    issuerKeyId: keyIdOf(issuer.publicKey),
    subject: nameOf(request.commonName ?? 'localhost'),
    begins,
    ends: request.expired ? -1 : (request.days ?? 1),
    extensions: [
      alternatives(request.names ?? ['DNS:localhost', 'IP:127.0.0.1']),
      extension('551d13', [sequence()]),
    ],
  });
}

function selfSigned(commonName: string, extensions: readonly Buffer[]): TestKeyPair {
  const key = newKey();
  const name = nameOf(commonName);
  return signed({
    key,
    signing: key.privateKey,
    issuer: name,
    issuerKeyId: keyIdOf(key.publicKey),
    subject: name,
    begins: 0,
    ends: 1,
    extensions,
  });
}

interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const newKey = (): Keys => generateKeyPairSync('ec', { namedCurve: 'P-256' });

interface Certificate {
  readonly key: Keys;
  readonly signing: KeyObject;
  readonly issuer: Buffer;
  readonly issuerKeyId: Buffer;
  readonly subject: Buffer;
  /** Days from now. */
  readonly begins: number;
  readonly ends: number;
  readonly extensions: readonly Buffer[];
}

const ecdsaWithSha256 = '2a8648ce3d040302';

function signed({ key, signing, issuer, issuerKeyId, subject, begins, ends, extensions }: Certificate) {
  const algorithm = sequence(objectId(ecdsaWithSha256));
  const keyIds = [
    extension('551d0e', [octets(keyIdOf(key.publicKey))]),
    extension('551d23', [sequence(tlv(0x80, issuerKeyId))]),
  ];
  const content = sequence(
    tlv(0xa0, integer(Buffer.from([2]))),
    // Positive, and without a zero in front.
    integer(Buffer.concat([Buffer.from([0x5a]), randomBytes(15)])),
    algorithm,
    issuer,
    sequence(time(begins), time(ends)),
    subject,
    key.publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(...extensions, ...keyIds)),
  );
  const certificate = sequence(content, algorithm, bits(sign('sha256', content, signing)));
  const lines = certificate.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** By the first method of RFC 5280, 4.2.1.2. */
function keyIdOf(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const point = ['04', ...[x, y].map((part) => Buffer.from(part, 'base64url').toString('hex'))].join('');
  return createHash('sha1').update(point, 'hex').digest();
}

function nameOf(commonName: string): Buffer {
  const attribute = sequence(objectId('550403'), tlv(0x0c, Buffer.from(commonName)));
  return sequence(tlv(0x31, attribute));
}

const nameTags: Readonly<Record<string, number>> = { DNS: 0x82, URI: 0x86, IP: 0x87 };

function alternatives(names: readonly string[]): Buffer {
  const each = names.map((name) => {
    const [kind = '', ...rest] = name.split(':');
    const value = rest.join(':');
    const tag = nameTags[kind];
    if (tag === undefined) throw new Error(`${name}: give DNS:, IP: or URI:`);
    return tlv(tag, kind === 'IP' ? addressOf(value) : Buffer.from(value));
  });
  return extension('551d11', [sequence(...each)]);
}

function addressOf(text: string): Buffer {
  if (!isIPv6(text)) return Buffer.from(text.split('.').map(Number));
  const [head = [], tail = []] = text.split('::').map((part) => part.split(':').filter((one) => one !== ''));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return Buffer.from([...head, ...zeros, ...tail].map((one) => one.padStart(4, '0')).join(''), 'hex');
}

/** Of a certificate, as it is written there. */
function subjectOf(certificate: Buffer): Buffer {
  // Into the certificate, into what is signed; then version, serial number, algorithm, issuer and validity.
  let at = contentAt(certificate, contentAt(certificate, 0));
  for (let before = 0; before < 5; before++) at = endAt(certificate, at);
  return certificate.subarray(at, endAt(certificate, at));
}

function contentAt(der: Buffer, at: number): number {
  const length = der.readUInt8(at + 1);
  return at + 2 + (length < 0x80 ? 0 : length - 0x80);
}

function endAt(der: Buffer, at: number): number {
  const content = contentAt(der, at);
  const size = content - at - 2;
  return content + (size === 0 ? der.readUInt8(at + 1) : der.readUIntBE(at + 2, size));
}

const dayMs = 24 * 60 * 60 * 1000;

function time(daysFromNow: number): Buffer {
  const text = new Date(Date.now() + daysFromNow * dayMs).toISOString().replace(/[-:T]|\.\d+/g, '');
  // Years until 2049 have two digits.
  return text < '2050' ? tlv(0x17, Buffer.from(text.slice(2))) : tlv(0x18, Buffer.from(text));
}

function extension(id: string, content: readonly Buffer[], critical = false): Buffer {
  return sequence(objectId(id), ...(critical ? [boolean(true)] : []), octets(Buffer.concat(content)));
}

/** Tag, length and content (X.690, DER). */
function tlv(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const size = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => tlv(0x30, Buffer.concat(parts));
const integer = (content: Buffer): Buffer => tlv(0x02, content);
const bits = (content: Buffer): Buffer => tlv(0x03, Buffer.concat([Buffer.alloc(1), content]));
const octets = (content: Buffer): Buffer => tlv(0x04, content);
const boolean = (value: boolean): Buffer => tlv(0x01, Buffer.from([value ? 0xff : 0]));
const objectId = (hex: string): Buffer => tlv(0x06, Buffer.from(hex, 'hex'));
