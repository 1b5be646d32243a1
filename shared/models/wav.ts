import { samplesOf } from './sample-joiner.ts';
import { SpeechError } from './speech.ts';

export interface Pcm {
  readonly samples: Int16Array;
  readonly sampleRate: number;
}

/** Reads a RIFF file of 16-bit PCM, first channel only. @throws SpeechError */
export function readWav(file: Uint8Array): Pcm {
  const { octets, channels, sampleRate } = wavData(file);
  // A long file would take milliseconds sample by sample.
  if (channels === 1) return { samples: samplesOf(octets), sampleRate };
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  const samples = new Int16Array(Math.floor(octets.length / (2 * channels)));
  for (let i = 0; i < samples.length; i++) samples[i] = view.getInt16(2 * channels * i, true);
  return { samples, sampleRate };
}

export interface WavData {
  /** Of 16-bit samples, those of all channels in turn. */
  readonly octets: Uint8Array;
  readonly channels: number;
  readonly sampleRate: number;
}

/** What such a file holds. @throws SpeechError */
export function wavData(file: Uint8Array): WavData {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const tag = (at: number) => String.fromCharCode(...file.subarray(at, at + 4));
  if (file.length < 44 || tag(0) !== 'RIFF' || tag(8) !== 'WAVE') throw new SpeechError('not a WAV file');
  let channels = 0;
  let sampleRate = 0;
  for (let at = 12; at + 8 <= file.length; ) {
    const size = view.getUint32(at + 4, true);
    const content = at + 8;
    if (tag(at) === 'fmt ' && content + 16 <= file.length) {
      channels = view.getUint16(content + 2, true);
      sampleRate = view.getUint32(content + 4, true);
      if (view.getUint16(content + 14, true) !== 16) throw new SpeechError('the WAV file is not 16-bit PCM');
    }
    if (tag(at) === 'data' && channels > 0) {
      // A server that streams the file does not know its length yet: each size is 0, or too small, or as large as can be.
      const isOpen = size === 0 && file.length !== view.getUint32(4, true) + 8;
      const bytes = isOpen ? file.length - content : Math.min(size, file.length - content);
      return { octets: file.subarray(content, content + bytes), channels, sampleRate };
    }
    at = content + size + (size & 1);
  }
  throw new SpeechError('the WAV file holds no audio');
}

/** A RIFF file of 16-bit mono PCM. */
export function writeWav({ samples, sampleRate }: Pcm): Uint8Array<ArrayBuffer> {
  const file = new Uint8Array(44 + 2 * samples.length);
  const view = new DataView(file.buffer);
  const tag = (at: number, text: string) => {
    for (let i = 0; i < 4; i++) file[at + i] = text.charCodeAt(i);
  };
  tag(0, 'RIFF');
  view.setUint32(4, 36 + 2 * samples.length, true);
  tag(8, 'WAVE');
  tag(12, 'fmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, 2 * sampleRate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  tag(36, 'data');
  view.setUint32(40, 2 * samples.length, true);
  for (let i = 0; i < samples.length; i++) view.setInt16(44 + 2 * i, samples[i] ?? 0, true);
  return file;
}
