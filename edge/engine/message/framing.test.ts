import { expect, test } from 'vitest';
import { type FrameEvent, StreamFramer } from './framing.ts';

function said(event: FrameEvent): string {
  if (event.kind === 'message') return event.bytes.toString('latin1');
  return event.kind === 'error' ? `error ${event.status} ${event.reason}` : event.kind;
}

function frames(framer: StreamFramer, ...chunks: string[]): string[] {
  return chunks.flatMap((chunk) => framer.push(Buffer.from(chunk, 'latin1'))).map(said);
}

const SMALL = 'OPTIONS sip:b SIP/2.0\r\nContent-Length: 0\r\n\r\n';
const WITH_BODY = 'INVITE sip:b SIP/2.0\r\nl: 5\r\nX: y\r\n\r\nhello';

test('splits messages by Content-Length and keeps the remainder', () => {
  const framer = new StreamFramer();
  expect(frames(framer, SMALL + WITH_BODY + SMALL.slice(0, 10))).toEqual([SMALL, WITH_BODY]);
  expect(framer.pendingBytes).toBe(10);
  expect(frames(framer, SMALL.slice(10))).toEqual([SMALL]);
  expect(framer.pendingBytes).toBe(0);
});

test.each([
  'Content-Length: 5',
  'content-length:5',
  'CONTENT-LENGTH \t:  0005  ',
  'L: 5',
  'l :5',
  'l:\r\n 5',
])('understands %j', (line) => {
  const message = `INVITE sip:b SIP/2.0\r\n${line}\r\n\r\nhello`;
  expect(frames(new StreamFramer(), message + SMALL)).toEqual([message, SMALL]);
});

test('a delivered message does not change when more of the stream arrives', () => {
  const framer = new StreamFramer();
  framer.push(Buffer.from(WITH_BODY.slice(0, 20)));
  const [event] = framer.push(Buffer.from(WITH_BODY.slice(20) + SMALL.slice(0, 30)));
  framer.push(Buffer.from(SMALL.slice(30)));
  expect(event && said(event)).toBe(WITH_BODY);
});

test('two CRLFs are a ping, and a single one may be the answer to ours', () => {
  expect(frames(new StreamFramer(), '\r\n\r\n')).toEqual(['pong', 'ping']);
  expect(frames(new StreamFramer(), '\r', '\n\r', '\n')).toEqual(['pong', 'ping']);
  expect(frames(new StreamFramer(), '\r\n', SMALL, '\r\n')).toEqual(['pong', SMALL, 'pong']);
});

test('a CRLF that was taken for an answer does not count towards a ping', () => {
  const framer = new StreamFramer();
  expect(frames(framer, '\r\n')).toEqual(['pong']);
  framer.forgetHalfPing();
  expect(frames(framer, '\r\n\r\n')).toEqual(['pong', 'ping']);
});

test('bare line feeds between messages are ignored', () => {
  expect(frames(new StreamFramer(), `\n\n${SMALL}\n${SMALL}`)).toEqual([SMALL, SMALL]);
});

test.each([
  ['HTTP', 'GET / HTTP/1.1\r\n'],
  ['a TLS record', '\x16\x03\x01\x02'],
  ['text', 'hello\r\n'],
  ['a line that begins with white space', ' INVITE sip:b SIP/2.0\r\n'],
  ['binary after a token', 'INVITE\x00'],
  ['SIP/ only inside a word', 'INVITE sip:b XSIP/2.0\r\n'],
])('%s is not SIP and ends the stream', (_what, garbage) => {
  const framer = new StreamFramer();
  expect(frames(framer, garbage)).toEqual(['error 400 not SIP: the first line is not a SIP start line']);
  expect(frames(framer, SMALL)).toEqual([]);
  expect(framer.pendingBytes).toBe(0);
});

test.each([
  'SIP/2.0 999 What\r\n\r\n',
  'SIP/2.0 200 OK\n\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.0 502\r\n\r\n',
  'HTTP/1.1 400 Bad Request\r\nServer: x\r\nContent-Length: 5\r\n\r\nhello',
])('a malformed or foreign response is framed as a message while its length is known: %j', (foreign) => {
  expect(frames(new StreamFramer(), SMALL + foreign + SMALL)).toEqual([SMALL, foreign, SMALL]);
});

test.each(['HTTP/1.1 200 OK\r\nServer: x\r\n\r\n', 'SIP/2.0 200 OK\r\nCSeq: 1 BYE\r\n\r\n'])(
  'a response with headers but without Content-Length ends the stream: %j',
  (response) => {
    expect(frames(new StreamFramer(), response + SMALL)).toEqual(['error 400 Missing Content-Length']);
  },
);

test('a bare CR between messages ends the stream', () => {
  expect(frames(new StreamFramer(), '\rX')).toEqual(['error 400 not SIP: a bare CR between messages']);
});

