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
  rtcpPackets,
  roundTripMs: null,
});
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

  test('is ended by RTCP packets of a listener too, by new ones alone', () => {
    const { clock, quality } = setUp();
    quality.heard(clock.now());
    clock.advance(5000);
    quality.takeStats(look(0, 0, 1));
    clock.advance(500);
    expect(quality.silentForMs()).toBe(500);
    quality.takeStats(look(0, 0, 1));
    expect(quality.silentForMs()).toBe(500);
    clock.advance(500);
    quality.takeStats(look(0, 9, 1));
    expect(quality.silentForMs()).toBe(1000);
    quality.takeStats(look(0, 9, 2));
    expect(quality.silentForMs()).toBe(0);
    expect(quality.statsDue()).toBe(true);
  });

  test('is none before media', () => {
    expect(new LegQuality(new FakeClock()).silentForMs()).toBe(0);
  });
});

describe('a look at the worker', () => {
  test('is due every five seconds, and at once when the leg fell silent', () => {
    const { clock, quality } = setUp();
    quality.heard(clock.now());
    expect(quality.statsDue()).toBe(true);
    clock.advance(300);
    quality.heard(clock.now());
    expect(quality.statsDue()).toBe(false);
    clock.advance(500);
    expect(quality.statsDue()).toBe(true);
  });

  test('finds an unknown stream when packets keep coming in silence', () => {
    const { clock, quality } = setUp();
    quality.heard(clock.now());
    clock.advance(500);
    expect(quality.takeStats(look(20))).toBe('nothing new');
    clock.advance(500);
    expect(quality.takeStats(look(45))).toBe('unknown stream');
    expect(quality.takeStats(look(70))).toBe('nothing new');
  });

  test('finds none in silence, when only strangers send', () => {
    const { clock, quality } = setUp();
    quality.heard(clock.now());
    clock.advance(500);
    quality.takeStats(look(10, 1000));
    clock.advance(500);
    expect(quality.takeStats(look(10, 5000))).toBe('nothing new');
  });

  test('finds none on a new path, whose counts begin again', () => {
    const { clock, quality } = setUp();
    quality.heard(clock.now());
    clock.advance(500);
    quality.takeStats(look(20));
    clock.advance(500);
    expect(quality.takeStats(look(0))).toBe('nothing new');
  });

  test('finds none when nothing was ever heard: the peer uses what was not agreed', () => {
    const { clock, quality } = setUp();
    clock.advance(500);
    quality.takeStats(look(20));
    clock.advance(500);
    expect(quality.takeStats(look(45))).toBe('nothing new');
  });
});

test('counts go on when the codec changes to another clock', () => {
  const { quality } = setUp();
  const first = quality.reception(48_000);
  first.push(1, 10, 0, 0);
  first.push(1, 12, 1920, 40);
  const second = quality.reception(8000);
  expect(quality.reception(8000)).toBe(second);
  second.push(2, 5, 0, 60);
  const report = quality.report(null, nothingSent);
  expect(report).toMatchObject({ packets_received: 3, packets_lost: 1 });
});

describe('what the peer reports of our packets', () => {
  const lossOf = (quality: LegQuality) => quality.report(null, nothingSent).peer_loss_percent;

  test('is in the report once it came, and stays until the next', () => {
    const { quality } = setUp();
    quality.takeStats(look(0));
    expect(lossOf(quality)).toBeUndefined();
    quality.takeStats({ ...look(0), roundTripMs: 20, peerLoss: 0 });
    expect(lossOf(quality)).toBe(0);
    quality.takeStats({ ...look(0), roundTripMs: 20, peerLoss: 64 / 256 });
    quality.takeStats(look(0));
    expect(lossOf(quality)).toBe(25);
  });
});

describe('packets that pass this process by', () => {
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
    expect(quality.report(null, { ...nothingSent, packetsSent: 5 })).toMatchObject({
      packets_sent: 45,
      packets_received: 51,
      packets_lost: 4,
      jitter_ms: 3,
      round_trip_ms: 80,
      verdict: 'two_way',
    });
  });

  test('leave the jitter to those that come into it again', () => {
    const { quality } = setUp();
    const reception = quality.reception(8000);
    quality.relayedFrom(looked);
    quality.relayEnded();
    reception.push(1, 10, 0, 0);
    reception.push(1, 11, 160, 20);
    expect(quality.report(null, nothingSent).jitter_ms).toBe(0);
  });
});
