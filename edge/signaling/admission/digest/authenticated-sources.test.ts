import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { Strangers, strangerLimits } from '../strangers.ts';
import { AuthenticatedSources } from './authenticated-sources.ts';

function scene(most?: number) {
  const clock = new FakeClock();
  return { clock, sources: new AuthenticatedSources(clock, new Strangers(clock, strangerLimits), most) };
}

describe('a source that has authenticated', () => {
  it('is known for an hour after the last time; with IPv6 the whole /64 is', () => {
    const { clock, sources } = scene();
    sources.passed('2001:db8::1');
    expect([sources.has('2001:db8::2'), sources.has('2001:db8:0:1::1')]).toEqual([true, false]);
    clock.advance(3_599_999);
    sources.passed('2001:db8::3');
    clock.advance(3_599_999);
    expect(sources.has('2001:db8::1')).toBe(true);
    clock.advance(1);
    expect(sources.has('2001:db8::1')).toBe(false);
  });

  it('is forgotten for others when it authenticated longest ago', () => {
    const { sources } = scene(2);
    for (const source of ['192.0.2.1', '192.0.2.2', '192.0.2.1', '192.0.2.3']) sources.passed(source);
    expect(['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((source) => sources.has(source))).toEqual([
      true,
      false,
      true,
    ]);
  });
});

it('wrong passwords are counted for each source and record, and forgotten after the block', () => {
  const { clock, sources } = scene();
  for (let guess = 0; guess < 5; guess++) {
    expect(sources.mayTry('192.0.2.1', 'one')).toBe(true);
    sources.failed('192.0.2.1', 'one');
  }
  expect(sources.mayTry('192.0.2.1', 'one')).toBe(false);
  expect(sources.mayTry('192.0.2.1', 'two')).toBe(true);
  expect(sources.mayTry('192.0.2.2', 'one')).toBe(true);
  clock.advance(600_000);
  expect(sources.mayTry('192.0.2.1', 'one')).toBe(true);
});
