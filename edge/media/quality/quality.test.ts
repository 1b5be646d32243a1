import { describe, expect, it } from 'vitest';
import { carry } from '../rtp/emulated-network.ts';
import { PeerHearing } from './peer-hearing.ts';
import { Reception } from './reception.ts';
import { type CallMedia, isPrivateAddress, mediaReport } from './report.ts';

function received(sequences: readonly number[], ssrc = 1): Reception {
  const reception = new Reception(8000);
  for (const sequence of sequences) reception.push(ssrc, sequence, sequence * 160, sequence * 20);
  return reception;
}

describe('Reception', () => {
  const losses: [string, number[], number, number][] = [
    ['nothing missing', [1, 2, 3, 4], 4, 0],
    ['one missing', [1, 2, 4], 4, 1],
    ['reordering', [1, 3, 2, 4], 4, 0],
    ['a packet overtaken at the start', [2, 1, 3], 3, 0],
    ['a duplicate that hides a loss', [1, 2, 2, 4], 4, 0],
    ['more duplicates than losses', [1, 1, 1, 2], 2, 0],
    ['the rollover', [65534, 65535, 1, 2], 5, 1],
  ];
  it.each(losses)('counts %s', (_, sequences, expected, lost) => {
    const reception = received(sequences);
    expect(reception).toMatchObject({ expected, lost, received: sequences.length });
  });

  it('reports nothing before the first packet', () => {
    expect(new Reception(8000)).toMatchObject({ expected: 0, lost: 0, received: 0, jitterMs: null });
  });

  it('accumulates across a change of SSRC and a jump of the sequence', () => {
    const reception = received([1, 2, 4]);
    reception.push(2, 40_000, 0, 100);
    reception.push(2, 40_002, 320, 140);
    reception.push(2, 10_000, 480, 160);
    expect(reception).toMatchObject({ expected: 4 + 3 + 1, lost: 2, received: 6 });
  });

  it('measures jitter according to RFC 3550 A.8', () => {
    const reception = new Reception(8000);
    // Every second packet is 8 ms late: |D| = 64 ticks each time, so J approaches 64 ticks.
    for (let i = 0; i < 400; i++) reception.push(1, i, i * 160, i * 20 + (i % 2) * 8);
    expect(reception.jitterMs).toBeCloseTo(8, 6);
  });

  it('measures no jitter on a steady path, across the rollover of the timestamp', () => {
    const reception = new Reception(8000);
    for (let i = 0; i < 100; i++) reception.push(1, i, (2 ** 32 - 8000 + i * 160) >>> 0, 5_000_000 + i * 20);
    expect(reception.jitterMs).toBe(0);
  });

  it('excludes event packets from the jitter', () => {
    const reception = new Reception(8000);
    for (let i = 0; i < 10; i++) reception.push(1, i, i * 160, i * 20);
    for (let i = 10; i < 20; i++) reception.push(1, i, 1600, i * 20, false);
    expect(reception.jitterMs).toBe(0);
    expect(reception.lost).toBe(0);
  });

  it('finds the loss of an emulated path', () => {
    const sent = Array.from({ length: 2000 }, (_, i) => ({ atMs: i * 20, packet: i }));
    const arrivals = carry(sent, { seed: 8, loss: 0.05, jitterMs: 50 });
    const reception = new Reception(8000);
    for (const { atMs, packet } of arrivals) reception.push(1, packet, packet * 160, atMs);
    expect(reception.expected - reception.received).toBe(reception.lost);
    expect(reception.lost / reception.expected).toBeCloseTo(0.05, 1);
    // Two independent uniform distributions over 50 ms differ by 50/3 ms on average.
    expect(reception.jitterMs).toBeGreaterThan(12);
    expect(reception.jitterMs).toBeLessThan(22);
  });
});

