import { describe, expect, test } from 'vitest';
import { HeaderList } from './headers.ts';
import type { SipRequest, SipResponse } from './message.ts';
import { unsupportedOptions, validateRequest, validateResponse } from './validate.ts';

const VALID: readonly (readonly [string, string])[] = [
  ['Via', 'SIP/2.0/TLS 192.0.2.1;branch=z9hG4bKa'],
  ['From', '<sip:a@b>;tag=1'],
  ['To', '<sip:c@d>'],
  ['Call-ID', 'x'],
  ['CSeq', '1 INVITE'],
  ['Contact', '<sip:a@b>'],
];

/** A valid INVITE, modified. */
function request(
  change: (headers: HeaderList) => void = () => {},
  uri = 'sip:c@d',
  method = 'INVITE',
): SipRequest {
  const headers = new HeaderList(VALID);
  change(headers);
  return { kind: 'request', method, uri, headers, body: Buffer.alloc(0) };
}

function response(change: (headers: HeaderList) => void): SipResponse {
  return {
    kind: 'response',
    status: 200,
    reason: 'OK',
    headers: request(change).headers,
    body: Buffer.alloc(0),
  };
}

describe('validateRequest', () => {
  test('accepts a complete request, with or without Max-Forwards', () => {
    expect(validateRequest(request())).toBeNull();
    expect(validateRequest(request((h) => h.append('Max-Forwards', '0')))).toBeNull();
    expect(validateRequest(request((h) => h.remove('Contact')))).toBeNull();
  });

  test.each([
    ['Via', 'Missing Via'],
    ['From', 'Missing From'],
    ['To', 'Missing To'],
    ['Call-ID', 'Missing Call-ID'],
    ['CSeq', 'Missing CSeq'],
  ])('answers 400 without %s', (name, reason) => {
    expect(validateRequest(request((h) => h.remove(name)))).toEqual({ status: 400, reason });
  });

  test.each([
    ['From', '<sip:x@y>;tag=2', 'More Than One From'],
    ['t', '<sip:x@y>', 'More Than One t'],
    ['Call-ID', 'x', 'More Than One Call-ID'],
    ['Contact', '<sip:x@y>', 'More Than One Contact'],
    ['Contact', 'nonsense', 'Bad Contact'],
    ['Record-Route', '<sip:p;lr>, nonsense', 'Bad Record-Route'],
    ['Max-Forwards', '256', 'Bad Max-Forwards'],
    ['Max-Forwards', 'x', 'Bad Max-Forwards'],
  ])('answers 400 to a second %s: %s', (name, value, reason) => {
    expect(validateRequest(request((h) => h.append(name, value)))).toEqual({ status: 400, reason });
  });

  test.each([
    ['CSeq', '1 BYE', 'CSeq Method Mismatch'],
    ['CSeq', '1 invite', 'CSeq Method Mismatch'],
    ['CSeq', 'x', 'Bad CSeq'],
    ['Call-ID', '', 'Bad Call-ID'],
    ['Call-ID', 'x|y', 'Bad Call-ID'],
    ['Call-ID', 'x\xff', 'Bad Call-ID'],
    ['From', '<sip:a@b>;tag=x|y', 'Bad From'],
    ['From', '<sip:a@b>;tag=\xc3\xa4', 'Bad From'],
    ['To', '<sip:a@b>;tag=x|y', 'Bad To'],
    ['To', '<sip:a@b>;tag=\x7f', 'Bad To'],
    ['Via', 'SIP/2.0/TLS a, nonsense', 'Bad Via'],
    ['Contact', '<sip:a@b>, <sip:c@d>', 'More Than One Contact'],
  ])('answers 400 to %s: %s', (name, value, reason) => {
    expect(validateRequest(request((h) => h.set(name, value)))).toEqual({ status: 400, reason });
  });

  test('several contacts, and the star, are only for REGISTER', () => {
    const register = (contact: string) =>
      request(
        (h) => {
          h.set('CSeq', '1 REGISTER');
          h.set('Contact', contact);
        },
        'sip:d',
        'REGISTER',
      );
    expect(validateRequest(register('<sip:a@b>, <sip:c@d>'))).toBeNull();
    expect(validateRequest(register('*'))).toBeNull();
  });

  test.each([
    ['tel:+14155550100', null],
    ['sips:c@d:5061;transport=tls', null],
    ['mailto:c@d', { status: 416, reason: 'Unsupported URI Scheme' }],
    ['c@d', { status: 400, reason: 'Bad Request-URI' }],
    ['sip:c@d:x', { status: 400, reason: 'Bad Request-URI' }],
    ['sip:c@d?a=b', { status: 400, reason: 'Headers in Request-URI' }],
  ])('checks the Request-URI %s', (uri, expected) => {
    expect(validateRequest(request(undefined, uri))).toEqual(expected);
  });
});

describe('validateResponse', () => {
  test('accepts one Via', () => expect(validateResponse(response(() => {}))).toBeNull());

  test.each([
    ['a second Via line', (h: HeaderList) => h.append('Via', 'SIP/2.0/TLS b'), 'More Than One Via'],
    [
      'a second Via in the line',
      (h: HeaderList) => h.set('Via', 'SIP/2.0/TLS a, SIP/2.0/TLS b'),
      'More Than One Via',
    ],
    ['a broken Via', (h: HeaderList) => h.set('Via', 'x'), 'Bad Via'],
    ['no To', (h: HeaderList) => h.remove('To'), 'Missing To'],
    ['a CSeq out of range', (h: HeaderList) => h.set('CSeq', '4294967296 INVITE'), 'Bad CSeq'],
  ])('drops %s', (_what, change, reason) => expect(validateResponse(response(change))).toBe(reason));
});

test('unsupportedOptions lists the unsupported option tags of Require, as written', () => {
  const asked = request((h) => {
    h.append('Require', '100rel, Timer');
    h.append('Require', 'magic');
  });
  expect(unsupportedOptions(asked, new Set(['100rel', 'timer']))).toEqual(['magic']);
  expect(unsupportedOptions(request(), new Set())).toEqual([]);
});
