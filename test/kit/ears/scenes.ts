/**
 * Sound of callers with known truth: spoken sentences with pauses, quiet, in noise, in music, with losses, with our own
 * sound coming back. The same seed gives the same samples.
 */
import type { TextToSpeech } from '#shared/models/speech.ts';
import { framesOf } from '../fakes/sounds.ts';

const rate = 8000;
const frame = 160;

const sentences = [
  'I would like to speak to somebody about my last bill.',
  'Yes.',
  'My account number is four seven one one.',
  'Can you tell me when my order will arrive?',
  'No, thank you.',
  'Seven.',
  'The appointment on Tuesday does not work for me any more.',
  'Stop.',
  'It is the house with the green door, behind the station.',
  'Hello? Are you still there?',
];

export interface Scene {
  readonly received: Int16Array;
  /** What we send at the same time; absent: silence. */
  readonly sent?: Int16Array;
  /** For each frame of 20 ms: whether the caller speaks. */
  readonly speaks: readonly boolean[];
  /** Frames in which the caller begins an utterance. */
  readonly begins: readonly number[];
}

/** A generator of numbers from 0 to 1, the same for the same seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

interface Spoken {
  readonly samples: Int16Array;
  readonly speaks: readonly boolean[];
  readonly begins: readonly number[];
}

/** Voices of callers, and ours. */
const callers = ['slt', 'awb', 'kal16'];
const agent = ['rms'];

/** Sentences in turn, each ten by one of the voices, with pauses of 1 to 2 s. */
async function spoken(
  tts: TextToSpeech,
  seed: number,
  sentencesSaid: number,
  voices: readonly string[],
): Promise<Spoken> {
  const next = random(seed);
  const parts: Int16Array[] = [silence(1)];
  for (let i = 0; i < sentencesSaid; i++) {
    const text = sentences[i % sentences.length] ?? '';
    const voice = voices[Math.floor(i / sentences.length) % voices.length] ?? null;
    parts.push(level(await tts.synthesize(text, { voice, language: 'en-US', sampleRate: rate }), -20));
    parts.push(silence(1 + next()));
  }
  const samples = whole(parts);
  // Loud enough to be heard, compared with the speech around it.
  const loud = framesOf(samples).map((one) => rms(one) > 60);
  const begins = loud.flatMap((is, i) =>
    is && !loud.slice(Math.max(0, i - 40), i).includes(true) ? [i] : [],
  );
  return { samples, speaks: loud, begins };
}

/** Sound at this level, dB below the loudest. */
export function level(samples: Int16Array, db: number): Int16Array {
  const loud = framesOf(samples)
    .map(rms)
    .filter((one) => one > 60);
  const now = Math.sqrt(loud.reduce((sum, one) => sum + one * one, 0) / Math.max(1, loud.length));
  const gain = (32_768 * 10 ** (db / 20)) / Math.max(1, now);
  return samples.map((sample) => clip(sample * gain));
}

/** @param db added to the level */
function scaled(samples: Int16Array, db: number): Int16Array {
  const gain = 10 ** (db / 20);
  return samples.map((sample) => clip(sample * gain));
}

function mixed(...all: readonly Int16Array[]): Int16Array {
  return (all[0] ?? new Int16Array(0)).map((_, i) => clip(all.reduce((sum, one) => sum + (one[i] ?? 0), 0)));
}

/** Noise of a street: low, with swells of passing cars and some clatter. @param db of its mean level */
export function street(samples: number, db: number, seed: number): Int16Array {
  const next = random(seed);
  let low = 0;
  const raw = Float64Array.from({ length: samples }, (_, i) => {
    low = 0.92 * low + (next() - 0.5);
    const swell = 0.6 + 0.4 * Math.sin((2 * Math.PI * i) / (rate * 7.3));
    const clatter = next() < 0.00004 ? 8 * (next() - 0.5) : 0;
    return swell * low + clatter;
  });
  return toLevel(raw, db);
}

/** Noise of a line: white and weak. */
function hiss(samples: number, db: number, seed: number): Int16Array {
  const next = random(seed);
  return toLevel(
    Float64Array.from({ length: samples }, () => next() - 0.5),
    db,
  );
}

