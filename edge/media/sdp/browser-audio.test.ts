/** Offers of browsers and the answers to them, and the other way round. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BrowserOffer,
  browserOffer,
  local,
  ourFingerprint,
  peerFingerprint,
  type RequiredLine,
  required,
} from '../../../test/kit/edge/browser-descriptions.ts';
import {
  answerTo as answerSip,
  audio,
  local as localSip,
  refusalOf,
  sdp,
} from '../../../test/kit/edge/descriptions.ts';
import { CallRefused } from '../../call/refused.ts';
import { acceptAnswer, createOffer, negotiateAnswer } from './negotiate.ts';
import { parseSdp } from './sdp.ts';
import type { BrowserAudio, LocalBrowser, NegotiatedAudio } from './session.ts';

function answerTo(offer: string, changes: Partial<LocalBrowser> = {}) {
  return negotiateAnswer(parseSdp(offer), { ...local, ...changes });
}

function ofBrowser(session: NegotiatedAudio): BrowserAudio {
  if (session.keying !== 'dtls') throw new Error('not with a browser');
  return session;
}

const opusFirst = { codecs: ['Opus', 'PCMU'] } as const;

describe('the answer to a browser', () => {
  it('is ICE-lite and passive, on one port, with one candidate and without what was not asked for', () => {
    const { answer, session } = answerTo(browserOffer(), opusFirst);
    expect(answer).toBe(
      [
        'v=0',
        'o=trunkline 42 1 IN IP4 203.0.113.10',
        's=trunkline',
        'c=IN IP4 203.0.113.10',
        't=0 0',
        'a=ice-lite',
        'a=group:BUNDLE 0',
        'm=audio 10000 UDP/TLS/RTP/SAVPF 111 110',
        'a=mid:0',
        'a=ice-ufrag:ourufrag',
        'a=ice-pwd:ourpasswordourpasswordour',
        `a=fingerprint:sha-256 ${ourFingerprint}`,
        'a=setup:passive',
        'a=rtpmap:111 opus/48000/2',
        'a=fmtp:111 maxplaybackrate=16000;sprop-maxcapturerate=16000;stereo=0;useinbandfec=1',
        'a=rtpmap:110 telephone-event/48000',
        'a=fmtp:110 0-15',
        'a=ptime:20',
        'a=sendrecv',
        'a=rtcp-mux',
        'a=candidate:1 1 udp 2130706431 203.0.113.10 10000 typ host',
        'a=end-of-candidates',
        '',
      ].join('\r\n'),
    );
    expect(session).toEqual({
      keying: 'dtls',
      codec: 'Opus',
      payloadType: 111,
      clockRate: 48_000,
      channels: 2,
      ptime: 20,
      remotePtime: 20,
      fmtp: 'minptime=10;useinbandfec=1',
      dtmf: { payloadType: 110, clockRate: 48_000 },
      comfortNoise: null,
      direction: 'sendrecv',
      held: false,
      rtcpMux: true,
      ice: { ufrag: 'xyz1', pwd: 'abcdefghijklmnopqrstuv' },
      fingerprint: { algorithm: 'sha-256', value: peerFingerprint },
      dtlsRole: 'client',
      mid: '0',
      profile: 'UDP/TLS/RTP/SAVPF',
    });
  });

  const g711: [string, LocalBrowser['codecs'], string, object][] = [
    ['PCMU', ['PCMU'], '0 126', { codec: 'PCMU', dtmf: { payloadType: 126, clockRate: 8000 } }],
    ['PCMA', ['PCMA'], '8 126', { codec: 'PCMA', dtmf: { payloadType: 126, clockRate: 8000 } }],
  ];
  it.each(g711)('has %s with the key presses of its own clock', (_, codecs, formats, expected) => {
    const { answer, session } = answerTo(browserOffer(), { codecs });
    expect(session).toMatchObject(expected);
    expect(answer).toContain(`m=audio 10000 UDP/TLS/RTP/SAVPF ${formats}\r\n`);
  });

  it('has the key presses at 8000 Hz beside Opus when the browser has no other ones, as Firefox', () => {
    const { session } = answerTo(browserOffer({ formats: '111 126' }), opusFirst);
    expect(session.dtmf).toEqual({ payloadType: 126, clockRate: 8000 });
  });

  const accepted: [string, BrowserOffer, Partial<BrowserAudio>, string[]][] = [
    ['setup:active', { lines: { setup: 'a=setup:active' } }, { dtlsRole: 'client' }, ['a=setup:passive']],
    ['setup:passive', { lines: { setup: 'a=setup:passive' } }, { dtlsRole: 'server' }, ['a=setup:active']],
    [
      'a stream that is not bundled, and has no name',
      { session: [], lines: { mid: null } },
      { mid: null },
      ['a=setup:passive'],
    ],
    ['a name but no bundle', { session: [] }, { mid: '0' }, ['a=mid:0']],
    [
      'keys above the media section',
      {
        session: [
          'a=group:BUNDLE 0',
          required.fingerprint,
          required.setup,
          required['ice-ufrag'],
          required['ice-pwd'],
        ],
        lines: { fingerprint: null, setup: null, 'ice-ufrag': null, 'ice-pwd': null },
      },
      { dtlsRole: 'client' },
      ['a=setup:passive'],
    ],
    [
      'a fingerprint in lower case, after one with SHA-1',
      {
        lines: {
          fingerprint: `a=fingerprint:sha-1 ${'AB:'.repeat(19)}AB\r\na=fingerprint:SHA-256 ${peerFingerprint.toLowerCase()}`,
        },
      },
      { fingerprint: { algorithm: 'sha-256', value: peerFingerprint } },
      [],
    ],
    ['a listener', { direction: 'recvonly' }, { direction: 'sendonly', held: false }, ['a=sendonly']],
    ['a hold', { direction: 'sendonly' }, { direction: 'recvonly', held: true }, ['a=recvonly']],
    ['the profile without feedback', { profile: 'UDP/TLS/RTP/SAVP' }, { profile: 'UDP/TLS/RTP/SAVP' }, []],
  ];
  it.each(accepted)('accepts %s', (_, offer, expected, lines) => {
    const { answer, session } = answerTo(browserOffer(offer));
    expect(session).toMatchObject(expected);
    expect(answer.split('\r\n')).toEqual(expect.arrayContaining(lines));
    expect(answer.includes('a=group:')).toBe(offer.session?.length !== 0);
  });

  it('rejects every other stream, which keeps its name and leaves the bundle', () => {
    const more = [
      'm=video 9 UDP/TLS/RTP/SAVPF 96',
      'a=mid:1',
      'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
      'a=mid:2',
    ];
    const { answer } = answerTo(browserOffer({ session: ['a=group:BUNDLE 0 1 2'], more }));
    expect(answer).toContain('a=group:BUNDLE 0\r\n');
    expect(answer).toContain('m=video 0 UDP/TLS/RTP/SAVPF 96\r\na=mid:1\r\n');
    expect(answer).toContain('m=application 0 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:2\r\n');
  });

  it('is no hold because of the address 0.0.0.0, which stands for one that ICE finds', () => {
    expect(answerTo(browserOffer()).session).toMatchObject({ held: false, direction: 'sendrecv' });
  });
});

describe('an offer that lacks something', () => {
  const withLine = (name: RequiredLine, line: string | null): BrowserOffer => ({ lines: { [name]: line } });
  const refused: [string, BrowserOffer, RegExp][] = [
    ['rtcp-mux', withLine('rtcp-mux', null), /a=rtcp-mux required/],
    ['a ufrag', withLine('ice-ufrag', null), /No usable a=ice-ufrag and a=ice-pwd/],
    ['a password', withLine('ice-pwd', null), /No usable a=ice-ufrag and a=ice-pwd/],
    ['a fingerprint', withLine('fingerprint', null), /No usable a=fingerprint: sha-256/],
    ['a role', withLine('setup', null), /a=setup must be actpass or active or passive/],
    ['a name in a bundle', withLine('mid', null), /No usable a=mid/],
    ['a usable ufrag', withLine('ice-ufrag', 'a=ice-ufrag:abc'), /a=ice-ufrag/],
    ['a usable password', withLine('ice-pwd', 'a=ice-pwd:tooshort'), /a=ice-pwd/],
    ['a password of bounded length', withLine('ice-pwd', `a=ice-pwd:${'x'.repeat(257)}`), /a=ice-pwd/],
    [
      'a hash that is safe',
      withLine('fingerprint', `a=fingerprint:sha-1 ${'AB:'.repeat(19)}AB`),
      /a=fingerprint/,
    ],
    [
      'a whole fingerprint',
      withLine('fingerprint', `a=fingerprint:sha-256 ${peerFingerprint.slice(3)}`),
      /a=fingerprint/,
    ],
    ['a role that begins', withLine('setup', 'a=setup:holdconn'), /a=setup must be/],
    ['a name of bounded length', withLine('mid', `a=mid:${'m'.repeat(33)}`), /No usable a=mid/],
    ['a side with full ICE', { session: ['a=group:BUNDLE 0', 'a=ice-lite'] }, /ICE-lite on both sides/],
    ['a common codec', { formats: '63 9 110' }, /No common codec: this number accepts PCMU, PCMA, Opus/],
    ['DTLS', { profile: 'RTP/SAVPF' }, /WebRTC required from a browser: offer UDP\/TLS\/RTP\/SAVPF/],
    ['encryption', { profile: 'RTP/AVPF' }, /WebRTC required from a browser/],
  ];
  it.each(refused)('is refused without %s, with a Warning that says so', (_, offer, warning) => {
    expect(refusalOf(() => answerTo(browserOffer(offer)))).toMatchObject({
      sipStatus: 488,
      warning: expect.stringMatching(warning),
      mediaFault: { kind: 'unusable' },
    });
  });

  it('is refused when a browser offers SDES, and when a trunk offers WebRTC', () => {
    expect(refusalOf(() => answerTo(sdp(audio('0')))).warning).toMatch(/^WebRTC required from a browser/);
    expect(refusalOf(() => answerSip(browserOffer())).warning).toMatch(
      /^DTLS-SRTP not supported: offer RTP\/SAVP/,
    );
    expect(refusalOf(() => acceptAnswer(createOffer(localSip), browserOffer())).warning).toMatch(
      /^DTLS-SRTP not supported/,
    );
    expect(refusalOf(() => acceptAnswer(createOffer(local), sdp(audio('0')))).warning).toMatch(
      /^WebRTC required/,
    );
  });
});

describe('a later offer of the browser', () => {
  const first = ofBrowser(answerTo(browserOffer(), opusFirst).session);
  const later = (offer: BrowserOffer, current = first) =>
    answerTo(browserOffer(offer), { codecs: ['PCMU', 'Opus'], current });

  it('keeps the codec, also when our order has another one first', () => {
    expect(later({}).session).toMatchObject({ codec: 'Opus', payloadType: 111 });
  });

  it('has other ICE credentials in an ICE restart', () => {
    const { session } = later({ lines: { 'ice-ufrag': 'a=ice-ufrag:abcd' } });
    expect(ofBrowser(session).ice).toEqual({ ufrag: 'abcd', pwd: first.ice.pwd });
  });

  it('keeps the role of the association when it leaves the choice to us', () => {
    const passive = ofBrowser(
      answerTo(browserOffer({ lines: { setup: 'a=setup:passive' } }), opusFirst).session,
    );
    const { answer, session } = later({}, passive);
    expect(ofBrowser(session).dtlsRole).toBe('server');
    expect(answer).toContain('a=setup:active\r\n');
  });

  it('may change everything with a new certificate', () => {
    const fingerprint = `a=fingerprint:sha-256 ${'CD:'.repeat(31)}CD`;
    const { session } = later({ lines: { fingerprint, setup: 'a=setup:passive' }, formats: '0 126' });
    expect(session).toMatchObject({ codec: 'PCMU', dtlsRole: 'server' });
  });

  const unchangeable: [string, BrowserOffer, RegExp][] = [
    ['codec', { formats: '0 126' }, /^Codec and payload types cannot change/],
    ['key presses', { formats: '111 126' }, /^Codec and payload types cannot change/],
    ['role', { lines: { setup: 'a=setup:passive' } }, /^The DTLS role cannot change/],
  ];
  it.each(unchangeable)('is refused with another %s under the same certificate', (_, offer, warning) => {
    expect(refusalOf(() => later(offer))).toMatchObject({
      sipStatus: 488,
      warning: expect.stringMatching(warning),
    });
  });
});

describe('an offer of ours to a browser', () => {
  it('leaves the role to the browser, and is accepted with the role that it takes', () => {
    const offer = createOffer({ ...local, ...opusFirst });
    expect(offer).toContain(
      'a=ice-lite\r\na=group:BUNDLE 0\r\nm=audio 10000 UDP/TLS/RTP/SAVPF 111 0 110 101\r\n',
    );
    expect(offer).toContain('a=setup:actpass\r\n');
    const answer = browserOffer({ lines: { setup: 'a=setup:active' }, formats: '111 110' });
    expect(acceptAnswer(offer, answer)).toMatchObject({ codec: 'Opus', dtlsRole: 'client', mid: '0' });
    expect(refusalOf(() => acceptAnswer(offer, browserOffer())).warning).toMatch(
      /a=setup must be active or passive/,
    );
  });

  it('repeats what was agreed, with our hold, under the same name', () => {
    const { answer, session } = answerTo(
      browserOffer({ lines: { mid: 'a=mid:audio' }, session: ['a=group:BUNDLE audio'] }),
    );
    const offer = createOffer({ ...local, previous: answer, current: session, direction: 'sendonly' });
    expect(offer).toContain('m=audio 10000 UDP/TLS/RTP/SAVPF 0 126\r\na=mid:audio\r\n');
    expect(offer).toContain('a=sendonly\r\n');
    expect(offer).toContain('a=group:BUNDLE audio\r\n');
    expect(offer).toContain('o=trunkline 42 2 IN');
  });
});

it('answers or refuses every mutilated offer of a browser, with what its answer needs', () => {
  const original = browserOffer({
    session: ['a=group:BUNDLE 0 1'],
    more: ['m=video 9 UDP/TLS/RTP/SAVPF 96', 'a=mid:1'],
  });
  const edit = fc.record({
    kind: fc.constantFrom('drop', 'double', 'cut', 'swap'),
    at: fc.nat(60),
    to: fc.nat(60),
  });
  let answered = 0;
  let refused = 0;
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
      const lines = original.split('\r\n');
      for (const { kind, at, to } of edits) {
        const index = at % Math.max(1, lines.length);
        const line = lines[index] ?? '';
        if (kind === 'drop') lines.splice(index, 1);
        else if (kind === 'double') lines.splice(index, 0, line);
        else if (kind === 'cut') lines[index] = line.slice(0, to % (line.length + 1));
        else lines[index] = Array.from(line, (c, i) => (i === to ? '?' : c)).join('');
      }
      try {
        const offer = parseSdp(lines.join('\r\n'));
        const { answer, session } = negotiateAnswer(offer, local);
        expect(parseSdp(answer).media.map(({ media }) => media)).toEqual(
          offer.media.map(({ media }) => media),
        );
        expect(ofBrowser(session).fingerprint.value).toHaveLength(95);
        answered++;
      } catch (error) {
        if (!(error instanceof CallRefused)) throw error;
        refused++;
      }
    }),
    { numRuns: 300, seed: 7 },
  );
  expect(answered).toBeGreaterThan(50);
  expect(refused).toBeGreaterThan(20);
});
