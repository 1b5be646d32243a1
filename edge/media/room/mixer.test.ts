import { expect, it } from 'vitest';
import { share, tone } from '../../../test/kit/fakes/audio.ts';
import { MixLevel } from './mixer.ts';

const frame = 160;

/** What a party hears of these sounds besides its own. */
function mixed(sounds: readonly Int16Array[], own: Int16Array | null = null): Int16Array {
  const level = new MixLevel();
  const length = sounds[0]?.length ?? 0;
  const out = new Int16Array(length);
  for (let at = 0; at < length; at += frame) {
    const sum = Int32Array.from({ length: frame }, (_, i) =>
      [...sounds, ...(own ? [own] : [])].reduce((all, sound) => all + (sound[at + i] ?? 0), 0),
    );
    level.mix(sum, own?.subarray(at, at + frame) ?? null, out.subarray(at, at + frame));
  }
  return out;
}

const loudest = (samples: Int16Array) =>
  samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);

it('passes what one other party says unchanged, without the own voice', () => {
  const other = tone(700, 1600);
  expect(mixed([other], tone(1100, 1600))).toEqual(other);
});

it('turns a sum down that is too loud, without distortion', () => {
  const loud = tone(500, 8000).map((sample) => Math.round((sample * 30_000) / loudest(tone(500, 8000))));
  const out = mixed([loud, loud, loud]);
  const settled = out.subarray(800);
  expect(loudest(settled)).toBeLessThan(30_500);
  expect(loudest(settled)).toBeGreaterThan(25_000);
  expect(share(settled, 500)).toBeGreaterThan(0.99);
});

it('regains its loudness slowly after a loud moment', () => {
  const quiet = new Int16Array(80 * frame).fill(1000);
  const burst = new Int16Array(quiet.length);
  burst.fill(32_000, 0, frame);
  const other = new Int16Array(quiet.length);
  other.fill(32_000, 0, frame);
  const out = mixed([quiet, burst, other]);
  const at = (turn: number) => out[turn * frame + frame - 1] ?? 0;
  expect(at(1)).toBeLessThan(600);
  expect(at(10)).toBeGreaterThan(at(1));
  expect(at(70)).toBe(1000);
});
