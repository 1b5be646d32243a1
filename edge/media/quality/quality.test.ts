import { describe, expect, it } from 'vitest';
import { carry } from '../rtp/emulated-network.ts';
import { meanOpinionScore, rating } from './emodel.ts';
import { isPrivateAddress } from './private-address.ts';
import { Reception } from './reception.ts';
import { type CallMedia, mediaReport } from './report.ts';

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

  it('knows nothing before the first packet', () => {
    expect(new Reception(8000)).toMatchObject({ expected: 0, lost: 0, received: 0, jitterMs: null });
  });

  it('adds up over a change of SSRC and a jump of the sequence', () => {
    const reception = received([1, 2, 4]);
    reception.push(2, 40_000, 0, 100);
    reception.push(2, 40_002, 320, 140);
    reception.push(2, 10_000, 480, 160);
    expect(reception).toMatchObject({ expected: 4 + 3 + 1, lost: 2, received: 6 });
  });

  it('measures jitter as RFC 3550 A.8 does', () => {
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

  it('leaves event packets out of the jitter', () => {
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
    // Two independent even spreads of 50 ms differ by 50/3 ms on average.
    expect(reception.jitterMs).toBeGreaterThan(12);
    expect(reception.jitterMs).toBeLessThan(22);
  });
});

describe('E-model', () => {
  const scores: [Parameters<typeof meanOpinionScore>[0], number][] = [
    [{ codec: 'PCMU', loss: 0, delayMs: 50 }, 4.41],
    [{ codec: 'PCMA', loss: 0.01, delayMs: 50 }, 4.33],
    [{ codec: 'PCMU', loss: 0.05, delayMs: 50 }, 3.96],
    [{ codec: 'PCMU', loss: 0.2, delayMs: 50 }, 2.61],
    [{ codec: 'G.729', loss: 0, delayMs: 50 }, 4.1],
    [{ codec: 'PCMU', loss: 0, delayMs: 300 }, 3.96],
    [{ codec: 'PCMU', loss: 1, delayMs: 50 }, 1.14],
  ];
  it.each(scores)('scores %o', (impairment, score) => {
    expect(meanOpinionScore(impairment)).toBeCloseTo(score, 1);
  });

  it('has the values of G.107: R 93.2 without impairment, no cost of delay to 100 ms, some beyond', () => {
    expect(rating({ codec: 'PCMU', loss: 0, delayMs: 0 })).toBe(93.2);
    expect(rating({ codec: 'PCMU', loss: 0, delayMs: 100 })).toBe(93.2);
    expect(rating({ codec: 'PCMU', loss: 0, delayMs: 200 })).toBeLessThan(93.2);
    expect(rating({ codec: 'G.729', loss: 0, delayMs: 0 })).toBeCloseTo(82.2, 6);
  });

  it('never leaves the scale', () => {
    for (const loss of [0, 0.5, 1]) {
      for (const delayMs of [0, 400, 10_000]) {
        const score = meanOpinionScore({ codec: 'G.729', loss, delayMs });
        expect(score).toBeGreaterThanOrEqual(1);
        expect(score).toBeLessThanOrEqual(4.5);
      }
    }
  });
});

describe('mediaReport', () => {
  const nothingDropped = { fromElsewhere: 0, undecrypted: 0, unclaimed: 0 };
  const call: CallMedia = {
    codec: 'PCMU',
    packetsSent: 100,
    reception: received([1, 2, 3, 4]),
    packetsLate: 0,
    roundTripMs: 24.04,
    playoutDelayMs: 40,
    peerAddress: '198.51.100.7',
    dropped: nothingDropped,
    peerMkiLength: 0,
    direction: 'sendrecv',
    held: false,
  };

  it('reports a good call', () => {
    expect(mediaReport(call)).toEqual({
      packets_sent: 100,
      packets_received: 4,
      packets_lost: 0,
      jitter_ms: 0,
      round_trip_ms: 24,
      mos: 4.41,
      verdict: 'two_way',
      cause: null,
    });
  });

  it('counts packets that came too late as lost to the ear', () => {
    expect(mediaReport({ ...call, packetsLate: 1 }).mos).toBeLessThan(3);
    expect(mediaReport({ ...call, packetsLate: 1 }).packets_lost).toBe(0);
  });

  it('reports null for what was not measured', () => {
    expect(mediaReport({ ...call, reception: null, roundTripMs: null })).toMatchObject({
      packets_received: 0,
      jitter_ms: null,
      round_trip_ms: null,
      mos: null,
    });
  });

  const silent = { ...call, reception: null };
  const causes: [string, CallMedia, string, RegExp][] = [
    ['nothing negotiated', { ...silent, codec: null, packetsSent: 0 }, 'none', /No media was negotiated/],
    ['nothing received', silent, 'send_only', /firewall/],
    ['nothing either way', { ...silent, packetsSent: 0 }, 'none', /firewall/],
    [
      'a private address',
      { ...silent, peerAddress: '192.168.1.5' },
      'send_only',
      /private address 192\.168\.1\.5.*NAT/,
    ],
    [
      'a wrong source',
      { ...silent, dropped: { ...nothingDropped, fromElsewhere: 3 } },
      'send_only',
      /3 packets came from another source than the first/,
    ],
    [
      'wrong keys',
      { ...silent, dropped: { ...nothingDropped, undecrypted: 1, fromElsewhere: 3 } },
      'send_only',
      /1 packet arrived but failed SRTP authentication/,
    ],
    [
      'a codec that was not agreed',
      { ...silent, dropped: { unclaimed: 7, undecrypted: 1, fromElsewhere: 0 } },
      'send_only',
      /7 packets came from the peer, but of another codec .*PCMU/,
    ],
    [
      'a key with MKI',
      { ...silent, dropped: { ...nothingDropped, undecrypted: 5 }, peerMkiLength: 1 },
      'send_only',
      /master key identifier/,
    ],
    ['a hold', { ...silent, held: true }, 'send_only', /The peer held the call/],
    ['a peer that only listens', { ...silent, direction: 'sendonly' }, 'send_only', /direction was sendonly/],
    ['a silent agent', { ...call, packetsSent: 0 }, 'receive_only', /the agent gave no audio/],
    [
      'a hold from the start',
      { ...call, packetsSent: 0, held: true },
      'receive_only',
      /held the call, so nothing was sent/,
    ],
    [
      'a peer that only talks',
      { ...call, packetsSent: 0, direction: 'recvonly' },
      'receive_only',
      /direction was recvonly/,
    ],
  ];
  it.each(causes)('names the cause: %s', (_, facts, verdict, cause) => {
    expect(mediaReport(facts)).toMatchObject({ verdict, cause: expect.stringMatching(cause) });
  });
});

it('knows private addresses', () => {
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
