/** Answers to offers. */
import { describe, expect, it } from 'vitest';
import {
  answerTo,
  audio,
  cryptoLine,
  event8,
  ourKey,
  peerKey,
  refusalOf,
  sdp,
  secondKey,
  suite,
} from '../../../test/kit/edge/descriptions.ts';
import type { LocalMedia } from './session.ts';

const opusLines = ['a=rtpmap:96 opus/48000/2', 'a=fmtp:96 useinbandfec=1'];
const event48 = ['a=rtpmap:102 telephone-event/48000', 'a=fmtp:102 0-16'];

describe('negotiateAnswer', () => {
  it('answers one codec, one key, events and 20 ms', () => {
    const { answer, session } = answerTo(sdp(audio('8 0 101', event8)));
    expect(answer).toBe(
      [
        'v=0',
        'o=trunkline 42 1 IN IP4 203.0.113.10',
        's=trunkline',
        'c=IN IP4 203.0.113.10',
        't=0 0',
        'm=audio 10000 RTP/SAVP 0 101',
        `a=crypto:1 ${suite} inline:${ourKey}`,
        'a=rtpmap:0 PCMU/8000',
        'a=rtpmap:101 telephone-event/8000',
        'a=fmtp:101 0-15',
        'a=ptime:20',
        'a=sendrecv',
        '',
      ].join('\r\n'),
    );
    expect(session).toEqual({
      keying: 'sdes',
      codec: 'PCMU',
      payloadType: 0,
      clockRate: 8000,
      channels: 1,
      ptime: 20,
      remotePtime: 20,
      fmtp: null,
      dtmf: { payloadType: 101, clockRate: 8000 },
      comfortNoise: null,
      remote: { address: '198.51.100.7', rtpPort: 30000, rtcpPort: 30001 },
      remoteKey: peerKey,
      remoteMki: null,
      localMki: null,
      localTag: '1',
      profile: 'RTP/SAVP',
      direction: 'sendrecv',
      held: false,
      rtcpMux: false,
    });
  });

  const choices: [string, string[], Partial<LocalMedia>, object][] = [
    ['our first codec of theirs', audio('8 0'), {}, { codec: 'PCMU', payloadType: 0 }],
    ['their first codec when configured', audio('8 0'), { preference: 'remote' }, { codec: 'PCMA' }],
    ['our order of codecs', audio('0 8'), { codecs: ['PCMA', 'PCMU'] }, { codec: 'PCMA', payloadType: 8 }],
    ['the only common codec', audio('18 8'), {}, { codec: 'PCMA' }],
    [
      'Opus under their payload type',
      audio('96', opusLines),
      {},
      { codec: 'Opus', payloadType: 96, clockRate: 48000, channels: 2, fmtp: 'useinbandfec=1' },
    ],
    [
      'Opus written in capitals and mono',
      audio('97', ['a=rtpmap:97 OPUS/48000/1']),
      {},
      { codec: 'Opus', channels: 1 },
    ],
    [
      'PCMU under a dynamic payload type',
      audio('100', ['a=rtpmap:100 pcmu/8000']),
      {},
      { codec: 'PCMU', payloadType: 100 },
    ],
    ['a static type without rtpmap', audio('0'), {}, { codec: 'PCMU' }],
    [
      'G.722 at its RTP clock of 8000',
      audio('9'),
      { codecs: ['G.722'] },
      { codec: 'G.722', payloadType: 9, clockRate: 8000 },
    ],
    ['G.729', audio('18'), { codecs: ['G.729', 'PCMU'] }, { codec: 'G.729', payloadType: 18 }],
    [
      'the event at the clock of Opus',
      audio('96 101 102', [...opusLines, ...event8, ...event48]),
      {},
      { dtmf: { payloadType: 102, clockRate: 48000 } },
    ],
    [
      'the event at 8000 beside Opus when alone',
      audio('96 101', [...opusLines, ...event8]),
      {},
      { dtmf: { payloadType: 101, clockRate: 8000 } },
    ],
    [
      'the event at 8000 beside G.711',
      audio('0 102 101', [...event48, ...event8]),
      {},
      { dtmf: { payloadType: 101, clockRate: 8000 } },
    ],
    ['no event for G.711 when there is none at 8000', audio('0 102', event48), {}, { dtmf: null }],
    ['no event when none is offered', audio('0'), {}, { dtmf: null }],
    ['comfort noise known though not agreed', audio('0 13'), {}, { comfortNoise: 13 }],
    ['their packet time', audio('0', ['a=ptime:30']), {}, { ptime: 20, remotePtime: 30 }],
    ['20 ms when theirs is nonsense', audio('0', ['a=ptime:x']), {}, { remotePtime: 20 }],
    [
      'the RTCP port by a=rtcp',
      audio('0', ['a=rtcp:40001']),
      {},
      { remote: { address: '198.51.100.7', rtpPort: 30000, rtcpPort: 40001 } },
    ],
    [
      'the RTCP port by a=rtcp with address',
      audio('0', ['a=rtcp:40003 IN IP4 198.51.100.7']),
      {},
      { remote: { address: '198.51.100.7', rtpPort: 30000, rtcpPort: 40003 } },
    ],
    [
      'the next port when a=rtcp is nonsense',
      audio('0', ['a=rtcp:0']),
      {},
      { remote: { address: '198.51.100.7', rtpPort: 30000, rtcpPort: 30001 } },
    ],
    [
      'multiplexed RTCP when both can',
      audio('0', ['a=rtcp-mux']),
      { rtcpMux: true },
      { rtcpMux: true, remote: { address: '198.51.100.7', rtpPort: 30000, rtcpPort: 30000 } },
    ],
    [
      'separate RTCP when we cannot multiplex',
      audio('0', ['a=rtcp-mux']),
      {},
      { rtcpMux: false, remote: { address: '198.51.100.7', rtpPort: 30000, rtcpPort: 30001 } },
    ],
    ['separate RTCP when they do not offer it', audio('0'), { rtcpMux: true }, { rtcpMux: false }],
    ['SAVPF', audio('0', [], 'RTP/SAVPF'), {}, { profile: 'RTP/SAVPF' }],
    ['a profile in lower case', audio('0', [], 'rtp/savp'), {}, { profile: 'RTP/SAVP' }],
    [
      'the address of the media section',
      ['m=audio 30000 RTP/SAVP 0', 'c=IN IP4 198.51.100.99', cryptoLine],
      {},
      { remote: { address: '198.51.100.99', rtpPort: 30000, rtcpPort: 30001 } },
    ],
    [
      'an IPv6 address',
      ['m=audio 30000 RTP/SAVP 0', 'c=IN IP6 2001:db8::9', cryptoLine],
      {},
      { remote: { address: '2001:db8::9', rtpPort: 30000, rtcpPort: 30001 } },
    ],
    ['a key above the media section', [cryptoLine, 'm=audio 30000 RTP/SAVP 0'], {}, { remoteKey: peerKey }],
    [
      'the tag of the key in use',
      [
        'm=audio 30000 RTP/SAVP 0',
        `a=crypto:1 AES_CM_128_HMAC_SHA1_32 inline:${secondKey}`,
        `a=crypto:2 ${suite} inline:${peerKey}|2^31`,
      ],
      {},
      { localTag: '2', remoteKey: peerKey },
    ],
    [
      'a key with lifetime and MKI',
      ['m=audio 30000 RTP/SAVP 0', `a=crypto:3 ${suite} inline:${peerKey}|2^31|1:1`],
      {},
      { localTag: '3', remoteKey: peerKey, remoteMki: '01', localMki: '01' },
    ],
    [
      'the key after an unusable one',
      [
        'm=audio 30000 RTP/SAVP 0',
        `a=crypto:1 ${suite} inline:${secondKey} UNENCRYPTED_SRTCP`,
        `a=crypto:2 ${suite} inline:${peerKey}`,
      ],
      {},
      { localTag: '2', remoteKey: peerKey },
    ],
    [
      'the secure one of two audio lines',
      ['m=audio 20000 RTP/AVP 0', ...audio('0')],
      {},
      { remote: { address: '198.51.100.7', rtpPort: 30000, rtcpPort: 30001 } },
    ],
    [
      'the second secure line when the first has no key',
      ['m=audio 20000 RTP/SAVP 0', ...audio('0')],
      {},
      { remote: { address: '198.51.100.7', rtpPort: 30000, rtcpPort: 30001 } },
    ],
  ];
  it.each(choices)('settles on %s', (_, media, changes, expected) => {
    expect(answerTo(sdp(media), changes).session).toMatchObject(expected);
  });

  const holds: [string, string[], string, object][] = [
    ['sendrecv', ['a=sendrecv'], 'sendrecv', { held: false }],
    ['no direction', [], 'sendrecv', { held: false }],
    ['sendonly', ['a=sendonly'], 'recvonly', { held: true }],
    ['recvonly', ['a=recvonly'], 'sendonly', { held: false }],
    ['inactive', ['a=inactive'], 'inactive', { held: true }],
  ];
  it.each(holds)('answers %s', (_, attributes, direction, expected) => {
    const { answer, session } = answerTo(sdp(audio('0', attributes)));
    expect(session).toMatchObject({ direction, ...expected });
    expect(answer).toContain(`a=${direction}\r\n`);
  });

  it("uses the session's direction when the media section has none", () => {
    expect(answerTo(sdp(['a=inactive', ...audio('0')])).session.direction).toBe('inactive');
    expect(answerTo(sdp(['a=inactive', ...audio('0', ['a=sendrecv'])])).session.direction).toBe('sendrecv');
  });

  it.each(['c=IN IP4 0.0.0.0', 'c=IN IP6 ::'])(
    'treats %s as a hold and answers with its own address',
    (line) => {
      const { answer, session } = answerTo(sdp(audio('0', ['a=sendrecv']), line));
      expect(session).toMatchObject({ held: true, direction: 'recvonly' });
      expect(answer).toContain('c=IN IP4 203.0.113.10\r\n');
    },
  );

  it('holds the peer when requested', () => {
    const settle = (direction: 'sendonly' | 'inactive', attributes: string[]) =>
      answerTo(sdp(audio('0', attributes)), { direction }).session;
    expect(settle('sendonly', [])).toMatchObject({ direction: 'sendonly', held: false });
    expect(settle('inactive', [])).toMatchObject({ direction: 'inactive', held: false });
    expect(settle('sendonly', ['a=sendonly'])).toMatchObject({ direction: 'inactive', held: true });
  });

  it('keeps the position of every media line and rejects all but one', () => {
    const media = [
      'm=image 40000 udptl t38',
      'm=audio 20000 RTP/AVP 0 8',
      ...audio('0'),
      'm=audio 32000 RTP/SAVP 0',
      `a=crypto:1 ${suite} inline:${secondKey}`,
      'm=video 34000/2 RTP/SAVP 98',
      'a=rtpmap:98 VP8/90000',
    ];
    const lines = answerTo(sdp(media)).answer.split('\r\n');
    expect(lines.filter((line) => line.startsWith('m='))).toEqual([
      'm=image 0 udptl t38',
      'm=audio 0 RTP/AVP 0 8',
      'm=audio 10000 RTP/SAVP 0',
      'm=audio 0 RTP/SAVP 0',
      'm=video 0 RTP/SAVP 98',
    ]);
    expect(lines.filter((line) => line.startsWith('a=crypto'))).toHaveLength(1);
  });

  it('answers with the t= line of the offer', () => {
    const offer = sdp(audio('0')).replace('t=0 0', 't=3034423619 3042462419');
    expect(answerTo(offer).answer).toContain('t=3034423619 3042462419\r\n');
  });

  it('lists comfort noise only when requested', () => {
    expect(answerTo(sdp(audio('0 13'))).answer).toContain('m=audio 10000 RTP/SAVP 0\r\n');
    expect(answerTo(sdp(audio('0 13')), { comfortNoise: true }).answer).toContain(
      'm=audio 10000 RTP/SAVP 0 13\r\n',
    );
  });

  it('says what it can receive for Opus and G.729', () => {
    expect(answerTo(sdp(audio('96', opusLines))).answer).toContain(
      'a=fmtp:96 maxplaybackrate=16000;sprop-maxcapturerate=16000;stereo=0;useinbandfec=1\r\n',
    );
    expect(answerTo(sdp(audio('18')), { codecs: ['G.729'] }).answer).toContain('a=fmtp:18 annexb=no\r\n');
  });

  it('writes an IPv6 address of ours', () => {
    const { answer } = answerTo(sdp(audio('0')), { address: '2001:db8::5' });
    expect(answer).toContain('c=IN IP6 2001:db8::5\r\n');
    expect(answer).toContain('o=trunkline 42 1 IN IP6 2001:db8::5\r\n');
  });

  it('answers multiplexed RTCP only when it was offered', () => {
    expect(answerTo(sdp(audio('0', ['a=rtcp-mux'])), { rtcpMux: true }).answer).toContain('a=rtcp-mux\r\n');
    expect(answerTo(sdp(audio('0')), { rtcpMux: true }).answer).not.toContain('rtcp-mux');
  });

  const refusals: [string, string, RegExp][] = [
    [
      'plain RTP',
      sdp(['m=audio 30000 RTP/AVP 0']),
      /^SRTP required: offer RTP\/SAVP with AES_CM_128_HMAC_SHA1_80$/,
    ],
    ['plain RTP with a key', sdp(audio('0', [], 'RTP/AVP')), /^SRTP required/],
    ['RTP/AVPF', sdp(audio('0', [], 'RTP/AVPF')), /^SRTP required/],
    ['DTLS-SRTP', sdp(audio('0', [], 'UDP/TLS/RTP/SAVPF')), /^DTLS-SRTP not supported/],
    ['DTLS-SRTP over TCP', sdp(audio('0', [], 'TCP/TLS/RTP/SAVP')), /^DTLS-SRTP not supported/],
    ['an unknown profile', sdp(audio('0', [], 'RTP/XYZ')), /^Profile RTP\/XYZ not supported/],
    ['no key', sdp(['m=audio 30000 RTP/SAVP 0']), /^No usable SRTP key: no a=crypto line$/],
    [
      'a key of another suite',
      sdp(['m=audio 30000 RTP/SAVP 0', `a=crypto:1 AES_CM_128_HMAC_SHA1_32 inline:${peerKey}`]),
      /AES_CM_128_HMAC_SHA1_32 not supported/,
    ],
    [
      'a key with unencrypted RTCP',
      sdp(['m=audio 30000 RTP/SAVP 0', `${cryptoLine} UNENCRYPTED_SRTCP`]),
      /UNENCRYPTED_SRTCP not supported/,
    ],
    ['a malformed key', sdp(['m=audio 30000 RTP/SAVP 0', `a=crypto:1 ${suite} inline:abc`]), /30 octets/],
    ['no common codec', sdp(audio('3 18')), /^No common codec: this number accepts PCMU, PCMA, Opus$/],
    ['events without a codec', sdp(audio('101', event8)), /^No common codec/],
    ['video only', sdp(['m=video 30000 RTP/SAVP 98']), /^No audio stream offered$/],
    ['fax only', sdp(['m=image 30000 udptl t38']), /^No audio stream offered$/],
    ['no media', sdp([]), /^No audio stream offered$/],
    ['nothing', '', /^No audio stream offered$/],
    ['a stream with port 0', sdp(['m=audio 0 RTP/SAVP 0', cryptoLine]), /disabled/],
    ['no address', sdp(audio('0'), 'b=AS:64'), /No connection address/],
    [
      'a secure stream without key before a plain one',
      sdp(['m=audio 30000 RTP/AVP 0', 'm=audio 30002 RTP/SAVP 0']),
      /^No usable SRTP key/,
    ],
  ];
  it.each(refusals)('rejects %s with 488 and the reason', (_, offer, warning) => {
    expect(refusalOf(() => answerTo(offer))).toMatchObject({
      sipStatus: 488,
      warning: expect.stringMatching(warning),
    });
  });
});
