import { describe, expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { LegQuality } from './leg-quality.ts';

function setUp() {
  const clock = new FakeClock();
  const quality = new LegQuality(clock);
  quality.begin();
  return { clock, quality };
}

const look = (unclaimed: number, undecrypted = 0, rtcpPackets = 0) => ({
  dropped: { unclaimed, undecrypted, fromElsewhere: 0 },
  beyondRate: 0,
  rtcpPackets,
  reports: 0,
  reportsAboutUs: 0,
  unheard: 0,
  sentByPeer: 0,
  arrivedOfThem: 0,
  lastElsewhere: null as string | null,
  roundTripMs: null,
  peerLoss: null as number | null,
});
const us = '198.51.100.1';
const nothingSent = { packetsSent: 0, packetsLate: 0, playoutDelayMs: 0 };

describe('silence', () => {
  test('counts from the start of media, then from the last packet', () => {
    const { clock, quality } = setUp();
    clock.advance(300);
    expect(quality.silentForMs()).toBe(300);
    quality.heard(clock.now());
    clock.advance(50);
    expect(quality.silentForMs()).toBe(50);
  });

  test('is also ended by RTCP of a listener, if it is new', () => {
    const { clock, quality } = setUp();
    quality.heard(clock.now());
    clock.advance(5000);
    quality.takeStats(look(0, 0, 1), 0);
    clock.advance(500);
    expect(quality.silentForMs()).toBe(500);
    quality.takeStats(look(0, 0, 1), 0);
    expect(quality.silentForMs()).toBe(500);
    clock.advance(500);
    quality.takeStats(look(0, 9, 1), 0);
    expect(quality.silentForMs()).toBe(1000);
    quality.takeStats(look(0, 9, 2), 0);
    expect(quality.silentForMs()).toBe(0);
    expect(quality.statsDue()).toBe(true);
  });

  test('is zero before media', () => {
    expect(new LegQuality(new FakeClock()).silentForMs()).toBe(0);
  });
});

describe('a query to the worker', () => {
  test('is due every 2.5 s until a report about us arrives, but for half a minute at most', () => {
    const { clock, quality } = setUp();
    const due = () => {
      quality.heard(clock.now());
      return quality.statsDue();
    };
    expect(due()).toBe(true);
    clock.advance(2000);
    expect(due()).toBe(false);
    clock.advance(500);
    expect(due()).toBe(true);
    clock.advance(30_000);
    expect(due()).toBe(true);
    clock.advance(2500);
    expect(due()).toBe(false);
    const { clock: other, quality: reported } = setUp();
    reported.takeStats({ ...look(0), reports: 1, reportsAboutUs: 1 }, 50);
    reported.heard(other.now());
    expect(reported.statsDue()).toBe(true);
    other.advance(2500);
    reported.heard(other.now());
    expect(reported.statsDue()).toBe(false);
  });

  test('is due every five seconds, and at once when the leg goes silent', () => {
    const { clock, quality } = setUp();
    clock.advance(30_000);
    quality.heard(clock.now());
    expect(quality.statsDue()).toBe(true);
    clock.advance(300);
    quality.heard(clock.now());
    expect(quality.statsDue()).toBe(false);
    clock.advance(500);
    expect(quality.statsDue()).toBe(true);
  });

  test('detects an unknown stream when packets keep arriving in silence', () => {
    const { clock, quality } = setUp();
    quality.heard(clock.now());
    clock.advance(500);
    expect(quality.takeStats(look(20), 0)).toBe('nothing new');
    clock.advance(500);
    expect(quality.takeStats(look(45), 0)).toBe('unknown stream');
    expect(quality.takeStats(look(70), 0)).toBe('nothing new');
  });

  test('detects none in silence when only strangers send', () => {
    const { clock, quality } = setUp();
    quality.heard(clock.now());
    clock.advance(500);
    quality.takeStats(look(10, 1000), 0);
    clock.advance(500);
    expect(quality.takeStats(look(10, 5000), 0)).toBe('nothing new');
  });

  test('detects none on a new path, whose counts start again', () => {
    const { clock, quality } = setUp();
    quality.heard(clock.now());
    clock.advance(500);
    quality.takeStats(look(20), 0);
    clock.advance(500);
    expect(quality.takeStats(look(0), 0)).toBe('nothing new');
  });

  test('detects none when nothing was ever heard: the peer uses something that was not negotiated', () => {
    const { clock, quality } = setUp();
    clock.advance(500);
    quality.takeStats(look(20), 0);
    clock.advance(500);
    expect(quality.takeStats(look(45), 0)).toBe('nothing new');
  });
});

test('counts continue when the codec changes to another clock', () => {
  const { quality } = setUp();
  const first = quality.reception(48_000);
  first.push(1, 10, 0, 0);
  first.push(1, 12, 1920, 40);
  const second = quality.reception(8000);
  expect(quality.reception(8000)).toBe(second);
  second.push(2, 5, 0, 60);
  const report = quality.report(null, nothingSent, us);
  expect(report).toMatchObject({ packets_received: 3, packets_lost: 1 });
});

describe("the peer's reports about our packets", () => {
  const lossOf = (quality: LegQuality) => quality.report(null, nothingSent, us).peer_loss_percent;

  test('are included once received, until the next one', () => {
    const { quality } = setUp();
    quality.takeStats(look(0), 0);
    expect(lossOf(quality)).toBeUndefined();
    quality.takeStats({ ...look(0), reports: 1, reportsAboutUs: 1, peerLoss: 0 }, 50);
    expect(lossOf(quality)).toBe(0);
    quality.takeStats({ ...look(0), reports: 2, reportsAboutUs: 2, peerLoss: 64 / 256 }, 100);
    quality.takeStats(look(0), 0);
    expect(lossOf(quality)).toBe(25);
  });
});

describe('packets that bypass this process', () => {
  const looked = { received: 50, lost: 2, jitterMs: 3, sent: 40, roundTripMs: 80, peerLoss: 0.5 };

  test('are counted with the others, and end a silence', () => {
    const { clock, quality } = setUp();
    quality.reception(8000).push(1, 10, 0, 0);
    clock.advance(800);
    quality.relayedFrom({ ...looked, received: 0 });
    expect(quality.silentForMs()).toBe(800);
    quality.relayedFrom(looked);
    quality.relayedTo(looked);
    expect(quality.silentForMs()).toBe(0);
    expect(quality.report(null, { ...nothingSent, packetsSent: 5 }, us)).toMatchObject({
      packets_sent: 45,
      packets_received: 51,
      packets_lost: 4,
      jitter_ms: 3,
      round_trip_ms: 80,
      verdict: 'two_way',
    });
  });

  test('no longer affect the jitter once packets enter this process again', () => {
    const { quality } = setUp();
    const reception = quality.reception(8000);
    quality.relayedFrom(looked);
    quality.relayEnded();
    reception.push(1, 10, 0, 0);
    reception.push(1, 11, 160, 20);
    expect(quality.report(null, nothingSent, us).jitter_ms).toBe(0);
  });
});

describe('a source that changes', () => {
  const session = (quality: LegQuality) => quality.report(null, { ...nothingSent, packetsSent: 500 }, us);
  const elsewhere = (count: number, lastElsewhere: string | null = '198.51.100.9:4000') => ({
    ...look(0),
    dropped: { unclaimed: 0, undecrypted: 0, fromElsewhere: count },
    lastElsewhere,
  });

  function talking() {
    const { clock, quality } = setUp();
    quality.reception(8000).push(1, 10, 0, 0);
    quality.heard(clock.now());
    return { clock, quality };
  }

  test('is reported once a second of its packets arrived while the known one is silent', () => {
    const { clock, quality } = talking();
    clock.advance(1000);
    quality.takeStats(elsewhere(49), 0);
    expect(session(quality)).toMatchObject({ verdict: 'two_way', packets_from_elsewhere: 49 });
    clock.advance(1000);
    quality.takeStats(elsewhere(99), 0);
    expect(session(quality)).toMatchObject({ verdict: 'send_only', packets_from_elsewhere: 99 });
  });

  test('is not reported when strangers send while the peer is heard, or when the peer is heard again', () => {
    const { clock, quality } = talking();
    quality.takeStats(elsewhere(1000), 0);
    expect(session(quality)).toMatchObject({ verdict: 'two_way', packets_from_elsewhere: 1000 });
    clock.advance(1000);
    quality.takeStats(elsewhere(1100), 0);
    expect(session(quality).verdict).toBe('send_only');
    quality.heard(clock.now());
    expect(session(quality)).toMatchObject({ verdict: 'two_way', packets_from_elsewhere: 1100 });
  });

  test('is counted over all paths of the call', () => {
    const { quality } = talking();
    quality.takeStats(elsewhere(7), 0);
    quality.takeStats(elsewhere(2), 0);
    expect(session(quality).packets_from_elsewhere).toBe(9);
  });
});

describe('audio lost after the last packet', () => {
  const report = (quality: LegQuality) => quality.report(null, { ...nothingSent, packetsSent: 500 }, us);
  const counted = (sentByPeer: number, arrivedOfThem: number) => ({ ...look(0), sentByPeer, arrivedOfThem });

  /** A peer that was heard for 10 s, with two sender reports. */
  function heard() {
    const { clock, quality } = setUp();
    const reception = quality.reception(8000);
    const hear = () => {
      for (let i = 0; i < 250; i++) {
        reception.push(1, reception.received, reception.received * 160, reception.received * 20);
        clock.advance(20);
        quality.heard(clock.now());
      }
    };
    hear();
    hear();
    quality.takeStats(counted(250, 250), 500);
    return { clock, quality, hear };
  }

  test('is detected by the sender reports, which keep counting', () => {
    const { clock, quality } = heard();
    clock.advance(5000);
    quality.takeStats(counted(500, 250), 750);
    expect(report(quality)).toMatchObject({ verdict: 'send_only', packets_lost: 250 });
    clock.advance(5000);
    quality.takeStats(counted(750, 250), 1000);
    expect(report(quality)).toMatchObject({ verdict: 'send_only', packets_lost: 500 });
  });

  test('is zero when the peer is silent', () => {
    const { clock, quality } = heard();
    clock.advance(20_000);
    quality.takeStats(counted(250, 250), 1500);
    expect(report(quality)).toMatchObject({ verdict: 'two_way', packets_lost: 0 });
  });

  test('ends when audio arrives again, and stays counted', () => {
    const { clock, quality, hear } = heard();
    clock.advance(5000);
    quality.takeStats(counted(500, 250), 750);
    hear();
    expect(report(quality)).toMatchObject({ verdict: 'two_way', packets_lost: 250 });
    quality.takeStats(counted(750, 500), 1000);
    expect(report(quality)).toMatchObject({ verdict: 'two_way', packets_lost: 250 });
  });

  test('does not include what a report counts ahead of its audio', () => {
    const { quality, hear } = heard();
    hear();
    quality.takeStats(counted(540, 500), 750);
    expect(report(quality)).toMatchObject({ verdict: 'two_way', packets_lost: 0 });
  });

  test('is counted over all paths of the call', () => {
    const { clock, quality } = heard();
    clock.advance(5000);
    quality.takeStats(counted(500, 250), 750);
    quality.takeStats(counted(0, 0), 750);
    clock.advance(5000);
    quality.takeStats(counted(100, 0), 1000);
    expect(report(quality)).toMatchObject({ verdict: 'send_only', packets_lost: 350 });
  });
});
