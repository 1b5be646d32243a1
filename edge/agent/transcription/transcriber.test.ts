import { afterEach, expect, it } from 'vitest';
import { systemClock } from '#shared/clock.ts';
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

async function setUp(giveUpMs: number) {
  server = await new DeepgramServer(systemClock).listen();
  const provider = socketProvider(
    deepgram,
    { url: server.url, apiKey: labKey, model: 'nova-3' },
    { clock: systemClock },
  );
  const transcriber = createTranscriber({
    choice: new ProviderChoice([provider], systemClock),
    clock: systemClock,
    log: new RecordingLog(),
    meter: { count: () => undefined, took: () => undefined },
    limits: { ...transcriptionLimits, giveUpMs, maxKeptSeconds: 125 },
  });
  return { server, stt: wholeUtterances(transcriber) };
}

const samplesOf = (frames: readonly Int16Array[]) => Int16Array.from(frames.flatMap((frame) => [...frame]));

it('transcribes audio that is complete, longer than a server reads at once, with one connection', async () => {
  const { server, stt } = await setUp(8000);
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
  const { server, stt } = await setUp(50);
  server.faults.refuse = 402;
  const transcribed = stt.transcribe(samplesOf(spoken('yes')), { sampleRate: 8000, language: 'en-US' });
  await expect(transcribed).rejects.toThrow(SpeechError);
  await expect(transcribed).rejects.toThrow('answered 402 out of order');
});
