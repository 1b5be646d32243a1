import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { partsOf } from './multipart.ts';

const sdp = 'v=0\r\nm=audio 1 RTP/SAVP 0';

describe('a multipart body', () => {
  it.each([
    ['multipart/mixed;boundary=b', 'Content-Type: application/sdp'],
    ['Multipart/Mixed; Boundary="b"', 'content-type:application/sdp'],
    ['multipart/mixed;boundary=b;type="application/sdp"', 'CONTENT-TYPE : application/sdp  '],
    ['multipart/related; start="<x>"; boundary="b"', 'Content-ID: <x>\r\nContent-Type:\r\n application/sdp'],
  ])('of type %s yields the part with %j', (type, header) => {
    const body = `preamble\r\n--b\r\ncontent-disposition: x\r\n\r\none\r\n--b \r\n${header}\r\n\r\n${sdp}\r\n--b--\r\nepilogue`;
    expect(partsOf(type, body)).toEqual([
      { type: 'text/plain', disposition: 'x', content: 'one' },
      { type: 'application/sdp', content: sdp },
    ]);
  });

  it('may have parts without headers, empty parts and bare line feeds', () => {
    expect(partsOf('multipart/mixed;boundary=b', '--b\n\none\n--b\n--b\n\n\n--b--')).toEqual([
      { type: 'text/plain', content: 'one' },
      { type: 'text/plain', content: '' },
      { type: 'text/plain', content: '' },
    ]);
  });

  it('is not split where its boundary is a prefix of another word', () => {
    expect(partsOf('multipart/mixed;boundary=b', '--b\r\n\r\n--bb\r\n--b.\r\n--b--')).toEqual([
      { type: 'text/plain', content: '--bb\r\n--b.' },
    ]);
  });

  it('keeps its last part when the closing delimiter is missing', () => {
    expect(partsOf('multipart/mixed;boundary=b', '--b\r\n\r\none')).toEqual([
      { type: 'text/plain', content: 'one' },
    ]);
  });

  it('has no parts without a boundary', () => {
    expect(partsOf('multipart/mixed', '--\r\n\r\none')).toEqual([]);
    expect(partsOf('multipart/mixed;boundary=""', '--\r\n\r\none')).toEqual([]);
  });

  it('returns the original parts, whatever the boundary', () => {
    const character = [..."abcXYZ019'()+_,-./:=?"];
    const boundary = fc.string({ unit: fc.constantFrom(...character), minLength: 1, maxLength: 70 });
    const content = fc.string({ unit: fc.constantFrom('a', ' ', '\r\n', ':', '=') });
    fc.assert(
      fc.property(boundary, fc.array(content, { maxLength: 4 }), (mark, contents) => {
        const parts = contents.map((text) => `--${mark}\r\nContent-Type: text/x\r\n\r\n${text}\r\n`);
        const read = partsOf(`multipart/mixed;boundary="${mark}"`, `${parts.join('')}--${mark}--\r\n`);
        expect(read).toEqual(contents.map((text) => ({ type: 'text/x', content: text })));
      }),
    );
  });
});
