/** Speech synthesis and recognition of agents. */
import { Flite } from '#shared/models/flite.ts';
import { OpenAiSpeechToText, OpenAiTextToSpeech } from '#shared/models/openai-speech.ts';
import type { SpeechToText, TextToSpeech } from '#shared/models/speech.ts';
import { SpeechCache } from '#shared/models/speech-cache.ts';
import type { EdgeSettings } from '../config.ts';

/** Maximum size of cached speech, bytes. */
const speechCacheBytes = 64 * 1024 * 1024;

export interface Speech {
  readonly tts: TextToSpeech;
  /** null: agents recognize only key presses. */
  readonly stt: SpeechToText | null;
}

export function speechOf({ tts, stt, voice }: EdgeSettings): Speech {
  const voiceOut = tts ? new OpenAiTextToSpeech(tts, { voice: tts.voice }) : new Flite({ voice });
  return { tts: new SpeechCache(voiceOut, speechCacheBytes), stt: stt && new OpenAiSpeechToText(stt) };
}
