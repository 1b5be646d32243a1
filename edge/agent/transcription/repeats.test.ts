/** A server of transcriptions that tells what is final more than once. */
import { afterEach, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { DeepgramServer } from '../../../test/kit/speech/deepgram-server.ts';
import { LiveScene, providerAt } from '../../../test/kit/speech/live-scene.ts';
import { deepgram } from './deepgram.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

it('has its words handed over once, and once more when they are said once more', async () => {
  const clock = new FakeClock();
  const server = new DeepgramServer(clock);
  open.push(await server.listen());
  server.finalsSent = 3;
  const scene = new LiveScene([providerAt(deepgram, server.url, 'nova-3', clock)], clock);
  open.push(scene.transcription);
  await scene.say('yes please');
  expect(await scene.texts(1)).toEqual(['yes please']);
  await scene.say('yes please');
  expect(await scene.texts(2)).toEqual(['yes please', 'yes please']);
});
