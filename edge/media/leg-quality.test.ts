import { describe, expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { LegQuality } from './leg-quality.ts';

function setUp() {
  const clock = new FakeClock();
  const quality = new LegQuality(clock);
  quality.begin();
  return { clock, quality };
}

const look = (unclaimed: number, undecrypted = 0) => ({
  dropped: { unclaimed, undecrypted, fromElsewhere: 0 },
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
