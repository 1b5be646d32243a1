import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { partsIn, S3Failure, textOf, UnusableAnswer, uploadIdOf, uploadsIn } from './answers.ts';

const all = 1_000;

describe('reading an answer', () => {
  it('finds elements by name, with what is escaped in them', () => {
    const part = '<Part><PartNumber>2</PartNumber><ETag>&quot;a&#x26;b&quot;</ETag><Size>7</Size></Part>';
    expect(partsIn(`<ListPartsResult><Part>${part}${part}`, all)).toEqual([
      { number: 2, size: 7, etag: '"a&b"' },
      { number: 2, size: 7, etag: '"a&b"' },
    ]);
    expect(uploadsIn('<Upload><Key>k/1</Key><UploadId>u~+=</UploadId></Upload>', all)).toEqual([
      { key: 'k/1', id: 'u~+=' },
    ]);
    expect([textOf('<a><Code>x</Code>', 'Code'), textOf('<Code>x', 'Code'), textOf('', 'Code')]).toEqual([
      'x',
      '',
      '',
    ]);
  });

  it('finds the same as the words of the rule: from a beginning to the next end', () => {
    const piece = fc.constantFrom(
      '<U>',
      '</U>',
      '<Key>',
      '</Key>',
      '<UploadId>',
      '</UploadId>',
      'x',
      '<',
      '>',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const xml = pieces.join('');
        const ends = /<U>([\s\S]*?)<\/U>/g;
        expect(textOf(xml, 'U')).toBe(ends.exec(xml)?.[1] ?? '');
      }),
      { seed: 13 },
    );
  });

  // With time that grows with the square of the length, each of these takes minutes, and the test runs out of time.
  it.each(['Code', 'Message', 'Endpoint', 'UploadId', 'Upload', 'Key', 'Part', 'ETag'])(
    'takes time that grows with its length alone: <%s> again and again without an end',
    (name) => {
      const xml = `<Upload><Part>${`<${name}>`.repeat(4 * 131_072)}`;
      for (const text of [xml, `${xml}</Upload></Part>`, xml.replaceAll('>', '>&#x'), `${'<'.repeat(4e6)}`]) {
        expect(uploadsIn(text, all).length).toBeLessThan(2);
        expect(partsIn(text, all).length).toBeLessThan(2);
        expect(new S3Failure(307, text).message).toContain('the storage answered 307');
      }
    },
  );

  it('takes at most so many uploads and parts, however many there are', () => {
    const uploads = '<Upload><Key>k</Key><UploadId>1</UploadId></Upload>'.repeat(50_000);
    expect(uploadsIn(uploads, 10)).toHaveLength(10);
    expect(partsIn('<Part><Size>1</Size></Part>'.repeat(50_000), 1_000)).toHaveLength(1_000);
  });

  it('refuses ids that are too long to be sent back', () => {
    const id = (length: number) => `<UploadId>${'u'.repeat(length)}</UploadId>`;
    expect(uploadIdOf(id(1_024))).toHaveLength(1_024);
    for (const xml of [id(1_025), id(0), '']) expect(() => uploadIdOf(xml)).toThrow(UnusableAnswer);
    expect(uploadsIn(`<Upload>${id(1_025)}</Upload>`, all)).toEqual([]);
  });
});

describe('a failure in words', () => {
  const failure = (code: string, message: string) =>
    new S3Failure(403, `<Error><Code>${code}</Code><Message>${message}</Message></Error>`).message;

  it('has the code and the message, and an end', () => {
    expect(failure('AccessDenied', 'Access &lt;Denied&gt;')).toBe(
      'the storage answered 403 AccessDenied: Access <Denied>',
    );
    expect(failure('A'.repeat(5_000), 'B'.repeat(5_000))).toHaveLength(300);
    expect(new S3Failure(502, '<html>').message).toBe('the storage answered 502');
  });

  it('has no characters that change a line, and no signature', () => {
    const said = failure(
      'X\u0000',
      'a\r\n\u001b[31mb&#10;c&#x2028;d &#x202e;AWS4-HMAC-SHA256 Credential=K/1/s3, Signature=0f0f',
    );
    expect(said).toBe('the storage answered 403 X: a [31mb c d …');
    expect(failure('X', 'given X-Amz-Signature=0f0f&amp;b, and Signature=12, wanted 3')).not.toMatch(
      /0f0f|12/,
    );
  });

  it('says where a redirect leads', () => {
    const body = '<Error><Code>PermanentRedirect</Code><Endpoint>b.s3.eu-1.example</Endpoint></Error>';
    expect(new S3Failure(301, body).message).toBe(
      'the storage answered 301 PermanentRedirect and redirects to b.s3.eu-1.example',
    );
    expect(new S3Failure(307, '', 'https://user:secret@other.example:8443/x?y=z').message).toBe(
      'the storage answered 307 and redirects to other.example:8443',
    );
    expect(new S3Failure(307, '', '/elsewhere').message).toBe('the storage answered 307 and redirects');
  });
});
