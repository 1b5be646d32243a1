import { expect, test } from 'vitest';
import { tone } from '../../../test/kit/fakes/audio.ts';
import { TestTone, ToneMeter } from './test-tone.ts';

/** Feeds a second of `samples` to a meter, frame by frame. */
function hear(samples: Int16Array): ToneMeter {
  const meter = new ToneMeter();
  for (let at = 0; at < 8000; at += 160) meter.write(samples.subarray(at, at + 160));
  return meter;
}

function ourTone(): Int16Array {
  const source = new TestTone();
  const samples = new Int16Array(8000);
  for (let at = 0; at < samples.length; at += 160) source.fill(samples.subarray(at, at + 160));
  return samples;
}

test('its own tone is recognized', () => {
  expect(hear(ourTone())).toMatchObject({ audibleMs: 1000, echoMs: 1000 });
});

test('its own tone is recognized when faint, and beneath a hum', () => {
  const hum = tone(50, 8000, 0, 100);
  const mixed = ourTone().map((sample, i) => Math.round(sample / 32) + (hum[i] ?? 0));
  expect(hear(mixed)).toMatchObject({ audibleMs: 1000, echoMs: 1000 });
});

test.each([350, 440, 941, 1004, 1020, 1100, 1209, 2100])('a tone of %d Hz is audible, but not ours', (hz) => {
  expect(hear(tone(hz, 8000))).toMatchObject({ audibleMs: 1000, echoMs: 0 });
});

test('silence and codec noise are not audible', () => {
  expect(hear(new Int16Array(8000))).toMatchObject({ audibleMs: 0, echoMs: 0 });
  expect(hear(tone(300, 8000, 0, 130))).toMatchObject({ audibleMs: 0, echoMs: 0 });
});

test('a frame of 20 ms is too short for a result', () => {
  const meter = new ToneMeter();
  meter.write(tone(440, 160));
  expect(meter.audibleMs).toBe(0);
});
