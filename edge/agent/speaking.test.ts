import { expect, it } from 'vitest';
import type { TextToSpeech } from '#shared/models/speech.ts';
import { settle } from '../../test/kit/edge/agent.ts';
import { Speaking } from './speaking.ts';

const english = { voice: null, language: 'en-US', sampleRate: 8000 } as const;
const frameSamples = 160;

/** A voice whose samples count up, in pieces of this length. */
function voiceOf(pieceSamples: number): TextToSpeech {
  return {
    synthesize: async () => new Int16Array(0),
    stream: async function* (text) {
      const samples = Int16Array.from({ length: text.length * frameSamples }, (_, at) => 1000 + at);
      for (let at = 0; at < samples.length; at += pieceSamples) yield samples.slice(at, at + pieceSamples);
    },
    close: async () => undefined,
  };
}

/** The last sample of each frame. */
function play(speaking: Speaking, frames: number): number[] {
  return Array.from({ length: frames }, () => {
    const frame = new Int16Array(frameSamples);
    return speaking.read(frame) ? (frame.at(-1) ?? 0) : 0;
  });
}

const text = { text: 'seventeen elephants' };
const whole = text.text.length;
const last = (frame: number) => 999 + frame * frameSamples;

it.each([
  { pieces: 'at once', samples: whole * frameSamples },
  { pieces: 'in pieces of 20 ms', samples: frameSamples },
  { pieces: 'in pieces of 7 ms', samples: 56 },
])('says the word again that was cut by a long pause, of a speech that came $pieces', async ({ samples }) => {
  const speaking = new Speaking(voiceOf(samples), english, 60);
  const heard: string[] = [];
  const said = speaking.say(text, (words) => void heard.push(words));
  await settle();
  await said;
  expect(play(speaking, 14).at(-1)).toBe(last(14));
  speaking.hold();
  expect(play(speaking, 2)).toEqual([0, 0]);
  speaking.resume(1500);
  // "elephants" begins after half of the letters, and so after ten of nineteen frames.
  expect(play(speaking, 1)).toEqual([last(11)]);
  const left = speaking.leftMs / 20;
  expect(left).toBe(whole - 11);
  expect(play(speaking, left).at(-1)).toBe(last(whole));
  expect(play(speaking, 1)).toEqual([0]);
  speaking.stop();
  expect(heard).toEqual([]);
});

it('goes on at the sample at which it was held for a short time', async () => {
  const speaking = new Speaking(voiceOf(56), english, 60);
  await speaking.say(text, () => {});
  play(speaking, 14);
  speaking.hold();
  speaking.resume(400);
  expect(play(speaking, 2).at(-1)).toBe(last(16));
});

it('makes nothing any more when the call is over: not what was begun, and not what is begun later', async () => {
  const signals: AbortSignal[] = [];
  const voice: TextToSpeech = {
    ...voiceOf(160),
    stream: async function* (_text, _options, signal) {
      signals.push(signal);
      await new Promise((_resolve, reject) => signal.addEventListener('abort', reject));
      yield new Int16Array(0);
    },
  };
  const speaking = new Speaking(voice, english, 60);
  speaking.begin({ text: 'one' });
  const said = speaking.say({ text: 'two' }, () => undefined);
  speaking.close();
  speaking.begin({ text: 'three' });
  await speaking.ready({ text: 'four' });
  expect(await said).toBe(0);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});
