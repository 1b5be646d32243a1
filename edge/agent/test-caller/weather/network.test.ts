import { expect, test } from 'vitest';
import type { Weather } from '#shared/agent-test-weather.ts';
import { chance } from '#shared/chance.ts';
import { FakeClock } from '#shared/clock.ts';
import { CallerNetwork } from './network.ts';

interface Passed {
  readonly number: number;
  /** ms after it was sent. */
  readonly delayMs: number;
}

/** Sends packets 20 ms apart, from one buffer as a leg does. */
function pass(weather: Weather, count: number, seed = 3) {
  const clock = new FakeClock();
  const network = new CallerNetwork(weather, chance(seed), clock);
  const passed: Passed[] = [];
  const packet = Buffer.alloc(4);
  for (let number = 0; number < count; number++) {
    packet.writeUInt32BE(number);
    network.send(packet, (arrived) => {
      const first = arrived.readUInt32BE();
      passed.push({ number: first, delayMs: clock.elapsed() - first * 20 });
    });
    clock.advance(20);
  }
  clock.advance(2000);
  return { clock, counts: network.counts, passed };
}

test('a calm network passes each packet at once', () => {
  const { clock, counts, passed } = pass({}, 100);
  expect(passed.map(({ number }) => number)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  expect(passed.every(({ delayMs }) => delayMs === 0)).toBe(true);
  expect(counts).toEqual({ packets: 100, dropped: 0, overtaken: 0 });
  expect(clock.pending).toBe(0);
});

test.each([
  { loss_percent: 5, loss_burst: 1 },
  { loss_percent: 10, loss_burst: 4 },
  { loss_percent: 50, loss_burst: 1 },
])('loses the wanted share in bursts of the wanted length: %o', (weather) => {
  const count = 40_000;
  const { counts, passed } = pass(weather, count);
  expect(counts.dropped + passed.length).toBe(count);
  expect((100 * counts.dropped) / count).toBeCloseTo(weather.loss_percent, -0.5);
  const numbers = [-1, ...passed.map(({ number }) => number)];
  const gaps = numbers.slice(1).filter((number, i) => number - (numbers[i] ?? 0) > 1).length;
  // Losses that are independent of each other follow one another at times.
  const burst = Math.max(weather.loss_burst, 1 / (1 - weather.loss_percent / 100));
  expect(Math.abs(counts.dropped / gaps / burst - 1)).toBeLessThan(0.1);
});

test('jitter delays packets by up to its size, and keeps their order', () => {
  const { passed } = pass({ jitter_ms: 80 }, 2000);
  expect(passed.map(({ number }) => number)).toEqual(Array.from({ length: 2000 }, (_, i) => i));
  const delays = passed.map(({ delayMs }) => delayMs);
  expect(Math.max(...delays)).toBeLessThan(85);
  expect(Math.max(...delays)).toBeGreaterThan(60);
  expect(Math.min(...delays)).toBeLessThan(20);
});

test('later packets overtake the wanted share', () => {
  const { counts, passed } = pass({ reorder_percent: 10 }, 5000);
  expect(passed).toHaveLength(5000);
  expect(counts.overtaken / 5000).toBeCloseTo(0.1, 1);
  const late = passed.filter(({ number }, i) => passed.slice(0, i).some((other) => other.number > number));
  // Nothing comes behind the last one.
  expect([0, 1]).toContain(counts.overtaken - late.length);
});

test('a slow clock sends ever later, a fast one ever earlier', () => {
  const of = (drift_ppm: number) => {
    const { passed } = pass({ drift_ppm }, 3001);
    return (passed[3000]?.delayMs ?? 0) - (passed[0]?.delayMs ?? 0);
  };
  // A minute.
  expect(of(500)).toBeCloseTo(30, 0);
  expect(of(-500)).toBeCloseTo(-30, 0);
});

test('the same seed does the same', () => {
  const weather = { loss_percent: 10, loss_burst: 3, jitter_ms: 40, reorder_percent: 5 };
  expect(pass(weather, 500, 7).passed).toEqual(pass(weather, 500, 7).passed);
  expect(pass(weather, 500, 8).passed).not.toEqual(pass(weather, 500, 7).passed);
});

test('packets that are on their way at the end are forgotten', () => {
  const clock = new FakeClock();
  const network = new CallerNetwork({ jitter_ms: 300 }, chance(1), clock);
  let passed = 0;
  for (let i = 0; i < 20; i++)
    network.send(Buffer.alloc(4), () => {
      passed++;
    });
  network.close();
  const before = passed;
  clock.advance(1000);
  expect(passed).toBe(before);
  expect(clock.pending).toBe(0);
});
