import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createAuthority } from '../../../test/kit/fakes/certificates.ts';
import { readClientCertificates } from './client-certificates.ts';

const authority = createAuthority();
const [one, other] = [authority.issue({}), authority.issue({})];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'client-certificates-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (files: Readonly<Record<string, string>>) => {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
};

it('reads a pair per host and ignores other files', () => {
  write({
    'Trunk.example.com.crt': one.cert,
    'Trunk.example.com.key': one.key,
    '192.0.2.1.crt': other.cert,
    '192.0.2.1.key': other.key,
    'README.txt': 'how we got these',
    '.key': '',
  });
  expect(Object.fromEntries(readClientCertificates(folder))).toEqual({
    'trunk.example.com': one,
    '192.0.2.1': other,
  });
});

it('returns none when the folder does not exist', () => {
  expect(readClientCertificates(join(folder, 'absent')).size).toBe(0);
});

it.each<[Readonly<Record<string, string>>, RegExp]>([
  [{ 'a.crt': one.cert }, /^client certificate for a: \/.*\/a\.key is missing$/],
  [{ 'a.key': one.key }, /^client certificate for a: \/.*\/a\.crt is missing$/],
  [{ 'a.crt': one.cert, 'a.key': other.key }, /a\.key is not the key of a\.crt/],
  [{ 'a.crt': 'nonsense', 'a.key': one.key }, /a\.crt or a\.key is not PEM/],
])('says what is wrong with a pair (%#)', (files, message) => {
  write(files);
  expect(() => readClientCertificates(folder)).toThrow(message);
});

it('says which file or folder cannot be read', () => {
  mkdirSync(join(folder, 'a.crt'));
  write({ 'a.key': one.key });
  expect(() => readClientCertificates(folder)).toThrow(
    /^client certificate for a: cannot read .*a\.crt: EISDIR/,
  );
  expect(() => readClientCertificates(join(folder, 'a.key'))).toThrow(/cannot read the folder .*: ENOTDIR/);
});
