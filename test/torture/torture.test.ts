import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { TortureCase } from './case.ts';
import { feed } from './feed.ts';
import { RFC4475 } from './rfc4475.ts';
import { RFC5118 } from './rfc5118.ts';

const OPTIONS = Buffer.from(
  `OPTIONS sip:edge.example.com SIP/2.0
Via: SIP/2.0/TLS 192.0.2.9;branch=z9hG4bKafterwards
From: <sip:probe@192.0.2.9>;tag=1
To: <sip:edge.example.com>
Call-ID: afterwards
CSeq: 1 OPTIONS
Content-Length: 0

`.replaceAll('\n', '\r\n'),
);

function folder(name: string): URL {
  return new URL(`../testdata/${name}/`, import.meta.url);
}

/** The message as on the wire. */
function wireBytes(folderName: string, { file, completedBy, lengthCorrected }: TortureCase): Buffer {
  let text = readFileSync(new URL(file, folder(folderName)), 'latin1') + (completedBy?.octets ?? '');
  // The files of RFC 5118 come from its text and have bare line feeds.
  if (folderName === 'rfc5118') text = text.replace(/\r?\n/g, '\r\n');
  if (lengthCorrected !== undefined) {
    const length = text.length - (text.indexOf('\r\n\r\n') + 4);
    text = text.replace(/^Content-Length: \d+/m, `Content-Length: ${length}`);
  }
  return Buffer.from(text, 'latin1');
}

function octets(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (octet) => Buffer.from([octet]));
}

describe.each([
  ['rfc4475', RFC4475, 49],
  ['rfc5118', RFC5118, 12],
] as const)('%s over TLS', (name, cases, count) => {
  test('every file has an entry', () => {
    const files = readdirSync(folder(name)).filter((file) => /\.(dat|sip)$/.test(file));
    expect(files).toHaveLength(count);
    expect(cases.map(({ file }) => file).sort()).toEqual(files.sort());
  });

  test.each(cases)('$file ($section): $asks', (entry) => {
    const bytes = wireBytes(name, entry);
    const outcome = feed([bytes]);
    expect(outcome.said).toEqual(entry.said);
    const [first] = outcome.accepted;
    if (entry.and) {
      expect(first).toBeDefined();
      if (first) entry.and(first);
    }
  });

  test.each(cases)('$file has the same outcome octet by octet', (entry) => {
    expect(feed(octets(wireBytes(name, entry))).said).toEqual(entry.said);
  });

  const survivors = cases.filter(({ said }) => !said.some((what) => what === 'wait' || what.includes('cut')));
  test.each(survivors)('the connection survives $file', (entry) => {
    expect(feed([wireBytes(name, entry), OPTIONS]).said).toEqual([...entry.said, 'accept OPTIONS']);
  });
});
