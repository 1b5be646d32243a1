/** ElevenLabs' text-to-speech, `/v1/text-to-speech/{voice}/stream-input`: sound as base64 in JSON. */
import { fits, flag, objectOf, text } from '#shared/shapes.ts';
import { soundOctets } from '../sound-octets.ts';
import { withParameters } from '../speech-socket.ts';
import type { VoiceProtocol } from './voice-connection.ts';

const messageShape = objectOf({}, { audio: text, isFinal: flag, error: text, message: text }, true);

/** @param defaultVoice for calls that name none */
export function elevenLabs(defaultVoice: string): VoiceProtocol {
  return {
    url({ url, model }, { voice, sampleRate }) {
      const path = new URL(url);
      const name = encodeURIComponent(voice ?? defaultVoice);
      path.pathname = `${url.pathname.replace(/\/+$/, '')}/${name}/stream-input`;
      return withParameters(path, { model_id: model }, { output_format: `pcm_${sampleRate}` });
    },
    headers: (apiKey) => ({ 'xi-api-key': apiKey }),
    // The first message must be a space; a text must end in one; the empty text ends the stream.
    messages: (spoken) => [
      JSON.stringify({ text: ' ' }),
      JSON.stringify({ text: `${spoken} `, flush: true }),
      JSON.stringify({ text: '' }),
    ],
    takesMore: false,
    closesAtEnd: true,
    goodbye: null,
    read(message) {
      if (!fits(messageShape, message)) return null;
      if (message.error !== undefined) return { failed: message.message ?? message.error };
      const sound = message.audio ? soundOctets(message.audio) : Buffer.alloc(0);
      if (!sound) return { failed: 'sent sound that is not base64' };
      if (message.isFinal) return { sound, isLast: true };
      return sound.length > 0 ? { sound } : null;
    },
  };
}
