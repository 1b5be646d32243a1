import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { type Clock, FakeClock, systemClock } from '#shared/clock.ts';
import { SpeechError } from '#shared/models/speech.ts';
import { RecordingLog } from '../../../test/kit/edge/agent.ts';
import { DeepgramServer } from '../../../test/kit/speech/deepgram-server.ts';
import { labKey } from '../../../test/kit/speech/lab-server.ts';
import { quiet, spoken } from '../../../test/kit/speech/words.ts';
import { deepgram } from './deepgram.ts';
import { transcriptionLimits } from './live-deps.ts';
import { ProviderChoice } from './provider-choice.ts';
import { socketProvider } from './socket-provider.ts';
import { createTranscriber, wholeUtterances } from './transcriber.ts';

let server: DeepgramServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

async function setUp(clock: Clock) {
  server = await new DeepgramServer(clock).listen();
  const provider = socketProvider(deepgram, { url: server.url, apiKey: labKey, model: 'nova-3' }, { clock });
  const transcriber = createTranscriber({
    choice: new ProviderChoice([provider], clock),
    clock,
    log: new RecordingLog(),
    meter: { count: () => undefined, took: () => undefined },
    limits: { ...transcriptionLimits, maxKeptSeconds: 125 },
  });
  return { server, stt: wholeUtterances(transcriber) };
}

const samplesOf = (frames: readonly Int16Array[]) => Int16Array.from(frames.flatMap((frame) => [...frame]));

it('transcribes audio that is complete, longer than a server reads at once, with one connection', async () => {
  const { server, stt } = await setUp(systemClock);
  const samples = samplesOf([
    ...spoken('book a table'),
    ...quiet(60_000),
    ...spoken('for two'),
    ...quiet(40),
  ]);
  const options = { sampleRate: 8000, language: 'en-US' };
  expect(await stt.transcribe(samples, options)).toBe('book a table for two');
  await expect.poll(() => server.open).toBe(0);
  expect([server.connections, server.violations]).toEqual([1, []]);
});

it('rejects with the reason when the server cannot be used', async () => {
  const clock = new FakeClock();
  const { server, stt } = await setUp(clock);
  server.faults.refuse = 402;
  const transcribed = stt.transcribe(samplesOf(spoken('yes')), { sampleRate: 8000, language: 'en-US' });
  while (server.refused < 2) await nextTurn();
  clock.advance(2 * transcriptionLimits.giveUpMs);
  await expect(transcribed).rejects.toThrow(SpeechError);
  await expect(transcribed).rejects.toThrow('answered 402 out of order');
});