describe('mediaReport', () => {
  const call: CallMedia = {
    codec: 'PCMU',
    packetsSent: 100,
    reception: received([1, 2, 3, 4]),
    packetsLate: 0,
    roundTripMs: 24.04,
    peerHears: 'yes',
    unheard: 0,
    lostByReports: 0,
    lostInSilence: 0,
    peerLoss: 0,
    meanPeerLoss: 0,
    rtcpPackets: 3,
    playoutDelayMs: 40,
    peerAddress: '198.51.100.7',
    ourAddress: '198.51.100.1',
    dropped: { fromElsewhere: 0, undecrypted: 0, unclaimed: 0 },
    fromElsewhere: 0,
    moved: null,
    direction: 'sendrecv',
    held: false,
    keys: true,
  };

  it('reports a good call', () => {
    expect(mediaReport(call)).toEqual({
      packets_sent: 100,
      packets_received: 4,
      packets_lost: 0,
      jitter_ms: 0,
      round_trip_ms: 24,
      peer_loss_percent: 0,
      rtcp_packets_received: 3,
      peer_hears: 'yes',
      packets_from_elsewhere: 0,
      mos: 4.41,
      mos_received: 4.41,
      mos_sent: 4.41,
      verdict: 'two_way',
      cause: null,
      summary:
        'Two-way audio: 100 packets sent, 4 received, PCMU, the peer reports by RTCP that it receives ours.',
      keys: 'telephone-event',
    });
  });

  it('counts late packets as lost for the listener', () => {
    expect(mediaReport({ ...call, packetsLate: 1 }).mos).toBeLessThan(3);
    expect(mediaReport({ ...call, packetsLate: 1 }).packets_lost).toBe(0);
  });

  it('counts and scores losses that sender reports show beyond the gaps', () => {
    const hundred = received(Array.from({ length: 100 }, (_, i) => i));
    const lost = { ...call, reception: hundred, lostByReports: 100, lostInSilence: 100 };
    const report = mediaReport(lost);
    expect(report).toMatchObject({ packets_received: 100, packets_lost: 100, verdict: 'send_only' });
    expect(report.mos_received).toBeLessThan(1.7);
    expect(report.mos).toBe(report.mos_received);
    expect(report.summary).toMatch(/^No audio from the peer\. Audio from the peer is lost on the way: /);
    expect(mediaReport({ ...lost, reception: null })).toMatchObject({ mos_received: 1, mos: 1 });
    const overtaken = { ...call, reception: hundred, lostByReports: 49 };
    expect(mediaReport(overtaken)).toMatchObject({ packets_lost: 0, mos_received: 4.41 });
    // The same packets: gaps appear when audio arrives again.
    const gaps = { ...call, reception: received([1, 200]), lostByReports: 190 };
    expect(mediaReport(gaps).packets_lost).toBe(198);
  });

  it('scores the worse direction', () => {
    const lossy = mediaReport({ ...call, peerLoss: 0.19, meanPeerLoss: 0.19 });
    expect(lossy).toMatchObject({ mos_received: 4.41, peer_loss_percent: 19, verdict: 'two_way' });
    expect(lossy.mos_sent).toBeLessThan(2.8);
    expect(lossy.mos).toBe(lossy.mos_sent);
    expect(lossy.summary).toContain('19 % outbound loss');
    const other = mediaReport({ ...call, reception: received([1, 2, 4, 5]) });
    expect(other.mos_sent).toBe(4.41);
    expect(other.mos).toBe(other.mos_received);
  });

  it('scores a direction in which nothing arrives with 1', () => {
    expect(mediaReport({ ...call, peerHears: 'no', peerLoss: null, meanPeerLoss: null })).toMatchObject({
      mos: 1,
      mos_sent: 1,
      mos_received: 4.41,
      verdict: 'receive_only',
    });
  });

  it('reports null for what was not measured', () => {
    const unknown = { peerHears: 'unknown', peerLoss: null, meanPeerLoss: null, rtcpPackets: 0 } as const;
    const report = mediaReport({ ...call, ...unknown, reception: null, roundTripMs: null });
    expect(report).toMatchObject({
      packets_received: 0,
      jitter_ms: null,
      round_trip_ms: null,
      mos: null,
      mos_received: null,
      mos_sent: null,
    });
    expect(report.peer_loss_percent).toBeUndefined();
  });

  it('says whether keys can be sent, once that is known', () => {
    expect(mediaReport({ ...call, keys: false }).keys).toBe('none');
    expect(mediaReport({ ...call, codec: null, keys: false }).keys).toBeUndefined();
  });

  it('distinguishes private addresses of the peer from our own', () => {
    const silent = { ...call, reception: null, rtcpPackets: 0, peerAddress: '192.168.1.5' };
    expect(mediaReport(silent).cause).toMatch(/private address 192\.168\.1\.5.*NAT/);
    expect(mediaReport({ ...silent, ourAddress: '192.168.1.1' }).cause).not.toMatch(/NAT/);
  });
});

