/**
 * Agents whose audio arrives from an outside server slower than it plays: it is heard in stretches, not in scraps, for every
 * protocol, and whether or not the server reports the end of the audio.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { arrived, streamScene } from '../../test/kit/edge/stream-agent.ts';
import { ElevenLabsAgentsServer } from '../../test/kit/speech/elevenlabs-agents-server.ts';
import { GeminiLiveServer } from '../../test/kit/speech/gemini-live-server.ts';
import { OpenAiRealtimeServer } from '../../test/kit/speech/openai-realtime-server.ts';
import { RealtimeScene } from '../../test/kit/speech/realtime-scene.ts';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});
const { listen, begun } = streamScene();

/** An agent whose server has accepted the call. */
interface Source {
  /** So much sound comes, as frames of 20 ms, and nothing else; resolves when the agent has it. */
  send(frames: number): Promise<void>;
  /** More sound is another answer. */
  next(): Promise<void>;
  /** @returns whether it has sound */
  play(): boolean;
}

const pcm = (rate: number, frames: number) => {
  const samples = new Int16Array((rate / 50) * frames).fill(1000);
  return Buffer.from(samples.buffer).toString('base64');
};
const muLaw = (frames: number) => Buffer.alloc(160 * frames, 0x80).toString('base64');

const realtime = {
  openai: {
    server: () => new OpenAiRealtimeServer(),
    sound: (frames: number, answer: number): object => ({
      type: 'response.output_audio.delta',
      item_id: `item-${answer}`,
      delta: muLaw(frames),
    }),
    heard: (transcript: string): object => ({
      type: 'conversation.item.input_audio_transcription.completed',
      item_id: 'i',
      transcript,
    }),
  },
  gemini: {
    server: () => new GeminiLiveServer(),
    sound: (frames: number): object => {
      const inlineData = { mimeType: 'audio/pcm;rate=24000', data: pcm(24_000, frames) };
      return { serverContent: { modelTurn: { parts: [{ inlineData }] } } };
    },
    heard: (text: string): object => ({
      serverContent: { inputTranscription: { text }, turnComplete: true },
    }),
  },
  elevenlabs: {
    server: () => new ElevenLabsAgentsServer(),
    sound: (frames: number): object => ({
      type: 'audio',
      audio_event: { audio_base_64: muLaw(frames), event_id: 1 },
    }),
    heard: (user_transcript: string): object => ({
      type: 'user_transcript',
      user_transcription_event: { user_transcript, event_id: 1 },
    }),
  },
};

async function realtimeSource(protocol: keyof typeof realtime): Promise<Source> {
  const { server, sound, heard } = realtime[protocol];
  const lab = await server().listen();
  open.push(lab);
  const scene = new RealtimeScene(protocol, lab, { settings: { wait_for_greeting: true } });
  open.push({ close: () => scene.agent.close('the test is over') });
  await scene.begin();
  let answer = 0;
  return {
    send: async (frames) => {
      const before = scene.agent.queuedMs;
      lab.emit(sound(frames, answer));
      // A resampler keeps a few samples.
      await scene.until('the sound', () => scene.agent.queuedMs >= before + 20 * frames - 5);
    },
    next: async () => {
      const words = `turn ${++answer}`;
      lab.emit(heard(words));
      await scene.until('the words', () => scene.lines.includes(`user: ${words}`));
    },
    play: () => scene.play(1) > 0,
  };
}

async function streamSource(): Promise<Source> {
  const { agent, bot } = await begun({ server: await listen() });
  return {
    send: async (frames) => {
      bot.send({ event: 'media', streamSid: 'stream-1', media: { payload: muLaw(frames) } });
      await arrived(bot, agent);
    },
    // It has no answers: a pause parts what it says.
    next: async () => void playFor(agent, 50),
    play: () => playFor(agent, 1) === 's',
  };
}

const playFor = (agent: { read(frame: Int16Array): boolean }, frames: number) =>
  Array.from({ length: frames }, () => (agent.read(new Int16Array(160)) ? 's' : ' ')).join('');