test.each([
  ['ending in CRCRLF, like all header lines,', 'OPTIONS sip:b SIP/2.0\r\nCall-ID: 1\r\r\nl: 0\r\r\n\r\r\n'],
  ['ending in CRCRLF', 'OPTIONS sip:b SIP/2.0\r\nCall-ID: 1\r\nl: 0\r\n\r\r\n'],
  ['that begins with a bare CR', 'OPTIONS sip:b SIP/2.0\r\nCall-ID: 1\r\n\rCSeq: 1 OPTIONS\r\n'],
])('a line %s ends the stream at once', (_what, head) => {
  const events = new StreamFramer().push(Buffer.from(head));
  expect(events).toMatchObject([{ kind: 'error', status: 400, reason: 'Malformed Header Field' }]);
  const [event] = events;
  expect(event?.kind === 'error' && event.partial?.toString()).toBe(head);
});

test.each([
  ['a doubled final one', 'OPTIONS sip:b SIP/2.0\r\r\n'],
  ['one in the middle', 'OPTIONS sip:b\rX SIP/2.0\r\n'],
  ['one instead of CRLF', 'OPTIONS sip:b SIP/2.0\rCall-ID: 1\rl: 0\r\r'],
])('a bare CR in the first line ends the stream at once, however it is split: %s', (_what, head) => {
  const fault = ['error 400 not SIP: the first line is not a SIP start line'];
  expect(frames(new StreamFramer(), head)).toEqual(fault);
  const framer = new StreamFramer();
  expect([...head].flatMap((octet) => frames(framer, octet))).toEqual(fault);
});

test.each([
  ['is missing', 'X: y', 'Missing Content-Length'],
  ['is negative', 'Content-Length: -1', 'Bad Content-Length'],
  ['is empty', 'Content-Length:', 'Bad Content-Length'],
  ['is a list', 'Content-Length: 1, 1', 'Bad Content-Length'],
  ['is absurd', 'Content-Length: 99999999999999999999', 'Bad Content-Length'],
  ['appears twice with different values', 'l: 1\r\nContent-Length: 2', 'Contradicting Content-Length'],
])('ends the stream with the whole head when Content-Length %s', (_what, line, reason) => {
  const head = `INVITE sip:b SIP/2.0\r\n${line}\r\nCall-ID: after\r\n\r\n`;
  const [event, ...more] = new StreamFramer().push(Buffer.from(`${head}body`));
  expect(more).toEqual([]);
  expect(event).toMatchObject({ kind: 'error', status: 400, reason });
  expect(event?.kind === 'error' && event.partial?.toString()).toBe(head);
});

test('the same length twice is unambiguous', () => {
  const message = 'INVITE sip:b SIP/2.0\r\nl: 5\r\nContent-Length: 5\r\n\r\nhello';
  expect(frames(new StreamFramer(), message)).toEqual([message]);
});

test('a head that is too long ends the stream with the lines so far', () => {
  const framer = new StreamFramer({ maxBytes: 100 });
  const start = 'INVITE sip:b SIP/2.0\r\nCall-ID: 1\r\n';
  const [event] = framer.push(Buffer.from(`${start}X: ${'y'.repeat(100)}`));
  expect(event).toMatchObject({ kind: 'error', status: 513, reason: 'head of more than 100 octets' });
  expect(event?.kind === 'error' && event.partial?.toString()).toBe(start);
});

test('a body over the limit ends the stream before it arrives', () => {
  const head = 'INVITE sip:b SIP/2.0\r\nl: 60\r\n\r\n';
  expect(frames(new StreamFramer({ maxBytes: 91 }), head)).toEqual([]);
  expect(frames(new StreamFramer({ maxBytes: 90 }), head)).toEqual([
    'error 513 message of 91 octets, 90 allowed',
  ]);
});

test('a message that arrives octet by octet up to the limit is delivered once', () => {
  const framer = new StreamFramer();
  const message = Buffer.from(`INVITE sip:b SIP/2.0\r\nl: 0\r\nX: ${'y'.repeat(60_000)}\r\n\r\n`);
  const events: FrameEvent[] = [];
  for (let i = 0; i < message.length; i++) events.push(...framer.push(message.subarray(i, i + 1)));
  expect(events.map(({ kind }) => kind)).toEqual(['message']);
});

test.each(['r@ex', 'OPTIONS sip:b'])(
  'a first line with a control character ends the stream however it is split (%s)',
  (start) => {
    const line = `${start}${String.fromCharCode(0)} SIP/2.0\r\n`;
    const refused = ['error 400 not SIP: the first line is not a SIP start line'];
    expect(frames(new StreamFramer(), line)).toEqual(refused);
    expect(frames(new StreamFramer(), line.slice(0, -2))).toEqual(refused);
  },
);

test.each([1, 13, 14, 15, 16])(
  'a control character in a reason phrase does not end the stream, however it is split (after %i octets)',
  (cut) => {
    const message = `SIP/2.0 200 O${String.fromCharCode(0)}K\r\nl: 0\r\n\r\n`;
    expect(frames(new StreamFramer(), message)).toEqual([message]);
    expect(frames(new StreamFramer(), message.slice(0, cut), message.slice(cut))).toEqual([message]);
  },
);
