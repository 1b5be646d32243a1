import { describe, expect, test } from 'vitest';
import { equalUris, formatHostPort, formatUri, parseUri, schemeOf, unescapeUri } from './uri.ts';

describe('parseUri', () => {
  test('parses all parts', () => {
    expect(
      parseUri('SIPS:alice:secret@Example.com:5061;transport=TCP;lr?Subject=x&Route=%3Csip:a%3E'),
    ).toEqual({
      scheme: 'sips',
      user: 'alice',
      password: 'secret',
      host: 'Example.com',
      port: 5061,
      params: new Map([
        ['transport', 'TCP'],
        ['lr', null],
      ]),
      headers: new Map([
        ['subject', 'x'],
        ['route', '%3Csip:a%3E'],
      ]),
    });
  });

  test.each([
    ['sip:example.com', { host: 'example.com' }],
    ['sip:192.0.2.1:5080', { host: '192.0.2.1', port: 5080 }],
    ['sip:a@[2001:db8::1]:5061;x', { host: '2001:db8::1', port: 5061 }],
    ['sip:user;phone-context=x?y/z@h', { user: 'user;phone-context=x?y/z', host: 'h' }],
    ['sip:*67#123@h', { user: '*67#123' }],
    ['sip:under_score@my_host', { host: 'my_host' }],
    ['tel:+1-415-555-0100;phone-context=example.com', { scheme: 'tel', user: '+1-415-555-0100', host: '' }],
  ])('reads %s', (text, parts) => expect(parseUri(text)).toMatchObject(parts));

  test.each([
    '',
    'sip:',
    'sip:@h',
    'bob@example.com',
    'sip:a@',
    'sip:a@b@c',
    'sip:a b@c',
    'sip:a%4@c',
    'sip:a@h:0',
    'sip:a@h:65536',
    'sip:a@h:x',
    'sip:a@h:',
    'sip:a@[::1',
    'sip:a@[::1]x',
    'sip:a@[1.2.3.4]',
    'sip:a@2001:db8::1',
    'sip:a@h;',
    'sip:a@h;x=1;x=2',
    'sip:a@h?x',
    'sip:a@h ;x',
    'tel:',
    'http://example.com',
    '<sip:a@b>',
  ])('rejects %j', (text) => expect(parseUri(text)).toBeNull());
});

test('schemeOf needs a leading letter and something after the colon', () => {
  expect(schemeOf('SOAP.beep://x')).toBe('soap.beep');
  expect(schemeOf('sip:')).toBeNull();
  expect(schemeOf('1a:b')).toBeNull();
  expect(schemeOf('a b:c')).toBeNull();
  expect(schemeOf('none')).toBeNull();
});

test.each([
  'sip:alice:secret@example.com:5061;transport=tls;lr?subject=x&priority=urgent',
  'sips:[2001:db8::1]:5061',
  'tel:+14155550100;isub=1',
])('formatUri writes back %s', (text) => {
  const uri = parseUri(text);
  expect(uri && formatUri(uri)).toBe(text);
});

test('formatHostPort brackets only IPv6', () => {
  expect(formatHostPort('2001:db8::1', 5061)).toBe('[2001:db8::1]:5061');
  expect(formatHostPort('h', 1)).toBe('h:1');
  expect(formatHostPort('h')).toBe('h');
});

test('unescapeUri returns octets', () => {
  expect(unescapeUri('a%20b%C3%BC')).toBe('a b\xc3\xbc');
  expect(unescapeUri('plain')).toBe('plain');
});

// The examples of RFC 3261 section 19.1.4, and what follows from its rules.
describe('equalUris', () => {
  test.each([
    ['sip:%61lice@atlanta.com;transport=TCP', 'sip:alice@AtLanTa.CoM;Transport=tcp'],
    ['sip:carol@chicago.com', 'sip:carol@chicago.com;newparam=5'],
    ['sip:carol@chicago.com', 'sip:carol@chicago.com;security=on'],
    ['sip:biloxi.com;transport=tcp;method=REGISTER', 'sip:biloxi.com;method=REGISTER;transport=tcp'],
    [
      'sip:alice@atlanta.com?subject=project%20x&priority=urgent',
      'sip:alice@atlanta.com?priority=urgent&subject=project%20x',
    ],
    ['tel:+1-415-555-0100', 'tel:+14155550100'],
    ['unparsable', 'unparsable'],
  ])('%s is %s', (a, b) => {
    expect(equalUris(a, b)).toBe(true);
    expect(equalUris(b, a)).toBe(true);
  });

  test.each([
    ['SIP:ALICE@AtLanTa.CoM;Transport=udp', 'sip:alice@AtLanTa.CoM;Transport=UDP'],
    ['sip:bob@biloxi.com', 'sip:bob@biloxi.com:5060'],
    ['sip:bob@biloxi.com', 'sip:bob@biloxi.com;transport=udp'],
    ['sip:bob@biloxi.com', 'sip:bob@biloxi.com:6000;transport=tcp'],
    ['sip:carol@chicago.com', 'sip:carol@chicago.com?Subject=next%20meeting'],
    ['sip:bob@phone21.boxesbybob.com', 'sip:bob@192.0.2.4'],
    ['sip:carol@chicago.com;security=on', 'sip:carol@chicago.com;security=off'],
    ['sip:bob@biloxi.com', 'sips:bob@biloxi.com'],
    ['sip:bob@biloxi.com', 'sip:biloxi.com'],
    ['sip:bob@biloxi.com', 'sip:bob:x@biloxi.com'],
    ['sip:a%3Bb@biloxi.com', 'sip:a;b@biloxi.com'],
    ['tel:+14155550100', 'tel:+14155550100;isub=1'],
  ])('%s is not %s', (a, b) => {
    expect(equalUris(a, b)).toBe(false);
    expect(equalUris(b, a)).toBe(false);
  });
});
