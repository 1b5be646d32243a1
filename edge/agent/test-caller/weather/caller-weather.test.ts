import { expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { CallerWeather } from './caller-weather.ts';

const noise = { kind: 'given', noise_id: '6f1c1f5e-3a63-4f0e-9d62-0d7b8f8f2b11', snr_db: 10 } as const;

test('a call waits for the noise that is given, as long as it may', async () => {
  const clock = new FakeClock();
  const weather = new CallerWeather({ noise }, 1, clock);
  const waiting = weather.noiseArrives(5000);
  clock.advance(4999);
  weather.give(Buffer.alloc(160, 0x80).toString('base64'));
  await waiting;
  expect(clock.pending).toBe(0);
  const late = expect(new CallerWeather({ noise }, 1, clock).noiseArrives(5000)).rejects.toThrow(
    'control did not send the given noise',
  );
  clock.advance(5000);
  await late;
});

test('a call of any other weather does not wait', async () => {
  const clock = new FakeClock();
  await new CallerWeather({ noise: { kind: 'street', snr_db: 10 } }, 1, clock).noiseArrives(5000);
  await new CallerWeather({}, 1, clock).noiseArrives(5000);
  expect(clock.pending).toBe(0);
});
