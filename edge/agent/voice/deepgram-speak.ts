/** Deepgram's text-to-speech, `/v1/speak`: the model is the voice, sound comes as binary messages. */
import { fits, number, objectOf, text } from '#shared/shapes.ts';
import { withParameters } from '../speech-socket.ts';
import type { VoiceProtocol } from './voice-connection.ts';

const messageShape = objectOf({ type: text }, { description: text, code: text, sequence_id: number }, true);

/** @param defaultVoice for calls that name none */
export function deepgramSpeak(defaultVoice: string): VoiceProtocol {
  return {
    url: ({ url }, { voice, sampleRate }) =>
      withParameters(
        url,
        { model: voice ?? defaultVoice },
        { encoding: 'linear16', sample_rate: String(sampleRate) },
      ),
    headers: (apiKey) => ({ authorization: `Token ${apiKey}` }),
    messages: (spoken) => [
      JSON.stringify({ type: 'Speak', text: spoken }),
      JSON.stringify({ type: 'Flush' }),
    ],
    takesMore: true,
    closesAtEnd: false,
    goodbye: JSON.stringify({ type: 'Close' }),
    read(message) {
      if (message instanceof Uint8Array) return { sound: message };
      if (!fits(messageShape, message)) return null;
      if (message.type === 'Flushed')
        return { sound: new Uint8Array(0), isLast: true, text: message.sequence_id };
      const words = () => `${message.code ?? message.type} ${message.description ?? ''}`.trim();
      if (message.type === 'Error') return { failed: words() };
      if (message.type === 'Warning') return { warned: words() };
      return null;
    },
  };
}
