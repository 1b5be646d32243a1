/** The voice of a simulated caller. One that a test names is part of the test: no other speaks in its place. */
import { fliteVoices } from '#shared/models/flite-voices.ts';
import type { SpeechOptions, TextToSpeech } from '#shared/models/speech.ts';

/** What a test says of its caller's speech. */
export interface CallerVoice {
  /** null: the edge's default */
  readonly voice: string | null;
  readonly language: string;
}

export const callerRate = 8000;

export function callerSpeech({ language, voice }: CallerVoice): SpeechOptions {
  return { voice, language, sampleRate: callerRate, ...(voice !== null && { exact: true }) };
}

/**
 * Has the voice say a word, which is kept for the next test: which voices a server has shows only then.
 * @throws Error when nobody has the voice
 */
export async function tryVoice(tts: TextToSpeech, caller: CallerVoice): Promise<void> {
  if (caller.voice === null) return;
  try {
    await tts.synthesize('Hello.', callerSpeech(caller));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `the caller cannot speak with the voice "${caller.voice}": ${why}. Name a voice of the edge's text-to-speech server (TTS_BASE_URL), or in English an embedded one: ${fliteVoices.join(', ')}`,
    );
  }
}
