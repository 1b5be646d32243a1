import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadSecretKey, SecretBox } from './secrets.ts';

const box = new SecretBox('ab'.repeat(32));

describe('SecretBox', () => {
  it('opens what it sealed, and seals the same text differently each time', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (secret, context) => {
        const sealed = box.seal(secret, context);
        expect(box.open(sealed, context)).toBe(secret);
        expect(box.seal(secret, context)).not.toBe(sealed);
      }),
    );
  });

  it('does not open under another context or key, or after a bit was changed', () => {
    const sealed = box.seal('secret', 'row 1');
    const altered = Buffer.from(sealed.slice(3), 'base64url');
    altered.writeUInt8(altered.readUInt8(14) ^ 1, 14);
    expect(() => box.open(sealed, 'row 2')).toThrow('row 2 cannot be decrypted with this key');
    expect(() => new SecretBox('cd'.repeat(32)).open(sealed, 'row 1')).toThrow('cannot be decrypted');
    expect(() => box.open(`v1.${altered.toString('base64url')}`, 'row 1')).toThrow('cannot be decrypted');
    expect(() => box.open('plain', 'row 1')).toThrow('unknown form');
  });

  it('rejects a key of the wrong length', () => {
    expect(() => new SecretBox('ab')).toThrow('64 hexadecimal digits');
  });
});

describe('loadSecretKey', () => {
  it('creates a private file once and prefers a given key', () => {
    const folder = mkdtempSync(join(tmpdir(), 'key-'));
    const key = loadSecretKey(null, folder);
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(loadSecretKey(null, folder)).toBe(key);
    expect(statSync(join(folder, 'secret.key')).mode & 0o777).toBe(0o600);
    expect(loadSecretKey('given', folder)).toBe('given');
    rmSync(folder, { recursive: true });
  });

  it('names a file without a valid key', () => {
    const folder = mkdtempSync(join(tmpdir(), 'key-'));
    writeFileSync(join(folder, 'secret.key'), 'half a ke');
    expect(() => loadSecretKey(null, folder)).toThrow(
      `${join(folder, 'secret.key')} must contain a key of 64 hexadecimal digits`,
    );
    rmSync(folder, { recursive: true });
  });
});
