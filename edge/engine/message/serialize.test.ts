import { expect, test } from 'vitest';
import { HeaderList } from './headers.ts';
import { serializeMessage, serializeRequest, serializeResponse } from './serialize.ts';

test('writes the start line, headers in order and as spelled, and the body', () => {
  const headers = new HeaderList([
    ['v', 'SIP/2.0/TLS a'],
    ['X-Note', '\xc3\xbc'],
  ]);
  const request = {
    kind: 'request',
    method: 'INFO',
    uri: 'sip:b',
    headers,
    body: Buffer.from([0, 255]),
  } as const;
  const expected =
    'INFO sip:b SIP/2.0\r\nv: SIP/2.0/TLS a\r\nX-Note: \xc3\xbc\r\nContent-Length: 2\r\n\r\n\x00\xff';
  expect(serializeRequest(request).toString('latin1')).toBe(expected);
  expect(serializeMessage(request).toString('latin1')).toBe(expected);
});

test('corrects Content-Length in place, and writes it once', () => {
  const headers = new HeaderList([
    ['l', '999'],
    ['To', 'b'],
    ['Content-Length', '5'],
  ]);
  const response = {
    kind: 'response',
    status: 200,
    reason: 'OK',
    headers,
    body: Buffer.from('abc'),
  } as const;
  const expected = 'SIP/2.0 200 OK\r\nl: 3\r\nTo: b\r\n\r\nabc';
  expect(serializeResponse(response).toString('latin1')).toBe(expected);
  expect(serializeMessage(response).toString('latin1')).toBe(expected);
});
