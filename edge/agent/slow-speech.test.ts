/** Speech that comes more slowly than it plays, whatever the voice: heard in stretches, not in scraps, and nothing is lost. */
import { expect, it } from 'vitest';
import { joinedPieces, SpeechError } from '#shared/models/speech.ts';
import { settle } from '../../test/kit/edge/agent.ts';
import { Speaking } from './speaking.ts';
import { PieceStream } from './voice/piece-stream.ts';

const english = { voice: null, language: 'en-US', sampleRate: 8000 } as const;
const frameSamples = 160;
/** No sample is like its neighbours. */
const sampleAt = (position: number) => 1000 + (position % 30_000);

/** A voice whose sound comes by order of the test; its samples count up. */
class Scene {
  sound = new PieceStream<Int16Array>();
  readonly speaking: Speaking;
  readonly cutOff: string[] = [];
  #made = 0;

  constructor() {
    const stream = (_text: string, _options: object, signal: AbortSignal) => {
      const { sound } = this;
      signal.addEventListener('abort', () => sound.fail(new SpeechError('not wanted')));
      return sound;
    };
    const voice = { synthesize: async () => new Int16Array(0), stream, close: async () => undefined };
    this.speaking = new Speaking(voice, english, 60);
  }

  say(text: string): Promise<number | string> {
    this.sound = new PieceStream();
    const said = this.speaking.say({ text }, (heard) => void this.cutOff.push(heard));
    return said.catch((error: Error) => error.message);
  }

  make(frames: number): void {
    this.sound.push(Int16Array.from({ length: frames * frameSamples }, () => sampleAt(this.#made++)));
  }

  /** @returns the samples of each frame; null: silence */
  async play(frames: number): Promise<(Int16Array | null)[]> {
    const played: (Int16Array | null)[] = [];
    for (let frame = 0; frame < frames; frame++) {
      await settle();
      const samples = new Int16Array(frameSamples);
      played.push(this.speaking.read(samples) ? samples : null);
    }
    return played;
  }
}

/** Lengths of the stretches of sound between silences, as frames. */
function stretches(played: readonly (Int16Array | null)[]): number[] {
  const marks = played.map((frame) => (frame ? 's' : ' ')).join('');
  return marks
    .split(/ +/)
    .filter(Boolean)
    .map(({ length }) => length);
}

const text = 'one two three four five six seven eight nine ten';

it('is heard in stretches that grow to a second, each sample once and in order', async () => {
  const scene = new Scene();
  const said = scene.say(text);
  const played: (Int16Array | null)[] = [];
  // 100 ms of sound each 160 ms.
  for (let piece = 0; piece < 60; piece++) {
    scene.make(5);
    played.push(...(await scene.play(8)));
  }
  scene.sound.end();
  played.push(...(await scene.play(200)));
  expect(await said).toBe(0);
  const [first, second = 0, third = 0, fourth = 0, ...more] = stretches(played);
  expect(first).toBe(5);
  expect(second).toBeGreaterThanOrEqual(10);
  expect(third).toBeGreaterThanOrEqual(20);
  expect(fourth).toBeGreaterThanOrEqual(40);
  const last = more.pop();
  for (const frames of more) expect(frames).toBeGreaterThanOrEqual(50);
  expect(last).toBeGreaterThan(0);
  // None waits for more than a second of sound.
  for (const frames of [second, third, fourth, ...more]) expect(frames).toBeLessThanOrEqual(140);
  const heard = joinedPieces(played.filter((frame) => frame !== null));
  expect(heard.length).toBe(60 * 5 * frameSamples);
  expect(heard.findIndex((sample, at) => sample !== sampleAt(at))).toBe(-1);
  expect(scene.cutOff).toEqual([]);
});

it('plays its first sound at once, of the next text too', async () => {
  const scene = new Scene();
  for (const words of ['one', 'two']) {
    const said = scene.say(words);
    expect(stretches(await scene.play(20))).toEqual([]);
    scene.make(2);
    expect(stretches(await scene.play(20))).toEqual([2]);
    scene.make(2);
    expect(stretches(await scene.play(20))).toEqual([]);
    scene.sound.end();
    await said;
    expect(stretches(await scene.play(20))).toEqual([2]);
  }
});

it('that fails is heard as far as it came', async () => {
  const scene = new Scene();
  const said = scene.say(text);
  scene.make(20);
  await scene.play(30);
  scene.make(5);
  expect(stretches(await scene.play(10))).toEqual([]);
  scene.sound.fail(new SpeechError('closed the connection'));
  expect(await said).toBe('closed the connection');
  expect(stretches(await scene.play(10))).toEqual([5]);
  expect(scene.cutOff).toEqual(['one two']);
});

it('that is stopped in a gap has told what sounded before, and the next text is heard', async () => {
  const scene = new Scene();
  const said = scene.say(text);
  scene.make(40);
  await scene.play(50);
  scene.make(5);
  await scene.play(2);
  expect(scene.speaking.playing).toBe(true);
  scene.speaking.stop();
  expect(scene.cutOff).toEqual(['one two three']);
  expect(await said).toBe(0);
  void scene.say('next');
  scene.make(3);
  expect(stretches(await scene.play(5))).toEqual([3]);
});

it('can be interrupted in a gap before anything was gathered, and is over when all of it was said', async () => {
  const scene = new Scene();
  const said = scene.say(text);
  scene.make(2);
  await scene.play(5);
  expect(scene.speaking.playing).toBe(true);
  scene.sound.end();
  await said;
  expect(scene.speaking.playing).toBe(false);
});
