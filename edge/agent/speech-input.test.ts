/** Live words from real servers of the laboratory, heard by an ear that takes loud sounds for voices. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { anyTurn, type TurnPlan } from '#shared/agent/turn-plan.ts';
import { FakeClock } from '#shared/clock.ts';
import { loudVoices } from '../../test/kit/ears/loud-voices.ts';
import { RecordingLog, settle } from '../../test/kit/edge/agent.ts';
import { setUp as agentSetUp } from '../../test/kit/edge/pathway-agent.ts';
import { DeepgramServer } from '../../test/kit/speech/deepgram-server.ts';
import { FluxServer } from '../../test/kit/speech/flux-server.ts';
import { providerAt } from '../../test/kit/speech/live-scene.ts';
import { quiet, spoken } from '../../test/kit/speech/words.ts';
import { wireSettled } from '../../test/kit/wire.ts';
import type { VoiceDetectors } from './ears/voice-detector.ts';
import { SpeechInput } from './speech-input.ts';
import { deepgram } from './transcription/deepgram.ts';
import { deepgramFlux } from './transcription/deepgram-flux.ts';
import { transcriptionLimits } from './transcription/live-deps.ts';
import type { TranscriptionProvider } from './transcription/provider.ts';
import { ProviderChoice } from './transcription/provider-choice.ts';
import { createTranscriber } from './transcription/transcriber.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

function transcriberAt(provider: TranscriptionProvider, clock: FakeClock) {
  return createTranscriber({
    choice: new ProviderChoice([provider], clock),
    clock,
    log: new RecordingLog(),
    meter: { count: () => undefined, took: () => undefined },
    limits: transcriptionLimits,
  });
}

const deafEars: VoiceDetectors = {
  limits: loudVoices.limits,
  tellsNoise: false,
  load: async () => undefined,
  create: (_, judged) => ({ write: () => judged(20, 0, 0, false), close: () => undefined }),
};

async function setUp(kind: 'deepgram' | 'flux', voices = loudVoices) {
  const clock = new FakeClock();
  const server = kind === 'flux' ? new FluxServer() : new DeepgramServer(clock);
  open.push(await server.listen());
  const provider =
    kind === 'flux'
      ? providerAt(deepgramFlux, server.url, 'flux-general-en', clock)
      : providerAt(deepgram, server.url, 'nova-3', clock);
  const seen: string[] = [];
  const input = new SpeechInput(
    {
      voices,
      sampleRate: 8000,
      language: 'en-US',
      keyTerms: [],
      recognizer: { transcribe: async () => 'nobody asks' },
      transcriber: transcriberAt(provider, clock),
      log: new RecordingLog(),
    },
    {
      begins: () => undefined,
      speaking: () => undefined,
      firstSound: () => undefined,
      paused: () => undefined,
      wordsSoFar: (text) => seen.push(`so far: ${text}`),
      mayBeAll: () => undefined,
      goesOn: () => undefined,
      finished: () => seen.push('finished'),
      words: ({ text }) => seen.push(`words: ${text}`),
      failed: () => seen.push('failed'),
    },
  );
  await input.prepare();
  open.push(input);
  /** @returns ms until the turn has ended, at most those of the frames */
  const hear = async (frames: readonly Int16Array[]) => {
    for (const [index, frame] of frames.entries()) {
      input.write(frame);
      clock.advance(20);
      await wireSettled();
      if (seen.includes('finished')) return index * 20;
    }
    return frames.length * 20;
  };
  const words = async () => {
    while (!seen.at(-1)?.startsWith('words: ')) await nextTurn();
    return seen.splice(0);
  };
  return { server, input, hear, words, seen };
}

describe('words while the caller speaks', () => {
  it('end a turn after a short pause when they answer the question', async () => {
    const { input, hear, words, seen } = await setUp('deepgram');
    input.plan = { ...anyTurn, expects: 'yes_no' } satisfies TurnPlan;
    await hear(spoken('yes please'));
    while (!seen.includes('so far: yes please')) await hear(quiet(20));
    expect(await hear(quiet(2000))).toBeLessThan(300);
    expect((await words()).slice(-2)).toEqual(['finished', 'words: yes please']);
  });

  it('end a turn when the provider knows that it has ended', async () => {
    const { server, hear, words } = await setUp('flux');
    if (server instanceof FluxServer) server.endMs = 320;
    await hear(spoken('book a table'));
    expect(await hear(quiet(2000))).toBeLessThan(500);
    expect((await words()).slice(-2)).toEqual(['finished', 'words: book a table']);
  });

  it('do not end a turn of digits by the opinion of the provider', async () => {
    const { server, input, hear } = await setUp('flux');
    if (server instanceof FluxServer) server.endMs = 320;
    input.plan = { ...anyTurn, expects: 'digits' };
    await hear(spoken('two'));
    expect(await hear(quiet(800))).toBe(800);
  });

  it('are understood even if the ear has not noticed the voice', async () => {
    const { hear, words } = await setUp('flux', deafEars);
    await hear(spoken('yes please'));
    await hear(quiet(2000));
    expect((await words()).slice(-2)).toEqual(['finished', 'words: yes please']);
  });

  it('interrupt the agent as soon as one of them is more than "mhm"', async () => {
    const clock = new FakeClock();
    const server = await new DeepgramServer(clock).listen();
    open.push(server);
    const { agent, host, begin } = agentSetUp({
      clock,
      stt: { transcribe: async () => '' },
      transcriber: transcriberAt(providerAt(deepgram, server.url, 'nova-3', clock), clock),
      settings: { first_sentence: 'x'.repeat(400), interruption_threshold: 100_000 },
    });
    open.push({ close: () => agent.close('over') });
    await begin();
    const frame = new Int16Array(160);
    for (const one of [...quiet(200), ...spoken('book a table')]) {
      agent.read(frame);
      agent.write?.(one);
      clock.advance(20);
      await wireSettled();
    }
    while (!host.lines('agent-action').includes('agent-action: Interrupted by the caller')) await nextTurn();
    await settle();
    expect(agent.read(frame)).toBe(false);
  });
});
