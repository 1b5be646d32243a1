/** Reads and writes WAV files of 16-bit PCM. */

export interface Wav {
  readonly sampleRate: number;
  readonly samples: Int16Array;
}

/**
 * Reads the first channel. The data chunk is assumed to extend to the end of the file, because its length is only
 * written when a recording is closed.
 * @throws Error when it is not 16-bit PCM
 */
export function readWav(file: Buffer): Wav {
  if (file.toString('latin1', 0, 4) !== 'RIFF') throw new Error('not a RIFF file');
  let sampleRate = 0;
  let channels = 1;
  for (let at = 12; at + 8 <= file.length; ) {
    const name = file.toString('latin1', at, at + 4);
    const size = file.readUInt32LE(at + 4);
    const body = at + 8;
    if (name === 'fmt ') {
      const [format, bits] = [file.readUInt16LE(body), file.readUInt16LE(body + 14)];
      if (format !== 1 || bits !== 16) throw new Error(`not 16-bit PCM: format ${format}, ${bits} bits`);
      channels = file.readUInt16LE(body + 2);
      sampleRate = file.readUInt32LE(body + 4);
    }
    if (name === 'data') {
      const samples = new Int16Array(Math.floor((file.length - body) / (2 * channels)));
      for (let i = 0; i < samples.length; i++) samples[i] = file.readInt16LE(body + 2 * channels * i);
      return { sampleRate, samples };
    }
    at = body + size + (size & 1);
  }
  throw new Error('no data in the WAV file');
}

export function writeWav({ sampleRate, samples }: Wav): Buffer {
  const file = Buffer.alloc(44 + 2 * samples.length);
  file.write('RIFF', 0);
  file.writeUInt32LE(36 + 2 * samples.length, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(sampleRate, 24);
  file.writeUInt32LE(2 * sampleRate, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36);
  file.writeUInt32LE(2 * samples.length, 40);
  for (const [i, sample] of samples.entries()) file.writeInt16LE(sample, 44 + 2 * i);
  return file;
}
