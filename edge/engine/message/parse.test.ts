import { expect, test } from 'vitest';
import { answerableRequest, type ParseResult, parseMessage } from './parse.ts';

function bytes(...lines: string[]): Buffer {
  return Buffer.from(lines.join('\r\n'), 'latin1');
}

function parsed(result: ParseResult) {
  if (!result.ok) throw new Error(result.reason);
  return result.message;
}

const ANSWERABLE = ['Via: SIP/2.0/TLS a', 'From: <sip:a@a>', 'To: <sip:b@b>', 'Call-ID: 1', 'CSeq: 1 INVITE'];

test('reads a request with its headers and body', () => {
  const message = parsed(
    parseMessage(
      bytes('INVITE sips:bob@b SIP/2.0', 'v: SIP/2.0/TLS a', 'Subject:  lunch \t', 'l: 4', '', 'v=0\n'),
    ),
  );
  expect(message).toMatchObject({ kind: 'request', method: 'INVITE', uri: 'sips:bob@b' });
  expect(message.headers.get('via')).toBe('SIP/2.0/TLS a');
  expect(message.headers.get('subject')).toBe('lunch');
  expect(message.body.toString()).toBe('v=0\n');
});

test('reads a response; the reason phrase may contain spaces, be empty or missing', () => {
  const phrase = (line: string) => parsed(parseMessage(bytes(line, '', '')));
  expect(phrase('SIP/2.0 486 Busy Here')).toMatchObject({
    kind: 'response',
    status: 486,
    reason: 'Busy Here',
  });
  expect(phrase('sip/2.0 200 ')).toMatchObject({ status: 200, reason: '' });
  expect(phrase('SIP/2.0 200')).toMatchObject({ status: 200, reason: '' });
});

test('joins folded lines with one space and counts them once', () => {
  const folded = bytes('OPTIONS sip:b SIP/2.0', 'Subject: one', '  two', '\tthree', 'A-B:', ' y', '', '');
  const { headers } = parsed(parseMessage(folded, { maxBytes: 1000, maxHeaders: 2 }));
  expect(headers.get('subject')).toBe('one two three');
  expect(headers.get('a-b')).toBe('y');
});

test.each([
  [
    'the start line',
    'OPTIONS sip:b SIP/2.0\nTo: b\r\nVia: a\r\nFrom: c\r\nCall-ID: d\r\nCSeq: 1 OPTIONS\r\n\r\n',
  ],
  [
    'a header line',
    'OPTIONS sip:b SIP/2.0\r\nTo: b\nVia: a\r\nFrom: c\r\nCall-ID: d\r\nCSeq: 1 OPTIONS\r\n\r\n',
  ],
  [
    'a folded line',
    'OPTIONS sip:b SIP/2.0\r\nTo: b\n \r\nVia: a\r\nFrom: c\r\nCall-ID: d\r\nCSeq: 1 OPTIONS\r\n\r\n',
  ],
  [
    'the empty line',
    'OPTIONS sip:b SIP/2.0\r\nTo: b\r\nVia: a\r\nFrom: c\r\nCall-ID: d\r\nCSeq: 1 OPTIONS\r\n\n',
  ],
])('rejects a bare LF at the end of %s, with an answer', (_, text) => {
  const result = parseMessage(Buffer.from(text));
  expect(result).toMatchObject({ ok: false, status: 400, reason: 'Line Ends Without CR' });
  expect(result.ok ? null : result.partial?.headers.get('call-id')).toBe('d');
});

test('a body may use any line endings', () => {
  const message = parsed(parseMessage(bytes('OPTIONS sip:b SIP/2.0', 'X: 1', '', 'a\nb\rc\r\n\nd')));
  expect(message.body.toString()).toBe('a\nb\rc\r\n\nd');
});

test('preserves octets above 127', () => {
  const message = parsed(parseMessage(bytes('OPTIONS sip:b SIP/2.0', 'Subject: \xc3\xbc', '', '')));
  expect(message.headers.get('subject')).toBe('\xc3\xbc');
});

