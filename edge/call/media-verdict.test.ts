import { describe, expect, it } from 'vitest';
import {
  type Circumstances,
  type MediaEvidence,
  mediaSummary,
  mediaVerdict,
  type Summed,
} from './media-verdict.ts';

const nothingDropped = { fromElsewhere: 0, undecrypted: 0, unclaimed: 0 };
const good: MediaEvidence = {
  codec: 'PCMU',
  sent: 100,
  received: 100,
  peerHears: 'yes',
  unheard: 0,
  lostInSilence: 0,
  lossSent: 0,
  rtcpPackets: 3,
  dropped: nothingDropped,
  moved: null,
  peerAddress: '198.51.100.7',
  peerIsPrivate: false,
  weArePrivate: false,
  direction: 'sendrecv',
  held: false,
};
const silent: MediaEvidence = { ...good, received: 0, peerHears: 'unknown', lossSent: null, rtcpPackets: 0 };

describe('mediaVerdict', () => {
  const table: [string, MediaEvidence, string, RegExp | null][] = [
    ['both directions', good, 'two_way', null],
    ['no proof', { ...good, peerHears: 'unknown', lossSent: null, rtcpPackets: 0 }, 'two_way', null],
    ['19 % lost on the way', { ...good, lossSent: 19 }, 'two_way', null],
    [
      'reports that do not mention our stream',
      { ...good, peerHears: 'no', lossSent: null },
      'receive_only',
      /RTCP reports do not mention our packets.*firewall or NAT/,
    ],
    [
      'reports whose sequence number is stuck',
      { ...good, peerHears: 'no', unheard: 260 },
      'receive_only',
      /no longer hears us: .* is stuck, and 260 packets sent since did not arrive.*firewall or NAT/,
    ],
    [
      'audio that is lost after the last packet',
      { ...good, lostInSilence: 500 },
      'send_only',
      /lost on the way: .* count 500 packets since the last that arrived\. A firewall or NAT may block only the RTP/,
    ],
    [
      'audio that is lost from the start',
      { ...good, received: 0, lostInSilence: 500 },
      'send_only',
      /lost on the way: .* count 500 packets and none arrived\./,
    ],
    [
      'audio that is lost, and a few strays',
      { ...good, lostInSilence: 500, dropped: { unclaimed: 2, undecrypted: 1, fromElsewhere: 3 } },
      'send_only',
      /lost on the way/,
    ],
    [
      'audio that came with other keys, though the peer counts it',
      { ...good, lostInSilence: 500, dropped: { ...nothingDropped, undecrypted: 500 } },
      'send_only',
      /failed SRTP authentication/,
    ],
    [
      'a stream that moved, though the peer counts it',
      { ...good, lostInSilence: 250, moved: { packets: 200, to: '198.51.100.9:4000' } },
      'send_only',
      /came from 198\.51\.100\.9:4000/,
    ],
    ['a report that overtook its audio', { ...good, lostInSilence: 49 }, 'two_way', null],
    ['a peer that is muted', { ...good, received: 0, lostInSilence: 0 }, 'send_only', /is muted/],
    [
      'both directions stopped',
      { ...good, peerHears: 'no', unheard: 260, lostInSilence: 260 },
      'none',
      /no longer hears us.* Audio from the peer is lost on the way/,
    ],
    [
      'all lost according to the reports',
      { ...good, lossSent: 97 },
      'receive_only',
      /reports by RTCP that it loses 97 %/,
    ],
    [
      'RTCP only, without mention of our stream',
      { ...good, received: 0, peerHears: 'no', lossSent: null },
      'none',
      /do not mention our packets.* RTCP arrives from the peer, but no audio/,
    ],
    ['RTCP only', { ...good, received: 0 }, 'send_only', /RTCP arrives from the peer, but no audio.*muted/],
    [
      'a private address that RTCP comes from',
      { ...good, received: 0, peerAddress: '192.168.1.5', peerIsPrivate: true },
      'send_only',
      /RTCP arrives from the peer, but no audio/,
    ],
    ['nothing negotiated', { ...silent, codec: null, sent: 0 }, 'none', /No media was negotiated/],
    ['nothing received', silent, 'send_only', /firewall/],
    ['nothing either way', { ...silent, sent: 0 }, 'none', /firewall/],
    [
      'a private address',
      { ...silent, peerAddress: '192.168.1.5', peerIsPrivate: true },
      'send_only',
      /private address 192\.168\.1\.5.*NAT/,
    ],
    [
      'a private address like ours',
      { ...silent, peerAddress: '192.168.1.5', peerIsPrivate: true, weArePrivate: true },
      'send_only',
      /^No packet arrived from the peer: a firewall may block the RTP ports, or the peer is muted\.$/,
    ],
    [
      'a private address, and packets from elsewhere',
      {
        ...silent,
        peerAddress: '192.168.1.5',
        peerIsPrivate: true,
        dropped: { ...nothingDropped, fromElsewhere: 9 },
      },
      'send_only',
      /a source other than/,
    ],
    [
      'a stream that moved',
      { ...good, moved: { packets: 250, to: '198.51.100.9:4000' } },
      'send_only',
      /heard until its packets came from 198\.51\.100\.9:4000: 250 packets from there were dropped/,
    ],
    [
      'a stream that moved to an unknown address',
      { ...good, moved: { packets: 250, to: null } },
      'send_only',
      /came from another source/,
    ],
    [
      'a wrong source',
      { ...silent, dropped: { ...nothingDropped, fromElsewhere: 3 } },
      'send_only',
      /3 packets came from a source other than the first/,
    ],
    [
      'wrong keys',
      { ...silent, dropped: { ...nothingDropped, undecrypted: 1, fromElsewhere: 3 } },
      'send_only',
      /1 packet arrived but failed SRTP authentication/,
    ],
    [
      'a codec that was not negotiated',
      { ...silent, dropped: { unclaimed: 7, undecrypted: 1, fromElsewhere: 0 } },
      'send_only',
      /7 packets came from the peer with a codec .*PCMU/,
    ],
    ['a hold', { ...silent, held: true }, 'send_only', /The peer held the call/],
    [
      'a peer that only receives',
      { ...silent, direction: 'sendonly' },
      'send_only',
      /direction was sendonly/,
    ],
    ['a silent agent', { ...good, sent: 0 }, 'receive_only', /the agent produced no audio/],
    ['a hold from the start', { ...good, sent: 0, held: true }, 'receive_only', /held the call, so nothing/],
    ['a peer that only sends', { ...good, sent: 0, direction: 'recvonly' }, 'receive_only', /was recvonly/],
  ];
  it.each(table)('of %s', (_, evidence, verdict, cause) => {
    expect(mediaVerdict(evidence)).toEqual({
      verdict,
      cause: cause === null ? null : expect.stringMatching(cause),
    });
  });

  it('names a cause when a direction is missing, and only then', () => {
    const values = {
      sent: [0, 9],
      received: [0, 9],
      peerHears: ['yes', 'no', 'unknown'],
      unheard: [0, 300],
      lostInSilence: [0, 300],
      lossSent: [null, 0, 100],
      rtcpPackets: [0, 1],
      held: [false, true],
      direction: ['sendrecv', 'sendonly', 'recvonly', 'inactive'],
      moved: [null, { packets: 60, to: null }],
      peerIsPrivate: [false, true],
    } as const;
    let cases: MediaEvidence[] = [good];
    for (const [field, options] of Object.entries(values)) {
      cases = cases.flatMap((evidence) => options.map((value) => ({ ...evidence, [field]: value })));
    }
    const wrong = cases.filter((evidence) => {
      const { verdict, cause } = mediaVerdict(evidence);
      return (verdict === 'two_way') !== (cause === null) || (cause !== null && !/^[A-Z].*\.$/.test(cause));
    });
    expect(wrong).toEqual([]);
  });
});

