/** Certificates and keys as PEM text, and the TLS contexts created from them. */
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import { withTrustedAuthorities } from '#shared/trusted-authorities.ts';

export interface KeyPair {
  /** Certificate, followed by its intermediates. */
  readonly cert: string;
  readonly key: string;
}

export interface TlsMaterial {
  /** Our certificate for peers that connect. */
  readonly server: KeyPair;
  /** Certificates of private authorities to trust besides the public ones. */
  readonly authorities?: readonly string[];
  /**
   * Our certificates for hosts that we dial and that request one (mTLS): by the name in the host's certificate,
   * in lower case.
   */
  readonly clients?: ReadonlyMap<string, KeyPair>;
}

/** RFC 8996: TLS 1.0 and 1.1 must not be used. */
const MIN_VERSION = 'TLSv1.2';

/**
 * RFC 9325 section 4.2: forward secrecy and authenticated encryption. With TLS 1.2 only these remain. CBC suites
 * are not offered: their order of padding and MAC is unsafe, and no current peer needs them.
 */
const CIPHERS = [
  // First: SHA-256 is in the processor, SHA-384 is not, and a handshake hashes much.
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/** @param ticketKeys keys of session tickets; null: new ones */
export function serverContext(material: TlsMaterial, ticketKeys: Buffer | null): SecureContextOptions {
  const { cert, key } = material.server;
  return { cert, key, minVersion: MIN_VERSION, ciphers: CIPHERS, ...(ticketKeys && { ticketKeys }) };
}

/** Contexts for outbound connections; each is created once, because loading all authorities is slow. */
export class ClientContexts {
  readonly #material: TlsMaterial;
  readonly #contexts = new Map<KeyPair | null, SecureContext>();

  constructor(material: TlsMaterial) {
    this.#material = material;
  }

  /** @throws when the certificate or key for `host` cannot be read */
  for(host: string): SecureContext {
    const pair = this.#material.clients?.get(host.toLowerCase()) ?? null;
    const known = this.#contexts.get(pair);
    if (known !== undefined) return known;
    const context = createSecureContext({
      ca: withTrustedAuthorities(this.#material.authorities ?? []),
      minVersion: MIN_VERSION,
      ciphers: CIPHERS,
      ...(pair && { cert: pair.cert, key: pair.key }),
    });
    this.#contexts.set(pair, context);
    return context;
  }
}
