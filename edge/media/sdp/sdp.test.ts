import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../test/kit/any-character.ts';
import { attribute, formatSdp, parseSdp } from './sdp.ts';

const plain = [
  'v=0',
  'o=alice 2890844526 2890844527 IN IP4 192.0.2.1',
  's=call',
  'c=IN IP4 192.0.2.1',
  't=0 0',
  'm=audio 49170 RTP/SAVP 0 101',
  'a=rtpmap:101 telephone-event/8000',
  'a=sendrecv',
];

describe('parseSdp', () => {
  it('reads session and media lines', () => {
    expect(parseSdp(`${plain.join('\r\n')}\r\n`)).toEqual({
      origin: {
        username: 'alice',
        sessionId: '2890844526',
        version: '2890844527',
        address: { family: 'IP4', address: '192.0.2.1' },
      },
      sessionName: 'call',
      connection: { family: 'IP4', address: '192.0.2.1' },
      times: ['0 0'],
      others: [],
      attributes: [],
      media: [
        {
          media: 'audio',
          port: 49170,
          portCount: 1,
          profile: 'RTP/SAVP',
          formats: ['0', '101'],
          connection: null,
          others: [],
          attributes: [
            { name: 'rtpmap', value: '101 telephone-event/8000' },
            { name: 'sendrecv', value: null },
          ],
        },
      ],
    });
  });

  const reference = parseSdp(plain.join('\r\n'));
  const same: [string, string][] = [
    ['bare LF', plain.join('\n')],
    ['blank lines', plain.join('\r\n\r\n')],
    ['trailing spaces', plain.join(' \r\n')],
    ['a line without equals sign', [...plain.slice(0, 5), 'garbage', ...plain.slice(5)].join('\r\n')],
    ['an unknown line type', [...plain.slice(0, 5), 'y=1', ...plain.slice(5)].join('\r\n')],
    ['a second origin', [...plain.slice(0, 2), 'o=b 1 1 IN IP4 192.0.2.9', ...plain.slice(2)].join('\r\n')],
    ['no version line', plain.slice(1).join('\r\n')],
    ['runs of spaces in the media line', plain.join('\r\n').replace('49170 RTP', '49170   RTP')],
  ];
  it.each(same)('reads the same with %s', (_, text) => {
    expect(parseSdp(text)).toEqual(reference);
  });

  it.each([
    ['every line', plain.join('\r')],
    ['one line', plain.join('\r\n').replace('\r\n', '\r')],
    ['LF CR', plain.join('\n\r')],
  ])('rejects CR without LF: %s', (_, text) => {
    expect(() => parseSdp(text)).toThrow('A line of the session description ends in CR without LF');
  });

  it('reads IPv6 and multicast addresses', () => {
    expect(parseSdp('c=IN IP6 2001:db8::1\r\n').connection).toEqual({
      family: 'IP6',
      address: '2001:db8::1',
    });
    expect(parseSdp('c=IN IP4 224.2.1.1/127/3\r\n').connection).toEqual({
      family: 'IP4',
      address: '224.2.1.1',
    });
    expect(parseSdp('c=ATM NSAP 47.0091\r\n').connection).toBeNull();
  });

  it('reads a port with a count', () => {
    expect(parseSdp('m=audio 49170/2 RTP/SAVP 0').media[0]).toMatchObject({ port: 49170, portCount: 2 });
  });

  it.each([
    'm=audio',
    'm=audio 4000 RTP/SAVP',
    'm=audio x RTP/SAVP 0',
    'm=audio 65536 RTP/SAVP 0',
    'm=audio -1 RTP/SAVP 0',
    'm=audio 4000/0 RTP/SAVP 0',
    'm=',
  ])('rejects the media line %s', (line) => {
    expect(() => parseSdp(`v=0\r\n${line}\r\n`)).toThrow(expect.objectContaining({ sipStatus: 488 }));
  });

  it('keeps a colon in an attribute value', () => {
    const sdp = parseSdp('a=candidate: 1 1 udp 1 fe80::1 9 typ host\r\na=recvonly');
    expect(attribute(sdp, 'candidate')).toBe('1 1 udp 1 fe80::1 9 typ host');
    expect(attribute(sdp, 'recvonly')).toBe('');
    expect(attribute(sdp, 'sendonly')).toBeUndefined();
  });
});

describe('formatSdp', () => {
  it('writes lines in the order of RFC 4566', () => {
    const text =
      'v=0\r\no=- 1 2 IN IP6 2001:db8::1\r\ns=x\r\ni=about\r\nc=IN IP6 2001:db8::1\r\nb=AS:64\r\nt=1 2\r\n' +
      'k=prompt\r\na=tool:x\r\nm=audio 4000/2 RTP/SAVP 0\r\ni=voice\r\nc=IN IP4 192.0.2.7\r\nb=TIAS:64000\r\na=ptime:20\r\n';
    expect(formatSdp(parseSdp(text))).toBe(text);
  });

  it('is stable: writing what was read from it changes nothing', () => {
    const word = fc.stringMatching(/^[!-~]{1,12}$/);
    // JavaScript's other white space does not separate words in a description.
    const white = fc.constantFrom(...'\t\v\f\u00a0\u2028\ufeff');
    const value = fc.oneof(
      fc.stringMatching(/^[ -~]{0,30}$/),
      fc.array(fc.oneof(white, fc.stringMatching(/^[ -~]$/)), { maxLength: 8 }).map((all) => all.join('')),
    );
    const line = fc.oneof(
      fc.tuple(fc.constantFrom('c=IN IP4 ', 'o=- 1 1 IN IP6 '), value).map((parts) => parts.join('')),
      fc.tuple(fc.constantFrom(...'vosiuepcbtrzkay'), value).map(([type, text]) => `${type}=${text}`),
      fc.tuple(word, value).map(([name, text]) => `a=${name}:${text}`),
      fc
        .tuple(word, fc.nat(65535), word, fc.array(word, { minLength: 1, maxLength: 4 }))
        .map(([media, port, profile, formats]) => `m=${media} ${port} ${profile} ${formats.join(' ')}`),
      fc.ipV4().map((address) => `c=IN IP4 ${address}`),
      fc.ipV6().map((address) => `o=- 1 1 IN IP6 ${address}`),
    );
    const text = fc.array(line, { maxLength: 30 }).map((lines) => lines.join('\r\n'));
    fc.assert(
      fc.property(text, (input) => {
        const once = formatSdp(parseSdp(input));
        expect(formatSdp(parseSdp(once))).toBe(once);
      }),
      { numRuns: 500 },
    );
  });

  it('never fails on arbitrary text except by rejecting it', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (input) => {
        try {
          formatSdp(parseSdp(input));
        } catch (error) {
          expect(error).toMatchObject({ sipStatus: 488 });
        }
      }),
      { numRuns: 1000 },
    );
  });
});
