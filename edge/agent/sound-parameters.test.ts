/** Servers of speech get and make sound in the format of the call, whatever the address in the settings says of it. */
import { expect, it } from 'vitest';
import { deepgram } from './transcription/deepgram.ts';
import { deepgramFlux } from './transcription/deepgram-flux.ts';
import { deepgramSpeak } from './voice/deepgram-speak.ts';
import { elevenLabs } from './voice/elevenlabs.ts';

const odd = 'encoding=mulaw&encoding=opus&sample_rate=48000&channels=2&output_format=mp3_44100_128&speed=1.2';
const server = { url: new URL(`wss://speech.example/v1?${odd}`), apiKey: null, model: 'm' };
const call = { sampleRate: 8000, language: 'en-US', voice: null, keyTerms: [] } as const;

it.each([
  ['Deepgram, listening', deepgram, { encoding: ['linear16'], sample_rate: ['8000'], channels: ['1'] }],
  ['Deepgram Flux', deepgramFlux, { encoding: ['linear16'], sample_rate: ['8000'] }],
  ['Deepgram, speaking', deepgramSpeak('ada'), { encoding: ['linear16'], sample_rate: ['8000'] }],
  ['ElevenLabs', elevenLabs('ada'), { output_format: ['pcm_8000'] }],
] as const)('%s', (_, protocol, format) => {
  const { searchParams } = protocol.url(server, call);
  const asked = Object.keys(format).map((name) => [name, searchParams.getAll(name)]);
  expect(Object.fromEntries(asked)).toEqual(format);
  expect(searchParams.get('speed')).toBe('1.2');
});
