import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headerList, headerValues, parseResponse, ResponseReader } from './sip-response.ts';

const branch = 'z9hG4bKabc';
const via = `Via: SIP/2.0/TCP 127.0.0.1:1;branch=${branch}`;
const answer = `SIP/2.0 200 OK\r\n${via}\r\nContent-Length: 4\r\n\r\nbody`;

describe('parseResponse', () => {
  it('reads compact names, folded lines and bare LF, and keeps names as they were written', () => {
    const text = 'SIP/2.0 200 OK\nv: SIP/2.0/UDP h;branch=z\nk: timer,\n path\nSUPPORTED : replaces\n\nv=0\n';
    const response = parseResponse(text);
    expect(response).toMatchObject({ status: 200, reason: 'OK', body: 'v=0\n' });
    expect(response?.headers.map(({ name }) => name)).toEqual(['v', 'k', 'SUPPORTED']);
    expect(response && headerList(response, 'Supported')).toEqual(['timer', 'path', 'replaces']);
    expect(response && headerValues(response, 'via')).toEqual(['SIP/2.0/UDP h;branch=z']);
    expect(response && headerList(response, 'allow')).toBeNull();
  });

  it('accepts a response without reason, headers or end', () => {
    expect(parseResponse('SIP/2.0 404')).toEqual({ status: 404, reason: '', headers: [], body: '' });
  });

  it.each([
    '',
    'OPTIONS sip:a SIP/2.0\r\n\r\n',
    'HTTP/1.1 200 OK\r\n\r\n',
    'SIP/2.0 99 Odd\r\n\r\n',
    'SIP/3.0 200 OK',
  ])('rejects %j as a SIP response', (text) => {
    expect(parseResponse(text)).toBeNull();
  });

  it('accepts any text without failing', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        parseResponse(`SIP/2.0 200 OK\r\n${text}`);
        parseResponse(text);
      }),
    );
  });
});

describe('ResponseReader', () => {
  it('finds the response among keepalives, requests, provisional responses and responses to others', () => {
    const reader = new ResponseReader(branch, 65_536);
    const other = answer.replace(branch, 'z9hG4bKother');
    const trying = `SIP/2.0 100 Trying\r\n${via}\r\nl: 0\r\n\r\n`;
    const request = 'OPTIONS sip:a SIP/2.0\r\nContent-Length: 0\r\n\r\n';
    const verdict = reader.push(Buffer.from(`\r\n\r\n${request}${trying}${other}${answer}`));
    expect(verdict).toMatchObject({ status: 200, body: 'body' });
  });

  it('reads a response in pieces of any size', () => {
    const bytes = Buffer.from(answer);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 8 }), (cuts) => {
        const reader = new ResponseReader(branch, 65_536);
        const ends = [...cuts.toSorted((one, other) => one - other), bytes.length];
        const verdicts = ends.map((end, index) => reader.push(bytes.subarray(ends[index - 1] ?? 0, end)));
        expect(verdicts.find((verdict) => verdict !== 'more')).toMatchObject({ status: 200, body: 'body' });
      }),
    );
  });

  it.each(['HTTP/1.1 400 Bad Request\r\n\r\n', '220 mail.example.com ESMTP\r\n', '\x16\x03\x01\x00'])(
    'reports that %j is not SIP',
    (text) => {
      expect(new ResponseReader(branch, 65_536).push(Buffer.from(text, 'latin1'))).toBe('not_sip');
    },
  );

  it('buffers no more than its limit', () => {
    const reader = new ResponseReader(branch, 1000);
    expect(reader.push(Buffer.from(`SIP/2.0 200 OK\r\nX: ${'a'.repeat(2000)}`))).toBe('not_sip');
    const large = new ResponseReader(branch, 1000);
    expect(large.push(Buffer.from('SIP/2.0 200 OK\r\nContent-Length: 5000\r\n\r\n'))).toBe('not_sip');
  });
});
