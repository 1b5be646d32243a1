import { describe, expect, it } from 'vitest';
import { parseChallenges } from '../../srf/digest.ts';
import { challenge, isMadeWith, readCredentials } from './credentials.ts';

const password = 'pässword of twelve';
/** Calculated with Python's hashlib, from RFC 7616 section 3.4.1. */
const responses = {
  'SHA-256': 'a238b07dc9f8d03e4f8e1756cdf5df38793a8b8e492548e23d9058d98c535d3e',
  MD5: '8f992654203ef206e546819ca14244b6',
};
const parts = (changes: Readonly<Record<string, string | null>> = {}): string => {
  const all: Record<string, string | null> = {
    username: '"acme"',
    realm: '"trunkline"',
    nonce: '"bm9uY2U"',
    uri: '"sip:+14155550100@edge.example"',
    response: `"${responses['SHA-256']}"`,
    algorithm: 'SHA-256',
    cnonce: '"c0ffee"',
    qop: 'auth',
    nc: '0000000a',
    ...changes,
  };
  const given = Object.entries(all).filter(([, value]) => value !== null);
  return `Digest ${given.map(([name, value]) => `${name}=${value}`).join(', ')}`;
};

describe('credentials', () => {
  it.each([
    ['SHA-256', parts()],
    ['MD5', parts({ algorithm: 'MD5', response: `"${responses.MD5}"` })],
    ['MD5 by default', parts({ algorithm: null, response: `"${responses.MD5}"` })],
    ['quoted words', parts({ algorithm: '"SHA-256"', qop: '"auth"', nc: '"0000000A"' })],
    ['capitals', parts({ response: `"${responses['SHA-256'].toUpperCase()}"` })],
    ['another realm before', `${parts({ realm: '"pbx"', response: '"00"' })}, ${parts()}`],
    ['another scheme before', `Basic YTpi, ${parts()}`],
  ])('are made with the password: %s', (_what, header) => {
    const credentials = readCredentials(header);
    if (typeof credentials === 'string') throw new Error(credentials);
    expect(isMadeWith(credentials, 'INVITE', password)).toBe(true);
    expect(isMadeWith(credentials, 'INVITE', `${password} `)).toBe(false);
    expect(isMadeWith(credentials, 'REFER', password)).toBe(false);
  });

  it.each<[string, Record<string, string>]>([
    ['the number', { uri: '"sip:+14155550101@edge.example"' }],
    ['the user', { username: '"acmf"' }],
    ['the nonce', { nonce: '"bm9uY2V"' }],
    ['the count', { nc: '0000000b' }],
    ['the cnonce', { cnonce: '"c0ffef"' }],
    ['the response', { response: `"${responses['SHA-256'].replace('a', 'b')}"` }],
    ['the length of the response', { response: `"${responses.MD5}"` }],
    ['the algorithm', { algorithm: 'MD5' }],
  ])('are wrong when %s is another', (_what, changes) => {
    const credentials = readCredentials(parts(changes));
    if (typeof credentials === 'string') throw new Error(credentials);
    expect(isMadeWith(credentials, 'INVITE', password)).toBe(false);
  });

  it.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['another realm', parts({ realm: '"pbx"' })],
    ['no realm', parts({ realm: null })],
    ['another scheme', 'Bearer abc'],
  ])('are missing with %s', (_what, header) => {
    expect(readCredentials(header)).toBe('none');
  });

  it.each<[string, Record<string, string | null>]>([
    ['no user', { username: null }],
    ['no nonce', { nonce: null }],
    ['no URI', { uri: null }],
    ['no response', { response: null }],
    ['no cnonce', { cnonce: null }],
    ['an empty cnonce', { cnonce: '""' }],
    ['no count', { nc: null }],
    ['a count of other digits', { nc: '0000000g' }],
    ['a count of seven digits', { nc: '0000001' }],
    ['no qop', { qop: null }],
    ['another qop', { qop: 'auth-int' }],
    ['an unknown algorithm', { algorithm: 'SHA-1' }],
    ['an algorithm that was not offered', { algorithm: 'SHA-512-256' }],
    ['an algorithm for sessions', { algorithm: 'SHA-256-sess' }],
    ['a response that is no hexadecimal number', { response: '"xyz"' }],
  ])('are malformed with %s', (_what, changes) => {
    expect(readCredentials(parts(changes))).toBe('malformed');
  });
});

it('a challenge is one line for each algorithm, the one that every PBX knows first', () => {
  expect(challenge('n', true).split('\r\nWWW-Authenticate: ')).toEqual([
    'Digest realm="trunkline", nonce="n", algorithm=MD5, qop="auth", stale=true',
    'Digest realm="trunkline", nonce="n", algorithm=SHA-256, qop="auth", stale=true',
  ]);
  expect(parseChallenges(challenge('n', false))[0]?.stale).toBe(false);
  expect(challenge('n', false, 'Asterisk PBX 18.5.0')).toBe(challenge('n', false));
  expect(challenge('n', false, 'baresip v1.0.0 (x86_64/linux)')).toBe(
    'Digest realm="trunkline", nonce="n", algorithm=MD5, qop="auth"',
  );
});
