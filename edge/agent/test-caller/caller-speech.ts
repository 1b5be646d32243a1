/** The voice of a simulated caller. One that a test names is part of the test: no other speaks in its place. */
import { fliteVoices } from '#shared/models/flite-voices.ts';
import type { SpeechOptions, TextToSpeech } from '#shared/models/speech.ts';
import type { Log } from '../../call/log.ts';

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
 * @throws Error when nobody has the voice, with no more of the server than its status: it is the operator's
 */
export async function tryVoice(tts: TextToSpeech, caller: CallerVoice, log: Log): Promise<void> {
  if (caller.voice === null) return;
  try {
    await tts.synthesize('Hello.', callerSpeech(caller));
  } catch (error) {
    log.warn({ err: error, voice: caller.voice }, 'the voice of a simulated caller cannot be spoken');
    const [, status] = /\b(?:status|answered) (\d{3})\b/.exec(String(error)) ?? [];
    const why = status === undefined ? 'the log of the edge says why' : `its server answered ${status}`;
    throw new Error(
      `the caller cannot speak with the voice "${caller.voice}" (${why}): name a voice of the edge's text-to-speech server (TTS_BASE_URL), or in English an embedded one: ${fliteVoices.join(', ')}`,
    );
  }
}
