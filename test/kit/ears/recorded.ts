/** Recorded human speech and music, from packages of Debian that a developer may install (docs/performance.md). */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readWav } from '#shared/models/wav.ts';

const sounds = '/usr/share/asterisk/sounds';
const music = '/usr/share/asterisk/moh';

/** Speakers by the folder of their recordings: all of them of one voice each, telephone sound at 8 kHz. */
export const speakers = {
  english: 'en_US_f_Allison',
  french: 'fr_CA_f_June',
  italian: 'it_IT_m_Carlo',
  russian: 'ru_RU_f_IvrvoiceRU',
} as const;
export type Speaker = keyof typeof speakers;

export const speechMissing =
  'recorded speech is not installed: apt-get install asterisk-core-sounds-en-wav (and -fr-wav, -it-wav, -ru-wav for more speakers)';

export interface Clip {
  readonly name: string;
  /** 8 kHz, without the silence before and after it */
  readonly samples: Int16Array;
}

/** Quieter than this is silence between recorded words. */
const audible = 150;
const perMs = 8;

export function isRecorded(speaker: Speaker): boolean {
  return existsSync(join(sounds, speakers[speaker]));
}

/**
 * Recordings of a speaker by length, in the order of their names; tones and other sounds are left out.
 * @param folder below the speaker's, such as `digits`
 */
export async function recordings(
  speaker: Speaker,
  { from, to }: { readonly from: number; readonly to: number },
  folder = '',
): Promise<Clip[]> {
  const all = await clipsOf(join(sounds, speakers[speaker], folder));
  return all.filter(({ samples }) => samples.length >= from * perMs && samples.length <= to * perMs);
}

/** Music on hold; empty: it is not installed (asterisk-moh-opsound-wav). */
export async function recordedMusic(): Promise<Clip[]> {
  return existsSync(music) ? clipsOf(music) : [];
}

const noSpeech = /beep|tone|silence|monkeys|weasels/;

async function clipsOf(folder: string): Promise<Clip[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.wav') && !noSpeech.test(name));
  const clips = await Promise.all(
    names.sort().map(async (name) => {
      const { samples } = readWav(await readFile(join(folder, name)));
      return { name: name.slice(0, -4), samples: trimmed(samples) };
    }),
  );
  return clips.filter(({ samples }) => samples.length > 0);
}

function trimmed(samples: Int16Array): Int16Array {
  const isAudible = (sample: number) => Math.abs(sample) > audible;
  const first = samples.findIndex(isAudible);
  return first < 0 ? new Int16Array(0) : samples.slice(first, samples.findLastIndex(isAudible) + 1);
}
