/**
 * The keys of recordings. Each has a data key of its own, which only the edge that records it ever has in the clear, in
 * memory. The file holds it sealed for control's public key: X25519 (RFC 7748) with an ephemeral key, HKDF-SHA-256 (RFC
 * 5869), AES-256-GCM. So the disk of an edge opens nothing, and control can seal a data key for another key of its own
 * without touching the audio.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import type { RecordingHeader } from './format.ts';

export type WrappedKey = RecordingHeader['key'];

/** A key of control that data keys are sealed for. */
export interface RecordingPublicKey {
  readonly key_id: string;
  /** 32 octets in base64url. */
  readonly public_key: string;
}

export interface RecordingKeyPair extends RecordingPublicKey {
  /** 32 octets in base64url. */
  readonly private_key: string;
}

const tagBytes = 16;

export function newRecordingKey(keyId: string): RecordingKeyPair {
  const { privateKey } = generateKeyPairSync('x25519');
  const { x = '', d = '' } = privateKey.export({ format: 'jwk' });
  return { key_id: keyId, public_key: x, private_key: d };
}

/** @param dataKey 32 octets @throws Error when the public key is none */
export function wrapKey(dataKey: Uint8Array, to: RecordingPublicKey, recordingId: string): WrappedKey {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const cipher = cipherKey(privateKey, publicKeyOf(to.public_key), x, to.public_key);
  const sealer = createCipheriv('aes-256-gcm', cipher, Buffer.alloc(12)).setAAD(Buffer.from(recordingId));
  const sealed = Buffer.concat([sealer.update(dataKey), sealer.final(), sealer.getAuthTag()]);
  return { key_id: to.key_id, ephemeral: x, wrapped: sealed.toString('base64url') };
}

/** @throws Error when the key was sealed for another one or another recording, or was altered */
export function unwrapKey(key: WrappedKey, own: RecordingKeyPair, recordingId: string): Buffer {
  const privateKey = createPrivateKey({
    format: 'jwk',
    key: { kty: 'OKP', crv: 'X25519', x: own.public_key, d: own.private_key },
  });
  const cipher = cipherKey(privateKey, publicKeyOf(key.ephemeral), key.ephemeral, own.public_key);
  const sealed = Buffer.from(key.wrapped, 'base64url');
  const opener = createDecipheriv('aes-256-gcm', cipher, Buffer.alloc(12), { authTagLength: tagBytes })
    .setAAD(Buffer.from(recordingId))
    .setAuthTag(sealed.subarray(-tagBytes));
  return Buffer.concat([opener.update(sealed.subarray(0, -tagBytes)), opener.final()]);
}

function publicKeyOf(x: string): KeyObject {
  return createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'X25519', x } });
}

/** Used for one message only, because one of its two keys is ephemeral: so the nonce may be fixed. */
function cipherKey(own: KeyObject, theirs: KeyObject, ephemeral: string, recipient: string): Buffer {
  const secret = diffieHellman({ privateKey: own, publicKey: theirs });
  return Buffer.from(hkdfSync('sha256', secret, `${ephemeral}.${recipient}`, 'trunkline recording key', 32));
}
