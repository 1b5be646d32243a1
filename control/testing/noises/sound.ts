/** The sound of a noise: read from a WAV file, and kept as a telephone carries it. */
import { g711 } from '#shared/g711.ts';
import { dbovOf, squaresOf } from '#shared/level.ts';
import { resample } from '#shared/models/resample.ts';
import { SpeechError } from '#shared/models/speech.ts';
import { readWav, writeWav } from '#shared/models/wav.ts';

const rate = 8000;
/** Of files, Hz; other rates would need a filter each. */
const rates = [8000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
const leastSeconds = 1;
const mostSeconds = 30;
/** A quieter one is no noise: brought to its level, it would be the hiss of its recording. */
const quietestDbov = -60;

export type NoiseSound =
  | { readonly ok: true; readonly audio: string; readonly seconds: number }
  | { readonly ok: false; readonly problem: string };

/** @param wav base64 @returns the sound as mu-law at 8 kHz, base64 */
export async function soundOf(wav: string): Promise<NoiseSound> {
  const no = (problem: string) => ({ ok: false as const, problem });
  let file: ReturnType<typeof readWav>;
  try {
    file = readWav(Buffer.from(wav, 'base64'));
  } catch (error) {
    if (error instanceof SpeechError)
      return no(`is ${error.message.replace(/^the WAV file /, 'a file that ')}`);
    throw error;
  }
  const { sampleRate, samples } = file;
  if (!rates.includes(sampleRate)) return no(`has ${sampleRate} samples per second, not ${rates.join(', ')}`);
  const seconds = samples.length / sampleRate;
  if (seconds < leastSeconds || seconds > mostSeconds)
    return no(`has a length of ${seconds.toFixed(1)} s, not ${leastSeconds} to ${mostSeconds} s`);
  if (dbovOf(squaresOf(samples), samples.length) < quietestDbov)
    return no(`is quieter than ${quietestDbov} dBov on average`);
  const narrow = await resample(samples, sampleRate, rate);
  const { fromLinear } = g711.PCMU;
  const audio = Buffer.from(Uint8Array.from(narrow, (sample) => fromLinear[sample & 0xffff] ?? 0));
  return { ok: true, audio: audio.toString('base64'), seconds: Math.round(seconds * 10) / 10 };
}

/** @param audio as {@link soundOf} returns it @returns a WAV file */
export function wavOf(audio: string): Buffer {
  const { toLinear } = g711.PCMU;
  const samples = Int16Array.from(Buffer.from(audio, 'base64'), (octet) => toLinear[octet] ?? 0);
  return Buffer.from(writeWav({ samples, sampleRate: rate }));
}
