/** Session descriptions of browsers. */
import type { LocalBrowser } from '../../../edge/media/sdp/session.ts';

const octets = (count: number, of: string) => Array.from({ length: count }, () => of).join(':');

export const peerFingerprint = octets(32, 'AB');
export const ourFingerprint = octets(32, '01');

export const local: LocalBrowser = {
  address: '203.0.113.10',
  rtpPort: 10_000,
  codecs: ['PCMU', 'PCMA', 'Opus'],
  ice: { ufrag: 'ourufrag', pwd: 'ourpasswordourpasswordour' },
  fingerprint: { algorithm: 'sha-256', value: ourFingerprint },
  sessionId: '42',
  previous: null,
};

/** The lines of a browser's offer that make its audio usable, by name. */
export const required = {
  'ice-ufrag': 'a=ice-ufrag:xyz1',
  'ice-pwd': 'a=ice-pwd:abcdefghijklmnopqrstuv',
  fingerprint: `a=fingerprint:sha-256 ${peerFingerprint}`,
  setup: 'a=setup:actpass',
  mid: 'a=mid:0',
  'rtcp-mux': 'a=rtcp-mux',
} as const;

export type RequiredLine = keyof typeof required;

/** Chromium's formats. */
const formats = '111 63 9 0 8 13 110 126';
const maps = [
  'a=rtpmap:111 opus/48000/2',
  'a=rtcp-fb:111 transport-cc',
  'a=fmtp:111 minptime=10;useinbandfec=1',
  'a=rtpmap:63 red/48000/2',
  'a=fmtp:63 111/111',
  'a=rtpmap:9 G722/8000',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:8 PCMA/8000',
  'a=rtpmap:13 CN/8000',
  'a=rtpmap:110 telephone-event/48000',
  'a=rtpmap:126 telephone-event/8000',
];

export interface BrowserOffer {
  /** Lines in the place of the required ones; null: left out. */
  readonly lines?: Partial<Record<RequiredLine, string | null>>;
  readonly session?: readonly string[];
  readonly profile?: string;
  readonly formats?: string;
  readonly direction?: string;
  /** Media sections after the audio. */
  readonly more?: readonly string[];
}

/** An offer in Chromium's manner. */
export function browserOffer({
  lines = {},
  session = ['a=group:BUNDLE 0'],
  ...rest
}: BrowserOffer = {}): string {
  const wanted = { ...required, ...lines };
  return [
    'v=0',
    'o=- 4611731400430051336 2 IN IP4 127.0.0.1',
    's=-',
    't=0 0',
    ...session,
    'a=extmap-allow-mixed',
    'a=msid-semantic: WMS',
    `m=audio 9 ${rest.profile ?? 'UDP/TLS/RTP/SAVPF'} ${rest.formats ?? formats}`,
    'c=IN IP4 0.0.0.0',
    'a=rtcp:9 IN IP4 0.0.0.0',
    'a=candidate:1 1 udp 2113937151 6a8d0f2e.local 54400 typ host generation 0',
    'a=ice-options:trickle',
    ...Object.values(wanted).filter((line) => line !== null),
    'a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level',
    `a=${rest.direction ?? 'sendrecv'}`,
    ...maps,
    'a=ssrc:3570614608 cname:4TOk42mSjXCkVIa6',
    ...(rest.more ?? []),
    '',
  ].join('\r\n');
}