/** Music: chords of tones with overtones, a new one every 400 ms. */
export function music(samples: number, db: number, seed: number): Int16Array {
  const next = random(seed);
  const length = rate * 0.4;
  let chord: number[] = [];
  const raw = Float64Array.from({ length: samples }, (_, i) => {
    const at = i % length;
    if (at === 0) chord = [0, 4, 7].map((step) => 220 * 2 ** ((Math.floor(next() * 12) + step) / 12));
    const decay = Math.exp((-2 * at) / length);
    return (
      decay * chord.reduce((sum, hz) => sum + tone(hz, i) + tone(2 * hz, i) / 2 + tone(3 * hz, i) / 3, 0)
    );
  });
  return toLevel(raw, db);
}

/** Packets lost in bursts, concealed by fading out the last one. @param share of frames lost */
function lossy(samples: Int16Array, share: number, seed: number): Int16Array {
  const next = random(seed);
  const out = samples.slice();
  let burst = 0;
  for (let at = frame; at + frame <= out.length; at += frame) {
    if (burst === 0 && next() < share / 2) burst = 1 + Math.floor(next() * 3);
    if (burst === 0) continue;
    burst--;
    for (let i = 0; i < frame; i++) out[at + i] = clip((out[at - frame + i] ?? 0) * (1 - i / frame));
  }
  return out;
}

/** What comes back of our sound: later, weaker, and coloured by the line. */
function echoOf(sent: Int16Array, lossDb: number, delayMs: number): Int16Array {
  const gain = 10 ** (-lossDb / 20);
  const delay = delayMs * 8;
  let before = 0;
  return sent.map((_, i) => {
    const now = sent[i - delay] ?? 0;
    const coloured = 0.75 * now + 0.25 * before + 0.2 * (sent[i - delay - 21] ?? 0);
    before = now;
    return clip(gain * coloured);
  });
}

function silence(seconds: number): Int16Array {
  return new Int16Array(Math.round((seconds * rate) / frame) * frame);
}

function whole(parts: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function tone(hz: number, i: number): number {
  return Math.sin((2 * Math.PI * hz * i) / rate);
}

function toLevel(raw: Float64Array, db: number): Int16Array {
  const now = Math.sqrt(raw.reduce((sum, one) => sum + one * one, 0) / Math.max(1, raw.length));
  const gain = (32_768 * 10 ** (db / 20)) / Math.max(1e-9, now);
  return Int16Array.from(raw, (one) => clip(one * gain));
}

function rms(one: Int16Array): number {
  let sum = 0;
  for (const sample of one) sum += sample * sample;
  return Math.sqrt(sum / Math.max(1, one.length));
}

function clip(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}

/** The usual scenes, by name. */
export async function scenes(
  tts: TextToSpeech,
  seed = 1,
  sentencesSaid = 20,
): Promise<Record<string, Scene>> {
  const { samples, speaks, begins } = await spoken(tts, seed, sentencesSaid, callers);
  const n = samples.length;
  const line = hiss(n, -66, seed);
  const caller = (received: Int16Array, more: Partial<Scene> = {}) => ({ received, speaks, begins, ...more });
  const nobody = (received: Int16Array, more: Partial<Scene> = {}) => ({
    received,
    speaks: speaks.map(() => false),
    begins: [],
    ...more,
  });
  // Our own sentences, at other times than the caller's.
  const ours = (await spoken(tts, seed + 1, sentencesSaid, agent)).samples.subarray(0, n);
  const sent = mixed(new Int16Array(n), ours);
  const echoed = (lossDb: number) => mixed(echoOf(sent, lossDb, 120), line);
  return {
    clean: caller(mixed(samples, line)),
    'quiet caller, -20 dB': caller(mixed(scaled(samples, -20), line)),
    'loss of 5 %': caller(lossy(mixed(samples, line), 0.05, seed)),
    'street noise at 10 dB': caller(mixed(samples, street(n, -30, seed))),
    'street noise at 0 dB': caller(mixed(samples, street(n, -20, seed))),
    'music at 10 dB': caller(mixed(samples, music(n, -30, seed))),
    'line noise alone': nobody(line),
    'street noise alone': nobody(street(n, -30, seed)),
    'music alone': nobody(music(n, -25, seed)),
    'echo at 15 dB': nobody(echoed(15), { sent }),
    'echo at 25 dB': nobody(echoed(25), { sent }),
    'echo at 40 dB': nobody(echoed(40), { sent }),
    'caller over an echo at 15 dB': caller(mixed(samples, echoed(15)), { sent }),
    'caller over an echo at 30 dB': caller(mixed(samples, echoed(30)), { sent }),
  };
}