/** Pieces that come again and again, and frames that are played after each. @returns s for each frame with sound */
async function heardOf(
  source: Source,
  pieces: number,
  of: { sound: number; every: number },
): Promise<string> {
  let played = '';
  for (let piece = 0; piece < pieces; piece++) {
    await source.send(of.sound);
    played += playedOf(source, of.every);
  }
  return played;
}

const playedOf = (source: Source, frames: number) =>
  Array.from({ length: frames }, () => (source.play() ? 's' : ' ')).join('');

const stretches = (played: string) =>
  played
    .split(/ +/)
    .filter(Boolean)
    .map(({ length }) => length);

describe.each([
  ['a stream agent', streamSource],
  ['a realtime agent with the protocol openai', () => realtimeSource('openai')],
  ['a realtime agent with the protocol gemini', () => realtimeSource('gemini')],
  ['a realtime agent with the protocol elevenlabs', () => realtimeSource('elevenlabs')],
])('%s', (_, sourceOf) => {
  it('whose server is slow is heard in stretches of 200 ms and more after the first gap', async () => {
    for (const of of [
      { sound: 5, every: 8 },
      { sound: 1, every: 2 },
      { sound: 1, every: 5 },
    ]) {
      const source = await sourceOf();
      const pieces = 200 / of.sound;
      const played = (await heardOf(source, pieces, of)) + playedOf(source, 120);
      const [first = 0, ...more] = stretches(played);
      expect(first).toBeLessThanOrEqual(of.sound + 1);
      // The last one is what was left.
      for (const frames of more.slice(0, -1)) expect(frames).toBeGreaterThanOrEqual(10);
      const heard = first + more.reduce((sum, frames) => sum + frames, 0);
      expect(heard).toBeGreaterThanOrEqual(199);
      expect(heard).toBeLessThanOrEqual(200 + 1 + more.length);
    }
  });

  it('is heard to the end within a second, although its server does not tell the end', async () => {
    const source = await sourceOf();
    await heardOf(source, 2, { sound: 2, every: 4 });
    const played = playedOf(source, 60);
    expect(stretches(played)).toEqual([2]);
    expect(played.indexOf('s')).toBeLessThanOrEqual(50);
  });

  it('begins its next answer at once, also after one with gaps', async () => {
    const source = await sourceOf();
    await heardOf(source, 4, { sound: 2, every: 8 });
    playedOf(source, 60);
    await source.next();
    await source.send(2);
    expect(playedOf(source, 4)).toMatch(/^s{2,3} +$/);
  });
});

it('a stream server that waits for its mark before it sends more waits for 0.2 s at most', async () => {
  const { agent, bot } = await begun({ server: await listen() });
  const echoed: number[] = [];
  for (let piece = 0; piece < 5; piece++) {
    bot.send({ event: 'media', streamSid: 'stream-1', media: { payload: muLaw(3) } });
    bot.send({ event: 'mark', streamSid: 'stream-1', mark: { name: `${piece}` } });
    await arrived(bot, agent);
    let frames = 0;
    for (let echo = false; !echo && frames < 100; frames++) {
      playFor(agent, 1);
      await arrived(bot, agent);
      echo = bot.arrived.length > 0;
    }
    echoed.push(frames);
    expect(await bot.next()).toMatchObject({ event: 'mark', mark: { name: `${piece}` } });
  }
  expect(Math.max(...echoed)).toBeLessThanOrEqual(3 + 10 + 1);
});

it('a mark of a stream server in a gap is echoed at once', async () => {
  const { agent, bot } = await begun({ server: await listen() });
  bot.send({ event: 'media', streamSid: 'stream-1', media: { payload: muLaw(2) } });
  await arrived(bot, agent);
  playFor(agent, 5);
  bot.send({ event: 'mark', streamSid: 'stream-1', mark: { name: 'gap' } });
  await arrived(bot, agent);
  playFor(agent, 2);
  await arrived(bot, agent);
  expect(bot.arrived.length).toBe(1);
});
