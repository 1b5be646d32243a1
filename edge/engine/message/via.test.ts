import { expect, test } from 'vitest';
import { formatVia, isMagicBranch, parseVia } from './via.ts';

test('parses all parts', () => {
  expect(parseVia('SIP/2.0/tls [2001:db8::1]:5061;branch=z9hG4bKx;rport;received=192.0.2.1;alias')).toEqual({
    transport: 'TLS',
    host: '2001:db8::1',
    port: 5061,
    branch: 'z9hG4bKx',
    received: '192.0.2.1',
    rport: null,
    params: new Map([
      ['branch', 'z9hG4bKx'],
      ['rport', null],
      ['received', '192.0.2.1'],
      ['alias', null],
    ]),
  });
});

test('allows white space around slashes and the colon', () => {
  expect(parseVia('SIP / 2.0 / TCP  h : 5070 ; rport = 9')).toMatchObject({
    transport: 'TCP',
    host: 'h',
    port: 5070,
    rport: 9,
  });
});

test('an invalid rport counts as missing', () => {
  expect(parseVia('SIP/2.0/TLS h;rport=99999')?.rport).toBeNull();
  expect(parseVia('SIP/2.0/TLS h')?.rport).toBeUndefined();
});

test.each([
  '',
  'SIP/2.0/TLS',
  'SIP/2.0/TLS ',
  'SIP/2.0 h',
  'SIP/3.0/TLS h',
  'HTTP/2.0/TLS h',
  'SIP/2.0/ h',
  'SIP/2.0/TLS/x h',
  'SIP/2.0/TLS;h',
  'SIP/2.0/TLS h:0',
  'SIP/2.0/TLS h;;',
  'SIP/2.0/TLS h;branch=',
  'SIP/2.0/TLS a b',
])('rejects %j', (value) => expect(parseVia(value)).toBeNull());

test('writes a value that can be read back', () => {
  const text = formatVia({
    transport: 'TLS',
    host: '2001:db8::1',
    port: 5061,
    params: new Map([
      ['branch', 'z9hG4bKx'],
      ['rport', null],
    ]),
  });
  expect(text).toBe('SIP/2.0/TLS [2001:db8::1]:5061;branch=z9hG4bKx;rport');
  expect(parseVia(text)?.branch).toBe('z9hG4bKx');
});

test('a branch is unique only with something after the cookie', () => {
  expect(isMagicBranch('z9hG4bKx')).toBe(true);
  expect(isMagicBranch('z9hG4bK')).toBe(false);
  expect(isMagicBranch('x')).toBe(false);
  expect(isMagicBranch(undefined)).toBe(false);
});
