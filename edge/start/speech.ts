/** The voice of agents, and their ear. */
import { Flite } from '#shared/models/flite.ts';
import { OpenAiSpeechToText, OpenAiTextToSpeech } from '#shared/models/openai-speech.ts';
import type { SpeechToText, TextToSpeech } from '#shared/models/speech.ts';
import { SpeechCache } from '#shared/models/speech-cache.ts';
import type { EdgeSettings } from '../config.ts';

/** Bytes of synthesized speech that are kept. */
const speechCacheBytes = 64 * 1024 * 1024;

export interface Speech {
  readonly tts: TextToSpeech;
  /** null: agents hear key presses alone. */
  readonly stt: SpeechToText | null;
}

export function speechOf({ tts, stt, voice }: EdgeSettings): Speech {
  const voiceOut = tts ? new OpenAiTextToSpeech(tts, { voice: tts.voice }) : new Flite({ voice });
  return { tts: new SpeechCache(voiceOut, speechCacheBytes), stt: stt && new OpenAiSpeechToText(stt) };
}
