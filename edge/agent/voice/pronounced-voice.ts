import type { Pronouncer } from '#shared/agent/pronunciation.ts';
import type { TextToSpeech } from '#shared/models/speech.ts';

/** A voice that speaks texts as the lists of the call say. In front of caches: they know texts as they are spoken. */
export function pronouncedVoice(
  voice: Pick<TextToSpeech, 'synthesize'>,
  pronouncer: Pronouncer,
): Pick<TextToSpeech, 'synthesize'> {
  return { synthesize: (text, options) => voice.synthesize(pronouncer.spoken(text), options) };
}
