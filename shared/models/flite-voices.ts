/** The voices that every edge has. `kal` is made for 8000 Hz; the others speak at 16000 Hz and are resampled. */
export const fliteVoices = ['slt', 'kal', 'kal16', 'rms', 'awb'] as const;
export type FliteVoice = (typeof fliteVoices)[number];

/** null: none of them, or no voice is wanted */
export function embeddedVoice(name: string | null): FliteVoice | null {
  return fliteVoices.find((voice) => voice === name) ?? null;
}
