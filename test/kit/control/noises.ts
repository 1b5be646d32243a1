/** WAV files of noise, for tests. */
import { writeWav } from '#shared/models/wav.ts';

/** A tone in base64. */
export function noiseFile({ hertz = 1000, seconds = 1, sampleRate = 8000, amplitude = 8000 } = {}): string {
  const samples = Int16Array.from({ length: seconds * sampleRate }, (_, i) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hertz * i) / sampleRate)),
  );
  return Buffer.from(writeWav({ samples, sampleRate })).toString('base64');
}
