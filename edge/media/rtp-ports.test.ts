import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { CallRefused } from '../call/refused.ts';
import { RtpPorts } from './rtp-ports.ts';

function ports(min: number, max: number, restMs = 0, random = () => 0) {
  const clock = new FakeClock();
  return { clock, pool: new RtpPorts({ min, max, restMs, clock, random }) };
}

describe('RTP port pairs', () => {
  test('are even ports inside the range, with room for RTCP above each', () => {
    const { pool } = ports(10_001, 10_006);
    expect(pool.capacity).toBe(2);
    expect([pool.take(), pool.take()]).toEqual([10_002, 10_004]);
  });

  test('start at a random position', () => {
    const { pool } = ports(10_000, 10_007, 0, () => 0.5);
    expect([pool.take(), pool.take(), pool.take(), pool.take()]).toEqual([10_004, 10_006, 10_000, 10_002]);
  });

  test('are returned to the end of the queue: the longest free one is next', () => {
    const { pool } = ports(10_000, 10_005);
    const first = pool.take();
    pool.give(first);
    expect([pool.take(), pool.take(), pool.take()]).toEqual([10_002, 10_004, 10_000]);
  });

  test('stay unused for a while after a call', () => {
    const { pool, clock } = ports(10_000, 10_001, 5000);
    pool.give(pool.take());
    expect(() => pool.take()).toThrow('0 of 1 pairs are in use and 1 were used too recently');
    clock.advance(4999);
    expect(() => pool.take()).toThrow(CallRefused);
    clock.advance(1);
    expect(pool.take()).toBe(10_000);
  });

  test('run out with a 503 that says how many are in use', () => {
    const { pool } = ports(10_000, 10_003);
    pool.take();
    pool.take();
    expect(() => pool.take()).toThrow(
      expect.objectContaining({
        sipStatus: 503,
        message: expect.stringContaining('2 of 2 pairs are in use'),
      }),
    );
  });

  test('cannot be returned twice, nor when they were never handed out', () => {
    const { pool } = ports(10_000, 10_003);
    const port = pool.take();
    pool.give(port);
    expect(() => pool.give(port)).toThrow('not in use');
    expect(() => pool.give(10_001)).toThrow('not in use');
    expect(() => pool.give(9998)).toThrow('not in use');
  });

  test('a range without a pair is rejected with the settings to change', () => {
    expect(() => ports(10_001, 10_002)).toThrow('RTP_PORT_MIN');
    expect(() => ports(65_534, 65_536)).toThrow(RangeError);
  });

  test('are never handed out twice at once, whatever the order of calls', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9), { maxLength: 200 }), (steps) => {
        const { pool } = ports(10_000, 10_015);
        const held: number[] = [];
        for (const step of steps) {
          if (step < 5 && held.length < pool.capacity) {
            const port = pool.take();
            expect(held).not.toContain(port);
            held.push(port);
          } else {
            const [port] = held.splice(step % Math.max(1, held.length), 1);
            if (port !== undefined) pool.give(port);
          }
          expect(pool.inUse).toBe(held.length);
        }
      }),
    );
  });
});
