/** Creates what speaks, from the server of the settings and the embedded voice. */
import { Flite } from '#shared/models/flite.ts';
import { fliteVoices } from '#shared/models/flite-voices.ts';
import { OpenAiTextToSpeech } from '#shared/models/openai-speech.ts';
import type { TextToSpeech } from '#shared/models/speech.ts';
import { SpeechCache } from '#shared/models/speech-cache.ts';
import { withTrustedAuthorities } from '#shared/trusted-authorities.ts';
import type { SpeechSocketDeps } from '../agent/speech-socket.ts';
import { deepgramSpeak } from '../agent/voice/deepgram-speak.ts';
import { elevenLabs } from '../agent/voice/elevenlabs.ts';
import { FallbackVoice } from '../agent/voice/fallback-voice.ts';
import { SocketVoice } from '../agent/voice/socket-voice.ts';
import type { VoiceServer } from '../speech-settings.ts';
import { clock, type EdgeContext } from './context.ts';

/** Maximum size of cached speech, bytes. */
const speechCacheBytes = 64 * 1024 * 1024;

export function voiceOf({ settings, log, metrics, privateAuthority }: EdgeContext): TextToSpeech {
  const { tts, voice } = settings;
  const name = 'trunkline_edge_text_to_speech';
  const failed = (fellBack: boolean) =>
    metrics.count(`${name}_failures_total`, { embedded: String(fellBack) });
  const embedded = new Flite({ voice, ...(!tts && { failed: () => failed(false) }) });
  try {
    embedded.check();
  } catch (error) {
    // The edge serves agents that bring their own sound; the first text that is spoken tries again.
    const without = tts
      ? 'no voice speaks when the text-to-speech server fails'
      : 'calls whose agents speak are rejected';
    log.error({ err: error }, `the embedded voice cannot be loaded: ${without}`);
  }
  const ca = privateAuthority === null ? undefined : withTrustedAuthorities([privateAuthority]);
  const held = () => metrics.count('trunkline_edge_servers_held_total');
  const cache = new SpeechCache(tts ? serverVoice(tts, { clock, ca, held }) : embedded, speechCacheBytes);
  metrics.gauge('trunkline_edge_embedded_voice', () => fliteVoices.indexOf(voice) + 1);
  metrics.gauge('trunkline_edge_embedded_voices', () => Number(tts === null));
  metrics.gauge(`${name}_cache_bytes`, () => cache.bytes);
  metrics.gauge(`${name}_cache_hits_total`, () => cache.hits);
  metrics.gauge(`${name}_cache_misses_total`, () => cache.misses);
  if (!tts) return cache;
  // What the embedded voice says in place of the server's is not kept: the server may work again.
  return new FallbackVoice(cache, embedded, {
    clock,
    log: log.child({ part: 'text-to-speech' }),
    meter: {
      failed,
      firstSound: (ms) => {
        metrics.add(`${name}_first_sound_ms_sum`, Math.round(ms));
        metrics.add(`${name}_first_sound_ms_count`, 1);
      },
    },
  });
}

function serverVoice(server: VoiceServer, deps: SpeechSocketDeps): TextToSpeech {
  const { protocol, url, apiKey, model, voice } = server;
  switch (protocol) {
    case 'openai':
      return new OpenAiTextToSpeech({ baseUrl: url.href, apiKey, model }, { voice });
    case 'elevenlabs':
      return new SocketVoice(elevenLabs(voice), server, deps);
    case 'deepgram':
      return new SocketVoice(deepgramSpeak(voice), server, deps);
  }
}
