import { describe, expect, it } from 'vitest';
import { chooseCrypto, formatCrypto, parseCrypto } from './crypto.ts';

const key = 'd0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj';
const other = 'PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR';
const suite = 'AES_CM_128_HMAC_SHA1_80';

describe('parseCrypto', () => {
  const usable: [string, string, string | null][] = [
    ['a bare key', `1 ${suite} inline:${key}`, null],
    ['a lifetime as a power of two', `1 ${suite} inline:${key}|2^31`, null],
    ['a decimal lifetime', `1 ${suite} inline:${key}|1048576`, null],
    ['lifetime and MKI', `1 ${suite} inline:${key}|2^31|1:1`, '01'],
    ['an MKI alone', `1 ${suite} inline:${key}|1:4`, '00000001'],
    ['the largest MKI of one octet', `1 ${suite} inline:${key}|2^31|255:1`, 'ff'],
    ['the largest MKI', `1 ${suite} inline:${key}|2^48|4294967295:4`, 'ffffffff'],
    ['a replay window hint', `1 ${suite} inline:${key} WSH=64`, null],
    ['an order for FEC that nobody sends', `1 ${suite} inline:${key} FEC_ORDER=FEC_SRTP`, null],
    ['an unknown parameter marked as optional', `1 ${suite} inline:${key} -X-COLOR=red`, null],
    ['tabs and runs of spaces', `1 \t${suite}  inline:${key}`, null],
    ['a suite in lower case', `1 ${suite.toLowerCase()} inline:${key}`, null],
  ];
  it.each(usable)('accepts %s', (_, value, mki) => {
    expect(parseCrypto(value)).toEqual({ tag: '1', key, mki });
  });

  const unusable: [string, string, RegExp][] = [
    ['a short tag suite', `1 AES_CM_128_HMAC_SHA1_32 inline:${key}`, /suite AES_CM_128_HMAC_SHA1_32/],
    ['AES-256', `1 AES_256_CM_HMAC_SHA1_80 inline:${key}`, /suite/],
    ['GCM', `1 AEAD_AES_128_GCM inline:${key}`, /suite/],
    ['unencrypted RTCP', `1 ${suite} inline:${key} UNENCRYPTED_SRTCP`, /UNENCRYPTED_SRTCP/],
    ['unencrypted RTP', `1 ${suite} inline:${key} UNENCRYPTED_SRTP`, /UNENCRYPTED_SRTP/],
    ['unauthenticated RTP', `1 ${suite} inline:${key} UNAUTHENTICATED_SRTP`, /UNAUTHENTICATED_SRTP/],
    ['a key derivation rate', `1 ${suite} inline:${key} KDR=10`, /KDR=10/],
    ['a key for FEC', `1 ${suite} inline:${key} FEC_KEY=inline:${other}`, /FEC_KEY/],
    ['an unknown mandatory parameter', `1 ${suite} inline:${key} X=1`, /X=1/],
    ['several keys', `1 ${suite} inline:${key}|1:1;inline:${other}|2:1`, /several keys/],
    ['a short key', `1 ${suite} inline:${key.slice(4)}`, /30 octets/],
    ['a long key', `1 ${suite} inline:${key}AAAA`, /30 octets/],
    ['a key outside base64', `1 ${suite} inline:${key.slice(1)}!`, /30 octets/],
    ['another key method', `1 ${suite} uri:https://keys.example.com/1`, /not inline/],
    ['no key', `1 ${suite}`, /not inline/],
    ['a tag that is no number', `x ${suite} inline:${key}`, /tag/],
    ['nothing', '', /tag/],
    ['an MKI of five octets', `1 ${suite} inline:${key}|2^31|1:5`, /MKI of 5 octets/],
    ['an MKI of no octets', `1 ${suite} inline:${key}|2^31|1:0`, /does not fit/],
    ['an MKI that needs more octets', `1 ${suite} inline:${key}|2^31|256:1`, /does not fit/],
    ['a malformed lifetime', `1 ${suite} inline:${key}|soon`, /malformed/],
    ['too many key parameters', `1 ${suite} inline:${key}|2^31|2^31|1:1`, /malformed/],
  ];
  it.each(unusable)('skips %s', (_, value, reason) => {
    expect(parseCrypto(value)).toEqual({ unusable: expect.stringMatching(reason) });
  });
});

describe('chooseCrypto', () => {
  it('uses the first usable line', () => {
    const lines = [
      `1 AES_CM_128_HMAC_SHA1_32 inline:${key}`,
      `2 ${suite} inline:${key}`,
      `3 ${suite} inline:${other}`,
    ];
    expect(chooseCrypto(lines)).toEqual({ tag: '2', key, mki: null });
  });

  it('prefers a line without MKI', () => {
    const lines = [`1 ${suite} inline:${other}|2^31|1:1`, `2 ${suite} inline:${key}|2^31`];
    expect(chooseCrypto(lines)).toEqual({ tag: '2', key, mki: null });
  });

  it('uses a line with MKI when there is no other', () => {
    expect(chooseCrypto([`7 ${suite} inline:${key}|2^31|1:1`])).toEqual({ tag: '7', key, mki: '01' });
  });

  it('says why no line is usable', () => {
    expect(chooseCrypto([])).toEqual({ unusable: 'no a=crypto line' });
    expect(chooseCrypto([`1 ${suite} inline:short`])).toEqual({
      unusable: expect.stringMatching(/30 octets/),
    });
  });
});

it.each([null, '01', '00', 'fffefdfc'])('writes a line that it can read, with the MKI %s', (mki) => {
  const line = { tag: '4', key, mki };
  expect(parseCrypto(formatCrypto(line))).toEqual(line);
});
