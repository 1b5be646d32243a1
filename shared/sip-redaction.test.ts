import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactSip } from '#shared/sip-redaction.ts';

const invite = (lines: string[], body = '') =>
  [
    'INVITE sip:+14155550100@edge.example.com SIP/2.0',
    'Via: SIP/2.0/TLS pbx.example.com',
    ...lines,
    '',
    body,
  ].join('\r\n');

describe('redactSip', () => {
  it('removes SRTP keys from crypto lines and leaves the rest of the body', () => {
    const body = [
      'v=0',
      'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz|2^20|1:4 FEC_ORDER=FEC_SRTP',
      'a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:c2VjcmV0;inline:b3RoZXI=|2:18',
      'a=rtpmap:0 PCMU/8000',
      '',
    ].join('\r\n');
    expect(redactSip(invite([], body))).toBe(
      invite(
        [],
        [
          'v=0',
          'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:REDACTED|2^20|1:4 FEC_ORDER=FEC_SRTP',
          'a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:REDACTED;inline:REDACTED|2:18',
          'a=rtpmap:0 PCMU/8000',
          '',
        ].join('\r\n'),
      ),
    );
  });

  it.each([
    [
      'a blank after inline:',
      'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline: c2VjcmV0|2^20',
      'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline: REDACTED|2^20',
    ],
    [
      'upper case',
      'a=CRYPTO:1 AES_CM_128_HMAC_SHA1_80 INLINE:c2VjcmV0',
      'a=CRYPTO:1 AES_CM_128_HMAC_SHA1_80 INLINE:REDACTED',
    ],
    [
      'blanks around the equals sign',
      'a = crypto:1 AES_CM_128_HMAC_SHA1_80 inline:c2VjcmV0',
      'a = crypto:1 AES_CM_128_HMAC_SHA1_80 inline:REDACTED',
    ],
    [
      'no key method',
      'a=crypto:1 AES_CM_128_HMAC_SHA1_80 c2VjcmV0',
      'a=crypto:1 AES_CM_128_HMAC_SHA1_80 REDACTED',
    ],
  ])('removes the key from a crypto line with %s', (_, line, clean) => {
    expect(redactSip(invite([], `v=0\r\n${line}\r\n`))).toBe(invite([], `v=0\r\n${clean}\r\n`));
    expect(redactSip(invite([], `v=0\r\n${clean}\r\n`))).toBe(invite([], `v=0\r\n${clean}\r\n`));
  });

  it('removes digest values from credentials, including folded lines', () => {
    const message = invite([
      'authorization : Digest username="bob", realm="a, nonce", nonce="84a4\\"cc",',
      ' uri="sip:edge.example.com", response = "7587245234b3434cc3412213e5f113a5", CNONCE=abc, opaque="x", qop=auth, nc=00000001',
      'Proxy-Authorization: Basic Ym9iOnNlY3JldA==',
      'Subject: nonce="kept"',
    ]);
    expect(redactSip(message)).toBe(
      invite([
        'authorization : Digest username="bob", realm="a, nonce", nonce="REDACTED",',
        ' uri="sip:edge.example.com", response = "REDACTED", CNONCE=REDACTED, opaque="REDACTED", qop=auth, nc=00000001',
        'Proxy-Authorization: Basic REDACTED',
        'Subject: nonce="kept"',
      ]),
    );
  });

  it('removes nonce and opaque from a challenge and leaves its other values', () => {
    const challenge = (nonce: string, opaque: string) =>
      `SIP/2.0 401 Unauthorized\r\nWWW-Authenticate: Digest realm="r", nonce="${nonce}", OPAQUE=${opaque}, algorithm=MD5\r\n\r\n`;
    expect(redactSip(challenge('84a4cc6f', '"5ccc"'))).toBe(challenge('REDACTED', '"REDACTED"'));
    expect(redactSip(challenge('84a4cc6f', '5ccc'))).toBe(challenge('REDACTED', 'REDACTED'));
  });

  it('returns a message without secrets unchanged', () => {
    const message = invite(['Allow: INVITE', 'P-Asserted-Identity: <sip:bob@example.com>'], 'a=ptime:20\r\n');
    expect(redactSip(message)).toBe(message);
  });

  it('is idempotent, whatever the message', () => {
    const piece = fc.constantFrom(
      'Authorization: Digest nonce="',
      'Proxy-Authenticate: Digest nonce=',
      'Authorization: Basic ',
      '"',
      '\\',
      ',',
      ' ',
      '\r\n',
      '\n',
      'inline:',
      '|',
      ';',
      '=',
      'a=crypto:1 X ',
      'response=',
      'REDACTED',
      'x',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const once = redactSip(pieces.join(''));
        expect(redactSip(once)).toBe(once);
      }),
      { numRuns: 500 },
    );
  });
});
