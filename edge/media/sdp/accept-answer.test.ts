/** Offers of ours, and the answers to them. */
import { describe, expect, it } from 'vitest';
import {
  answerTo,
  audio,
  cryptoLine,
  event8,
  local,
  ourKey,
  peerKey,
  refusalOf,
  sdp,
  secondKey,
  suite,
} from '../../../test/kit/edge/descriptions.ts';
import { acceptAnswer, createOffer } from './negotiate.ts';

describe('createOffer and acceptAnswer', () => {
  const offer = createOffer({ ...local, codecs: ['PCMU', 'PCMA', 'Opus', 'G.722', 'G.729'] });

  it('offers every codec, one key, and events at each clock rate', () => {
    expect(offer).toBe(
      [
        'v=0',
        'o=trunkline 42 1 IN IP4 203.0.113.10',
        's=trunkline',
        'c=IN IP4 203.0.113.10',
        't=0 0',
        'm=audio 10000 RTP/SAVP 0 8 111 9 18 101 110',
        `a=crypto:1 ${suite} inline:${ourKey}`,
        'a=rtpmap:0 PCMU/8000',
        'a=rtpmap:8 PCMA/8000',
        'a=rtpmap:111 opus/48000/2',
        'a=fmtp:111 maxplaybackrate=16000;sprop-maxcapturerate=16000;stereo=0;useinbandfec=1',
        'a=rtpmap:9 G722/8000',
        'a=rtpmap:18 G729/8000',
        'a=fmtp:18 annexb=no',
        'a=rtpmap:101 telephone-event/8000',
        'a=fmtp:101 0-15',
        'a=rtpmap:110 telephone-event/48000',
        'a=fmtp:110 0-15',
        'a=ptime:20',
        'a=sendrecv',
        '',
      ].join('\r\n'),
    );
  });

  it('offers only the codecs that the caller passes', () => {
    const modest = createOffer({ ...local, codecs: ['PCMA'] });
    expect(modest).toContain('m=audio 10000 RTP/SAVP 8 101\r\n');
    expect(modest).not.toContain('48000');
  });

  it('offers key presses at 8000 Hz beside Opus alone, after those at its own clock', () => {
    const opusOnly = createOffer({ ...local, codecs: ['Opus'] });
    expect(opusOnly).toContain('m=audio 10000 RTP/SAVP 111 110 101\r\n');
    expect(opusOnly).toContain('a=rtpmap:110 telephone-event/48000\r\n');
    expect(opusOnly).toContain('a=rtpmap:101 telephone-event/8000\r\na=fmtp:101 0-15\r\n');
    const slow = audio('111 101', ['a=rtpmap:111 opus/48000/2', ...event8]);
    expect(acceptAnswer(opusOnly, sdp(slow)).dtmf).toEqual({ payloadType: 101, clockRate: 8000 });
    const both = audio('111 101 110', [
      'a=rtpmap:111 opus/48000/2',
      ...event8,
      'a=rtpmap:110 telephone-event/48000',
    ]);
    expect(acceptAnswer(opusOnly, sdp(both)).dtmf).toEqual({ payloadType: 110, clockRate: 48000 });
  });

  const accepted: [string, string[], object][] = [
    [
      'one codec',
      audio('8 101', event8),
      { codec: 'PCMA', dtmf: { payloadType: 101, clockRate: 8000 }, held: false },
    ],
    ['several codecs, by their order', audio('9 0'), { codec: 'G.722' }],
    [
      'Opus',
      audio('111 110', ['a=rtpmap:111 opus/48000/2', 'a=rtpmap:110 telephone-event/48000']),
      { codec: 'Opus', payloadType: 111, dtmf: { payloadType: 110, clockRate: 48000 } },
    ],
    ['a hold', audio('0', ['a=sendonly']), { direction: 'recvonly', held: true }],
    ['a listener', audio('0', ['a=recvonly']), { direction: 'sendonly', held: false }],
    ['a hold of old style', ['m=audio 30000 RTP/SAVP 0', 'c=IN IP4 0.0.0.0', cryptoLine], { held: true }],
    ['more media lines than offered', [...audio('0'), 'm=video 0 RTP/SAVP 98'], { codec: 'PCMU' }],
    [
      'an unasked rtcp-mux, which is ignored',
      audio('0', ['a=rtcp-mux']),
      { rtcpMux: false, remote: { address: '198.51.100.7', rtpPort: 30000, rtcpPort: 30001 } },
    ],
  ];
  it.each(accepted)('accepts an answer with %s', (_, media, expected) => {
    expect(acceptAnswer(offer, sdp(media))).toMatchObject(expected);
  });

  const refused: [string, string, RegExp][] = [
    ['a rejected stream', sdp(['m=audio 0 RTP/SAVP 0']), /disabled/],
    ['no media line', sdp([]), /No audio stream/],
    ['a codec that we did not offer', sdp(audio('3')), /no codec of the offer/],
    ['plain RTP', sdp(['m=audio 30000 RTP/AVP 0']), /SRTP required/],
    ['no key', sdp(['m=audio 30000 RTP/SAVP 0']), /no a=crypto line/],
    ['video in our place', sdp(['m=video 30000 RTP/SAVP 98', cryptoLine]), /No audio stream/],
  ];
  it.each(refused)('says in a field whether %s is a lack of codecs', (what, answer, words) => {
    const kind = what === 'a codec that we did not offer' ? 'no_codec' : 'unusable';
    expect(refusalOf(() => acceptAnswer(offer, answer)).mediaFault).toEqual({
      kind,
      text: expect.stringMatching(words),
    });
  });
  const keyed = (lines: readonly string[]) => sdp(['m=audio 30000 RTP/SAVP 0', ...lines]);
  const line = (tag: string, name = suite, key = peerKey) => `a=crypto:${tag} ${name} inline:${key}`;
  const wrongKeys: [string, readonly string[], RegExp][] = [
    ['a tag that was not offered', [line('2')], /the tag "2", the offer had the tag 1$/],
    ['a tag that is no number', [line('one')], /the tag "one", the offer had the tag 1$/],
    ['two lines', [line('1'), line('2', suite, secondKey)], /has 2 a=crypto lines/],
    ['two lines with one tag', [line('1'), line('1', suite, secondKey)], /has 2 a=crypto lines/],
    ['two lines, the first unusable', [line('3', 'NULL'), line('1')], /has 2 a=crypto lines/],
    [
      'another suite under our tag',
      [line('1', 'AES_CM_128_HMAC_SHA1_32')],
      /suite "AES_CM_128_HMAC_SHA1_32" under the tag 1, for which AES_CM_128_HMAC_SHA1_80/,
    ],
    ['our own key', [line('1', suite, ourKey)], /repeats the SRTP key of our offer/],
    [
      'our own key with an MKI',
      [`${line('1', suite, ourKey)}|2^31|1:1`],
      /repeats the SRTP key of our offer/,
    ],
  ];
  it.each(wrongKeys)('rejects an answer with %s (RFC 4568 section 5.1.3)', (_, lines, warning) => {
    const refused = refusalOf(() => acceptAnswer(offer, keyed(lines)));
    expect(refused).toMatchObject({ sipStatus: 488, warning: expect.stringMatching(warning) });
    expect(refused.warning).not.toContain('inline');
    for (const key of [ourKey, peerKey, secondKey]) expect(refused.warning).not.toContain(key);
  });

  it('accepts the tag of our offer in another spelling, and the suite in lower case', () => {
    expect(acceptAnswer(offer, keyed([line('01', suite.toLowerCase())]))).toMatchObject({
      remoteKey: peerKey,
    });
  });

  it('uses the current tag in a later offer', () => {
    const { answer, session } = answerTo(sdp(['m=audio 30000 RTP/SAVP 0', line('7')]));
    const later = createOffer({ ...local, previous: answer, current: session });
    expect(acceptAnswer(later, keyed([line('7')]))).toMatchObject({ remoteKey: peerKey });
    expect(refusalOf(() => acceptAnswer(later, keyed([line('1')]))).warning).toMatch(/had the tag 7$/);
  });

  it('rejects an offer that has our own key', () => {
    const offered = sdp(['m=audio 30000 RTP/SAVP 0', line('1', suite, ourKey)]);
    expect(refusalOf(() => answerTo(offered))).toMatchObject({
      sipStatus: 488,
      warning: 'The offer has our own SRTP key',
    });
  });

  it.each(refused)('rejects an answer with %s', (_, answer, warning) => {
    expect(refusalOf(() => acceptAnswer(offer, answer))).toMatchObject({
      sipStatus: 488,
      warning: expect.stringMatching(warning),
    });
  });

  it('does not report a hold when we requested inactivity ourselves', () => {
    const inactive = createOffer({ ...local, direction: 'inactive' });
    expect(acceptAnswer(inactive, sdp(audio('0', ['a=inactive'])))).toMatchObject({
      direction: 'inactive',
      held: false,
    });
  });

  it('makes an answer that it accepts itself', () => {
    const answered = answerTo(offer, { cryptoKey: peerKey, sessionId: '7', address: '198.51.100.7' });
    const caller = acceptAnswer(offer, answered.answer);
    expect(caller).toMatchObject({ codec: 'PCMU', remoteKey: peerKey, localTag: '1' });
    expect(answered.session).toMatchObject({ codec: 'PCMU', remoteKey: ourKey, localTag: '1' });
  });
});