describe('PeerHearing', () => {
  /** A peer that is sent 50 packets a second, queried each second. */
  function talking() {
    const hearing = new PeerHearing();
    let at = 0;
    let sent = 0;
    let reports = 0;
    let aboutUs = 0;
    let behind = 0;
    let unheard = 0;
    /** Seconds pass; then a report arrives: `silent` about us, `still` at the same number, or with this loss. */
    const passes = (seconds: number, report: 'silent' | 'still' | number | null, sending = true) => {
      for (let i = 0; i < seconds; i++) {
        at += 1000;
        if (sending) sent += 50;
        const due = i === seconds - 1 ? report : null;
        if (sending) behind += 50;
        if (typeof due === 'number') behind = 0;
        if (due !== null) reports++;
        if (due !== null && due !== 'silent') {
          aboutUs++;
          unheard = behind;
        }
        const loss = typeof due === 'number' ? due : due === 'still' ? 0 : null;
        hearing.look({ nowMs: at, sent, reports, aboutUs, unheard, loss });
      }
      return hearing.hears;
    };
    const beginAnew = () => {
      reports = 0;
      aboutUs = 0;
    };
    return { hearing, passes, beginAnew };
  }

  it('is unknown without reports', () => {
    const { hearing, passes } = talking();
    expect(passes(60, null)).toBe('unknown');
    expect(hearing.meanLoss).toBeNull();
  });

  it('is no after one report without a block about us, after 5 s of sending', () => {
    const { passes } = talking();
    expect(passes(4, 'silent')).toBe('unknown');
    expect(passes(3, 'silent')).toBe('no');
  });

  it('is yes after a block about us at any time', () => {
    const { passes } = talking();
    expect(passes(10, 'silent')).toBe('no');
    expect(passes(5, 0)).toBe('yes');
  });

  it('returns to no after two consecutive reports without a block', () => {
    const { passes } = talking();
    passes(6, 0);
    expect(passes(5, 'silent')).toBe('yes');
    expect(passes(5, 0)).toBe('yes');
    expect(passes(5, 'silent')).toBe('yes');
    expect(passes(5, 'silent')).toBe('no');
  });

  it('is no when the number stops for 5 s of packets, until it advances again', () => {
    const { hearing, passes } = talking();
    expect(passes(5, 0)).toBe('yes');
    expect(passes(2, 'still')).toBe('yes');
    expect(passes(2, 'still')).toBe('yes');
    expect(passes(2, 'still')).toBe('no');
    expect(hearing.unheard).toBe(300);
    expect(passes(5, 'still')).toBe('no');
    expect(passes(5, 0.9)).toBe('yes');
    expect(hearing.unheard).toBe(0);
    // The packets of the stop count only in the loss of the report after it.
    expect(hearing.meanLoss).toBe(0.45);
  });

  it('is no for a number that has never advanced', () => {
    const { passes } = talking();
    expect(passes(3, 'still')).toBe('yes');
    expect(passes(3, 'still')).toBe('no');
  });

  it('ignores a stopped number while nothing is sent', () => {
    const { passes } = talking();
    passes(5, 0);
    for (let i = 0; i < 20; i++) expect(passes(5, 'still', false)).toBe('yes');
  });

  it('expects no report about a held stream', () => {
    const { passes } = talking();
    passes(6, 0);
    expect(passes(30, 'silent', false)).toBe('yes');
    expect(passes(3, 'silent')).toBe('yes');
  });

  it('counts on the new path when media has moved', () => {
    const { passes, beginAnew } = talking();
    passes(6, 0);
    beginAnew();
    expect(passes(3, 'silent')).toBe('yes');
    expect(passes(20, 'silent')).toBe('yes');
    expect(passes(5, 'silent')).toBe('no');
  });

  it('has the mean of the losses', () => {
    const { hearing, passes } = talking();
    passes(6, 0.5);
    passes(5, 0);
    expect(hearing.meanLoss).toBe(0.25);
  });
});

it('recognizes private addresses', () => {
  const addresses = [
    '10.1.2.3',
    '172.31.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '169.254.1.1',
    '127.0.0.1',
    'fd00::1',
    'fe80::1',
  ];
  expect(addresses.filter((address) => !isPrivateAddress(address))).toEqual([]);
  const others = ['198.51.100.7', '172.32.0.1', '100.128.0.1', '2001:db8::1', 'pbx.example.com', ''];
  expect(others.filter(isPrivateAddress)).toEqual([]);
});
