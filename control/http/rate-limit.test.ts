import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { RateLimiter } from './rate-limit.ts';

const perMinute = { scope: 'key', limit: 3, windowSeconds: 60 };
const perHour = { scope: 'org', limit: 4, windowSeconds: 3600 };

describe('RateLimiter', () => {
  it('slides: a request is free again exactly one window after it was made', async () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter(clock);
    const take = () => limiter.take('a', [perMinute]);
    await take();
    clock.advance(20_000);
    await take();
    await take();
    expect(await take()).toMatchObject({ refused: true, remaining: 0, resetSeconds: 40 });
    clock.advance(39_999);
    expect(await take()).toMatchObject({ refused: true, resetSeconds: 1 });
    clock.advance(1);
    expect(await take()).toMatchObject({ refused: false, remaining: 0, resetSeconds: 20 });
  });

  it('counts a rejected request in no window, and reports the tightest', async () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter(clock);
    const both = () => limiter.take('a', [perMinute, perHour]);
    expect(await both()).toMatchObject({ scope: 'key', remaining: 2 });
    await both();
    await both();
    expect(await both()).toMatchObject({ scope: 'key', refused: true });
    clock.advance(60_000);
    expect(await both()).toMatchObject({ scope: 'org', remaining: 0, refused: false });
    expect(await both()).toMatchObject({ scope: 'org', refused: true, limit: 4, windowSeconds: 3600 });
    expect(await limiter.take('a', [perMinute])).toMatchObject({ remaining: 1 });
  });

  it('removes a request that is given back, and no other of the same moment', async () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter(clock);
    for (let taken = 0; taken < 3; taken++) await limiter.take('a', [perMinute]);
    limiter.giveBack('a', [perMinute], clock.elapsed());
    limiter.giveBack('a', [perMinute], clock.elapsed() - 1);
    limiter.giveBack('b', [perMinute], clock.elapsed());
    expect(await limiter.take('a', [perMinute])).toMatchObject({ refused: false, remaining: 0 });
    expect(await limiter.take('a', [perMinute])).toMatchObject({ refused: true });
  });

  it('stays exact however many requests have left the window', async () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter(clock);
    const many = { scope: 'key', limit: 6000, windowSeconds: 60 };
    const take = () => limiter.take('a', [many]);
    for (let taken = 1; taken <= 20_000; taken++) {
      // 6000 requests per minute: after that, each takes the place of an expired one.
      const wanted = { refused: false, remaining: Math.max(0, 6000 - taken) };
      expect(await take()).toMatchObject(wanted);
      if (taken < 20_000) clock.advance(10);
    }
    expect(await take()).toMatchObject({ refused: true, resetSeconds: 1 });
    clock.advance(10);
    const first = clock.elapsed();
    expect(await take()).toMatchObject({ refused: false, remaining: 0 });
    limiter.giveBack('a', [many], first);
    limiter.giveBack('a', [many], first - 60_000);
    expect(await take()).toMatchObject({ refused: false, remaining: 0 });
    expect(await take()).toMatchObject({ refused: true });
    clock.advance(60_000);
    expect(await take()).toMatchObject({ refused: false, remaining: 5999 });
  });

  it('keeps subjects apart', async () => {
    const limiter = new RateLimiter(new FakeClock());
    for (let taken = 0; taken < 3; taken++) await limiter.take('a', [perMinute]);
    expect(await limiter.take('b', [perMinute])).toMatchObject({ refused: false, remaining: 2 });
  });
});
