import { expect, it } from 'vitest';
import { tone } from '../../../test/kit/fakes/audio.ts';
import { LevelMeter } from './level-meter.ts';

/** RFC 6464: dBov is relative to a full-scale square wave, to which a full-scale sine is -3.01. */
it.each([
  ['a square wave of full scale', Int16Array.from({ length: 160 }, (_, i) => (i % 2 ? 32_767 : -32_768)), 0],
  ['a sine of full scale', tone(500, 160, 0, 32_767), -3],
  ['a sine of half of it', tone(500, 160, 0, 16_384), -9],
  ['the quietest sound', Int16Array.from({ length: 160 }, () => 1), -90.3],
  ['silence', new Int16Array(160), -127],
])('measures %s', (_, frame, level) => {
  const meter = new LevelMeter();
  meter.add(frame);
  expect(meter.take()).toBeCloseTo(level, 1);
});

it('has the mean power of sound and silence, and starts over each time', () => {
  const meter = new LevelMeter();
  meter.add(tone(500, 160, 0, 32_767));
  meter.silence(160);
  expect(meter.take()).toBeCloseTo(-6, 1);
  expect(meter.take()).toBeNull();
});
