/** Servers of transcriptions that are connected late, or are connected and never answer: no words are lost while there is another way. */
import { afterEach, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { DeepgramServer } from '../../../test/kit/speech/deepgram-server.ts';
import { FluxServer } from '../../../test/kit/speech/flux-server.ts';
import { LiveScene, providerAt } from '../../../test/kit/speech/live-scene.ts';
import { deepgram } from './deepgram.ts';
import { deepgramFlux } from './deepgram-flux.ts';
import type { TranscriptionProvider } from './provider.ts';
import { noWords } from './transcription.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

async function setUp() {
  const clock = new FakeClock();
  const [first, second] = [new FluxServer(), new DeepgramServer(clock)];
  open.push(await first.listen(), await second.listen());
  const one = providerAt(deepgramFlux, first.url, 'flux-general-en', clock);
  const other = providerAt(deepgram, second.url, 'nova-3', clock);
  const scene = new LiveScene([one, other], clock);
  open.push(scene.transcription);
  return { first, second, scene };
}

it('has the words of a turn when its server can be reached again later than it usually answers', async () => {
  const clock = new FakeClock();
  let isAway = true;
  const server: TranscriptionProvider = {
    name: 'server',
    continuous: false,
    pieceMs: 20,
    finalWithinMs: 1000,
    connect: async (_options, events) => {
      if (isAway) throw new Error('away');
      const end = () =>
        clock.after(500, () => {
          events.settled({ ...noWords, text: 'yes please' }, null);
          events.finished(null);
        });
      return { bufferedBytes: 0, audio: () => undefined, end, close: () => undefined };
    },
  };
  const scene = new LiveScene([server], clock);
  open.push(scene.transcription);
  await scene.say('yes please');
  await scene.pass(server.finalWithinMs + 1000);
  expect(scene.finals).toEqual([]);
  isAway = false;
  await scene.pass(5000);
  expect(await scene.texts(1)).toEqual(['yes please']);
  expect(scene.failures).toEqual([]);
});

it('has the words of a turn from the next server when the first does not answer', async () => {
  const { first, second, scene } = await setUp();
  first.faults.mute = true;
  await scene.say('yes please');
  await scene.pass(deepgramFlux.finalWithinMs + 500);
  expect(await scene.texts(1)).toEqual(['yes please']);
  await scene.say('thanks');
  expect(await scene.texts(2)).toEqual(['yes please', 'thanks']);
  expect([first.connections, second.connections]).toEqual([1, 1]);
  expect(scene.failures).toEqual([]);
});