test('the body ends where Content-Length says, and at the last octet without one', () => {
  expect(parsed(parseMessage(bytes('OPTIONS sip:b SIP/2.0', 'l: 2', '', 'body'))).body.toString()).toBe('bo');
  expect(parsed(parseMessage(bytes('OPTIONS sip:b SIP/2.0', '', 'body'))).body.toString()).toBe('body');
});

test.each([
  ['a missing request URI', 'INVITE  SIP/2.0', 400, 'Malformed Request Line'],
  ['a missing version', 'INVITE sip:b', 400, 'Malformed Request Line'],
  ['an invalid version', 'INVITE sip:b SIP/2', 400, 'Malformed Request Line'],
  ['HTTP', 'GET / HTTP/1.1', 400, 'Malformed Request Line'],
  ['SIP 3.0', 'INVITE sip:b SIP/3.0', 505, 'Version Not Supported'],
])('answers %s', (_what, line, status, reason) => {
  const result = parseMessage(bytes(line, ...ANSWERABLE, '', ''));
  expect(result).toMatchObject({ ok: false, status, reason });
  expect(!result.ok && result.partial?.headers.get('call-id')).toBe('1');
});

test.each([
  ['a line without a colon', 'no colon here'],
  ['a line without a name', ': value'],
  ['a name with a space inside', 'Bad Name: x'],
  ['a bare CR in a value', 'X: a\rb'],
  ['a bare CR in a folded line', 'X: a\r\n b\rc'],
])('answers 400 to %s', (_what, line) => {
  const result = parseMessage(bytes('INVITE sip:b SIP/2.0', line, ...ANSWERABLE, '', ''));
  expect(result).toMatchObject({ ok: false, status: 400, reason: 'Malformed Header Field' });
  expect(!result.ok && result.partial).not.toBeNull();
});

test.each(['-1', '1x', '', '99'])('answers 400 to Content-Length %j', (length) => {
  const result = parseMessage(
    bytes('INVITE sip:b SIP/2.0', ...ANSWERABLE, `Content-Length: ${length}`, '', 'body'),
  );
  expect(result).toMatchObject({ ok: false, status: 400, reason: 'Bad Content-Length' });
});

test('answers 513 to a message that is too large, and to one with too many headers', () => {
  const many = bytes('INVITE sip:b SIP/2.0', ...ANSWERABLE, ...Array(20).fill('X: y'), '', '');
  const byCount = parseMessage(many, { maxBytes: 1000, maxHeaders: 20 });
  expect(byCount).toMatchObject({ ok: false, status: 513, reason: 'Too Many Header Fields' });
  const bySize = parseMessage(many, { maxBytes: 150, maxHeaders: 100 });
  expect(bySize).toMatchObject({ ok: false, status: 513, reason: 'Message Too Large' });
  expect(!bySize.ok && bySize.partial?.headers.get('cseq')).toBe('1 INVITE');
});

test('gives no request to answer when a header that the answer copies is missing', () => {
  const result = parseMessage(bytes('INVITE sip:b SIP/9.9', ...ANSWERABLE.slice(1), '', ''));
  expect(result).toEqual({ ok: false, status: 505, reason: 'Version Not Supported', partial: null });
});

test.each(['SIP/2.0 99 Low', 'SIP/2.0 700 High', 'SIP/2.0 2000 Long', 'SIP/3.0 200 OK', 'SIP/2.0'])(
  'a response is dropped: %s',
  (line) => {
    expect(parseMessage(bytes(line, ...ANSWERABLE, '', ''))).toMatchObject({ ok: false, partial: null });
  },
);

test('a truncated head gives the request to answer', () => {
  const head = bytes('INVITE sip:b SIP/2.0', ...ANSWERABLE, 'X-Long: aaa', '');
  expect(answerableRequest(head)?.method).toBe('INVITE');
  expect(answerableRequest(bytes('INVITE sip:b SIP/2.0', ...ANSWERABLE, '', ''))?.method).toBe('INVITE');
  expect(answerableRequest(bytes('SIP/2.0 200 OK', ...ANSWERABLE, '', ''))).toBeNull();
  expect(answerableRequest(bytes('INVITE sip:b SIP/2.0', 'Via: SIP/2.0/TLS a', '', ''))).toBeNull();
  expect(answerableRequest(null)).toBeNull();
});