describe('mediaSummary', () => {
  const unreported: Summed = {
    packets_sent: 50,
    packets_received: 48,
    packets_lost: 0,
    verdict: 'two_way',
    cause: null,
    peer_hears: 'yes',
    rtcp_packets_received: 2,
    packets_from_elsewhere: 0,
  };
  const summed: Summed = { ...unreported, peer_loss_percent: 0 };
  const unknown = { ...summed, peer_hears: 'unknown' } as const;
  const table: [string, Summed, string, Partial<Circumstances>?][] = [
    [
      'a report from the peer',
      summed,
      'Two-way audio: 50 packets sent, 48 received, PCMU, the peer reports by RTCP that it receives ours.',
    ],
    [
      'our tone',
      { ...unknown, rtcp_packets_received: 0 },
      'Two-way audio: 50 packets sent, 48 received, PCMU, our tone came back, the keys 12 came in.',
      { echo: true, more: ['the keys 12 came in'] },
    ],
    [
      'nothing',
      { ...unknown, rtcp_packets_received: 0 },
      'Audio from the peer; no proof that it receives ours: 50 packets sent, 48 received, PCMU, no RTCP from the peer.',
    ],
    [
      'RTCP that came too early',
      unknown,
      'Audio from the peer; no proof that it receives ours: 50 packets sent, 48 received, PCMU, no RTCP report about ours yet.',
    ],
    [
      'losses and packets from elsewhere',
      { ...summed, peer_loss_percent: 19, packets_lost: 12, packets_from_elsewhere: 7 },
      'Two-way audio: 50 packets sent, 48 received, PCMU, the peer reports by RTCP that it receives ours, 19 % outbound loss, 20 % inbound loss, 7 packets from other sources dropped.',
    ],
    [
      'losses copied by our echo',
      { ...summed, peer_loss_percent: 19, packets_lost: 12 },
      'Two-way audio: 50 packets sent, 48 received, PCMU, our tone came back, 19 % outbound loss.',
      { echo: true },
    ],
    [
      'losses in either direction of our echo',
      { ...unreported, packets_lost: 12 },
      'Two-way audio: 50 packets sent, 48 received, PCMU, our tone came back, 20 % lost outbound or inbound.',
      { echo: true },
    ],
    [
      'one direction',
      { ...summed, verdict: 'send_only', cause: 'The peer held the call.' },
      'No audio from the peer. The peer held the call.',
    ],
  ];
  it.each(table)('describes %s', (_, facts, sentence, more = {}) => {
    expect(mediaSummary(facts, { codec: 'PCMU', ...more })).toBe(sentence);
  });
});
