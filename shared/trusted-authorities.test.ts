/** Authorities of `NODE_EXTRA_CA_CERTS`, which Node reads when a process starts: so each case is a process. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../test/kit/fakes/certificates.ts';

const module = pathToFileURL(join(import.meta.dirname, 'trusted-authorities.ts')).href;
const counts = `
  const { rootCertificates } = await import('node:tls');
  const { withTrustedAuthorities } = await import('${module}');
  const all = withTrustedAuthorities(['own']).map((one) => one.trim());
  const extra = process.env.EXTRA.trim();
  const missing = rootCertificates.filter((root) => !all.includes(root.trim()));
  console.log(JSON.stringify([all.includes(extra), all.includes('own'), missing.length]));
`;
const inThread = `
  const { Worker } = await import('node:worker_threads');
  new Worker(new URL('data:text/javascript,' + encodeURIComponent(process.env.CODE)));
`;

let folder: string;
let authority: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'authorities-'));
  authority = createAuthority().cert;
  writeFileSync(join(folder, 'ca.pem'), authority);
});
afterAll(() => rmSync(folder, { recursive: true }));

function output(code: string): unknown {
  const env = {
    PATH: process.env.PATH,
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    EXTRA: authority,
    CODE: counts,
  };
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', code], { env }).toString());
}

describe('trusted authorities', () => {
  it.each([
    ['the main thread', counts],
    ['a thread of its own, as a media shard is', inThread],
  ])('are the usual ones, those of NODE_EXTRA_CA_CERTS and the own ones, in %s', (_, code) => {
    expect(output(code)).toEqual([true, true, 0]);
  });

  it("are listed in one place: Node's own list lacks those of the operator", () => {
    const root = dirname(import.meta.dirname);
    const files = ['shared', 'outgoing', 'edge', 'control'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .map((file) => join(folder, file))
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts')),
    );
    const others = files.filter((file) =>
      /rootCertificates|getCACertificates/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(others).toEqual([join('shared', 'trusted-authorities.ts')]);
  });
});
