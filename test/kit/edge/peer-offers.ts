/** Offers in the styles of the systems that call the edge, each with the expected result. */
import type { SdesAudio } from '../../../edge/media/sdp/session.ts';

const key = 'WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz';
const key2 = 'PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR';
const long = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4v';

interface PeerOffer {
  readonly peer: string;
  readonly offer: string;
  readonly session: Partial<SdesAudio>;
  /** Media lines of our answer. */
  readonly media: readonly string[];
}

export const offers: readonly PeerOffer[] = [
  {
    peer: 'Asterisk PJSIP with media_encryption=sdes',
    offer: `v=0
o=- 1337423 1337423 IN IP4 198.51.100.21
s=Asterisk
c=IN IP4 198.51.100.21
t=0 0
m=audio 17252 RTP/SAVP 0 8 9 107 101
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:9 G722/8000
a=rtpmap:107 opus/48000/2
a=fmtp:107 useinbandfec=1
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-16
a=ptime:20
a=maxptime:60
a=sendrecv
`,
    session: { codec: 'PCMU', dtmf: { payloadType: 101, clockRate: 8000 }, localTag: '1', remoteKey: key },
    media: ['m=audio 10000 RTP/SAVP 0 101'],
  },
  {
    peer: 'Asterisk that holds',
    offer: `v=0
o=- 1337423 1337424 IN IP4 198.51.100.21
s=Asterisk
c=IN IP4 198.51.100.21
t=0 0
m=audio 17252 RTP/SAVP 8 101
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}
a=rtpmap:8 PCMA/8000
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-16
a=ptime:20
a=maxptime:150
a=sendonly
`,
    session: { codec: 'PCMA', direction: 'recvonly', held: true },
    media: ['m=audio 10000 RTP/SAVP 8 101'],
  },
  {
    peer: 'FreeSWITCH with many suites',
    offer: `v=0
o=FreeSWITCH 1700000000 1700000001 IN IP4 198.51.100.30
s=FreeSWITCH
c=IN IP4 198.51.100.30
t=0 0
m=audio 26284 RTP/SAVP 102 9 0 8 103 101 13
a=rtpmap:102 opus/48000/2
a=fmtp:102 useinbandfec=1; maxaveragebitrate=30000; maxplaybackrate=48000; ptime=20; minptime=10; maxptime=40
a=rtpmap:9 G722/8000
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:103 telephone-event/48000
a=fmtp:103 0-16
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-16
a=rtpmap:13 CN/8000
a=rtcp-mux
a=rtcp:26284 IN IP4 198.51.100.30
a=crypto:1 AEAD_AES_256_GCM_8 inline:${long}
a=crypto:2 AEAD_AES_128_GCM_8 inline:${key}
a=crypto:3 AES_256_CM_HMAC_SHA1_80 inline:${long}
a=crypto:4 AES_192_CM_HMAC_SHA1_80 inline:${long}
a=crypto:5 AES_CM_128_HMAC_SHA1_80 inline:${key}
a=crypto:6 AES_256_CM_HMAC_SHA1_32 inline:${long}
a=crypto:7 AES_CM_128_HMAC_SHA1_32 inline:${key2}
a=ptime:20
`,
    session: {
      codec: 'PCMU',
      localTag: '5',
      remoteKey: key,
      dtmf: { payloadType: 101, clockRate: 8000 },
      comfortNoise: 13,
      rtcpMux: false,
    },
    media: ['m=audio 10000 RTP/SAVP 0 101'],
  },
  {
    peer: 'FreeSWITCH that offers plain and secure streams',
    offer: `v=0
o=FreeSWITCH 1700000000 1700000001 IN IP4 198.51.100.30
s=FreeSWITCH
c=IN IP4 198.51.100.30
t=0 0
m=audio 26284 RTP/SAVP 0 8 101
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-15
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}
a=ptime:20
m=audio 26284 RTP/AVP 0 8 101
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-15
a=ptime:20
`,
    session: { codec: 'PCMU', localTag: '1' },
    media: ['m=audio 10000 RTP/SAVP 0 101', 'm=audio 0 RTP/AVP 0 8 101'],
  },
  {
    peer: 'Kamailio with rtpengine',
    offer: `v=0
o=- 8000 8000 IN IP4 198.51.100.40
s=-
t=0 0
a=tool:rtpengine
m=audio 30042 RTP/SAVP 8 0 101
c=IN IP4 198.51.100.40
a=rtpmap:8 PCMA/8000
a=rtpmap:0 PCMU/8000
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-15
a=sendrecv
a=rtcp:30043
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}
a=crypto:2 AES_CM_128_HMAC_SHA1_32 inline:${key2}
a=ptime:20
`,
    session: { codec: 'PCMU', remote: { address: '198.51.100.40', rtpPort: 30042, rtcpPort: 30043 } },
    media: ['m=audio 10000 RTP/SAVP 0 101'],
  },
  {
    peer: 'rtpengine with multiplexed RTCP and feedback',
    offer: `v=0
o=- 8000 8000 IN IP4 198.51.100.40
s=-
t=0 0
m=audio 30042 RTP/SAVPF 96 8 97
c=IN IP4 198.51.100.40
a=mid:1
a=rtpmap:96 opus/48000/2
a=fmtp:96 minptime=10;useinbandfec=1
a=rtpmap:8 PCMA/8000
a=rtpmap:97 telephone-event/48000
a=rtcp-fb:96 transport-cc
a=sendrecv
a=rtcp:30042
a=rtcp-mux
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}
a=ssrc:12345 cname:x
`,
    session: { codec: 'PCMA', profile: 'RTP/SAVPF', dtmf: null },
    media: ['m=audio 10000 RTP/SAVPF 8'],
  },
  {
    peer: 'Cisco CUBE',
    offer: `v=0
o=CiscoSystemsSIP-GW-UserAgent 7141 4471 IN IP4 198.51.100.50
s=SIP Call
c=IN IP4 198.51.100.50
t=0 0
m=audio 16402 RTP/SAVP 0 8 18 101 19
c=IN IP4 198.51.100.50
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:18 G729/8000
a=fmtp:18 annexb=no
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-16
a=rtpmap:19 CN/8000
a=ptime:20
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}
a=crypto:2 AES_CM_128_HMAC_SHA1_32 inline:${key2}
`,
    session: { codec: 'PCMU', comfortNoise: 19, remoteKey: key },
    media: ['m=audio 10000 RTP/SAVP 0 101'],
  },
  {
    peer: 'Cisco Unified CM with the short tag first',
    offer: `v=0
o=CiscoSystemsCCM-SIP 161095 1 IN IP4 198.51.100.51
s=SIP Call
c=IN IP4 198.51.100.52
b=TIAS:64000
b=AS:64
t=0 0
m=audio 24580 RTP/SAVP 114 9 0 8 101
b=TIAS:64000
a=crypto:1 AES_CM_128_HMAC_SHA1_32 inline:${key2}
a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:${key}
a=ptime:20
a=rtpmap:114 opus/48000/2
a=rtpmap:9 G722/8000
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-15
m=video 24582 RTP/SAVP 100
a=rtpmap:100 H264/90000
m=application 24584 UDP/BFCP *
a=floorctrl:c-only
`,
    session: {
      codec: 'PCMU',
      localTag: '2',
      remote: { address: '198.51.100.52', rtpPort: 24580, rtcpPort: 24581 },
    },
    media: ['m=audio 10000 RTP/SAVP 0 101', 'm=video 0 RTP/SAVP 100', 'm=application 0 UDP/BFCP *'],
  },
  {
    peer: 'Microsoft Teams Direct Routing',
    offer: `v=0
o=- 64711 0 IN IP4 52.114.252.10
s=session
c=IN IP4 52.114.252.10
b=CT:10000000
t=0 0
m=audio 49978 RTP/SAVP 104 9 103 111 18 0 8 97 101 13 118
c=IN IP4 52.114.252.10
a=rtcp:49979
a=label:Audio
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}|2^31
a=sendrecv
a=rtpmap:104 SILK/16000
a=rtpmap:9 G722/8000
a=rtpmap:103 SILK/8000
a=rtpmap:111 SIREN/16000
a=fmtp:111 bitrate=16000
a=rtpmap:18 G729/8000
a=fmtp:18 annexb=no
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:97 RED/8000
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-16
a=rtpmap:13 CN/8000
a=rtpmap:118 CN/16000
a=ptime:20
`,
    session: {
      codec: 'PCMU',
      comfortNoise: 13,
      remote: { address: '52.114.252.10', rtpPort: 49978, rtcpPort: 49979 },
    },
    media: ['m=audio 10000 RTP/SAVP 0 101'],
  },
  {
    peer: 'Skype for Business, whose keys with MKI come first',
    offer: `v=0
o=- 0 0 IN IP4 198.51.100.60
s=session
c=IN IP4 198.51.100.60
t=0 0
m=audio 51000 RTP/SAVP 8 101
a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:${key2}|2^31|1:1
a=crypto:3 AES_CM_128_HMAC_SHA1_80 inline:${key}|2^31
a=maxptime:200
a=rtpmap:8 PCMA/8000
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-16
a=encryption:required
`,
    session: { codec: 'PCMA', localTag: '3', remoteKey: key, remoteMki: null },
    media: ['m=audio 10000 RTP/SAVP 8 101'],
  },
  {
    peer: 'baresip with Opus first',
    offer: `v=0
o=- 2733450264 1518220742 IN IP4 198.51.100.70
s=-
c=IN IP4 198.51.100.70
t=0 0
a=tool:baresip 1.0.0
m=audio 20002 RTP/SAVP 96 0 8 101
a=rtpmap:96 opus/48000/2
a=fmtp:96 stereo=1;sprop-stereo=1
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-15
a=rtcp:20003
a=sendrecv
a=label:1
a=rtcp-rsize
a=ssrc:3187391265 cname:sip:bob@198.51.100.70
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}
a=crypto:2 AES_CM_128_HMAC_SHA1_32 inline:${key2}
a=ptime:20
`,
    session: { codec: 'PCMU', localTag: '1' },
    media: ['m=audio 10000 RTP/SAVP 0 101'],
  },
  {
    peer: 'SIPp 3.8',
    offer: `v=0
o=- 53655765 2353687637 IN IP4 127.0.0.1
s=-
c=IN IP4 127.0.0.1
t=0 0
m=audio 30000 RTP/SAVP 0 101
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}
a=rtpmap:0 PCMU/8000
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-15
a=ptime:20
a=sendrecv
`,
    session: { codec: 'PCMU', remote: { address: '127.0.0.1', rtpPort: 30000, rtcpPort: 30001 } },
    media: ['m=audio 10000 RTP/SAVP 0 101'],
  },
  {
    peer: 'a desk phone in the manner of Polycom, with session parameters',
    offer: `v=0
o=- 1700000000 1700000000 IN IP4 10.0.0.23
s=Polycom IP Phone
c=IN IP4 10.0.0.23
b=AS:2064
t=0 0
a=sendrecv
m=audio 2252 RTP/SAVP 9 0 8 18 127
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key2} UNENCRYPTED_SRTCP
a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:${key}|2^31|WSH=64
a=crypto:3 AES_CM_128_HMAC_SHA1_80 inline:${key} WSH=64
a=rtpmap:127 telephone-event/8000
`,
    session: { codec: 'PCMU', localTag: '3', dtmf: { payloadType: 127, clockRate: 8000 } },
    media: ['m=audio 10000 RTP/SAVP 0 127'],
  },
  {
    peer: 'a phone that holds in the manner of RFC 2543',
    offer: `v=0
o=root 5 6 IN IP4 198.51.100.80
s=call
c=IN IP4 0.0.0.0
t=0 0
m=audio 63026 RTP/SAVP 8 101
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}
a=rtpmap:8 pcma/8000
a=rtpmap:101 telephone-event/8000
`,
    session: { codec: 'PCMA', held: true, direction: 'recvonly' },
    media: ['m=audio 10000 RTP/SAVP 8 101'],
  },
  {
    peer: 'an IPv6 PBX',
    offer: `v=0
o=- 20518 0 IN IP6 2001:db8::21
s=-
c=IN IP6 2001:db8::21
t=0 0
m=audio 7078 RTP/SAVP 8
a=crypto:10 AES_CM_128_HMAC_SHA1_80 inline:${key}
`,
    session: {
      codec: 'PCMA',
      localTag: '10',
      remote: { address: '2001:db8::21', rtpPort: 7078, rtcpPort: 7079 },
    },
    media: ['m=audio 10000 RTP/SAVP 8'],
  },
];
