/** Speech servers of the settings: the address decides the protocol. */
import { SettingError, type SettingReader } from '#shared/settings/reader.ts';
import type { SettingName } from '#shared/settings/table.ts';
import type { SpeechServer } from './agent/speech-socket.ts';

type Reader = SettingReader<SettingName<'edge'>>;

interface Protocol<Kind extends string> {
  readonly kind: Kind;
  readonly schemes: RegExp;
  /** End of the path; null: any */
  readonly path: RegExp | null;
  /** For messages. */
  readonly form: string;
  /** Model when the setting names none. */
  readonly model: string;
}

export type TranscriptionProtocol = 'utterances' | 'openai-realtime' | 'deepgram' | 'deepgram-flux';
export type TranscriptionServer = SpeechServer & { readonly protocol: TranscriptionProtocol };

const transcription: readonly Protocol<TranscriptionProtocol>[] = [
  {
    kind: 'utterances',
    schemes: /^https?:$/,
    path: null,
    form: 'http(s)://… (OpenAI-compatible /audio/transcriptions)',
    model: 'whisper-1',
  },
  {
    kind: 'openai-realtime',
    schemes: /^wss?:$/,
    path: /\/realtime$/,
    form: 'wss://…/realtime (OpenAI Realtime)',
    model: 'gpt-live-transcribe',
  },
  {
    kind: 'deepgram',
    schemes: /^wss?:$/,
    path: /\/v1\/listen$/,
    form: 'wss://…/v1/listen (Deepgram)',
    model: 'nova-3',
  },
  {
    kind: 'deepgram-flux',
    schemes: /^wss?:$/,
    path: /\/v2\/listen$/,
    form: 'wss://…/v2/listen (Deepgram Flux)',
    model: 'flux-general-en',
  },
];

export type VoiceProtocolName = 'openai' | 'elevenlabs' | 'deepgram';
export type VoiceServer = SpeechServer & { readonly protocol: VoiceProtocolName; readonly voice: string };

const voices: readonly Protocol<VoiceProtocolName>[] = [
  {
    kind: 'openai',
    schemes: /^https?:$/,
    path: null,
    form: 'http(s)://… (OpenAI-compatible /audio/speech)',
    model: 'tts-1',
  },
  {
    kind: 'elevenlabs',
    schemes: /^wss?:$/,
    path: /\/v1\/text-to-speech$/,
    form: 'wss://…/v1/text-to-speech (ElevenLabs)',
    model: 'eleven_flash_v2_5',
  },
  {
    kind: 'deepgram',
    schemes: /^wss?:$/,
    path: /\/v1\/speak$/,
    form: 'wss://…/v1/speak (Deepgram)',
    model: '',
  },
];

/** Voice of calls that name none; ElevenLabs has none that every account may use. */
const defaultVoices = { openai: 'alloy', deepgram: 'aura-2-thalia-en', elevenlabs: null } as const;

/** The server that speaks; null: the embedded voice. @throws SettingError */
export function voiceServer(read: Reader): VoiceServer | null {
  const text = read.optional('TTS_BASE_URL');
  if (text === null) return null;
  const { url, kind, model } = serverOf('TTS_BASE_URL', text, voices);
  const voice = read.optional('TTS_VOICE') ?? defaultVoices[kind];
  if (voice === null) throw new SettingError('TTS_VOICE must be the ID of a voice of ElevenLabs');
  return {
    protocol: kind,
    url,
    apiKey: read.optional('TTS_API_KEY'),
    model: read.optional('TTS_MODEL') ?? model,
    voice,
  };
}

/** Maximum servers of a list: each costs a caller the time until it has failed. */
const mostServers = 4;

/** The servers that transcribe, best first; empty: none. @throws SettingError */
export function transcriptionServers(read: Reader): readonly TranscriptionServer[] {
  const urls = read.list('STT_BASE_URL');
  if (urls.length > mostServers) {
    throw new SettingError(`STT_BASE_URL lists ${urls.length} servers; at most ${mostServers} are possible`);
  }
  const keys = entries(read, 'STT_API_KEY', urls.length);
  const models = entries(read, 'STT_MODEL', urls.length);
  return urls.map((text, index) => {
    const { url, kind, model } = serverOf('STT_BASE_URL', text, transcription);
    return { protocol: kind, url, apiKey: keys[index] ?? null, model: models[index] ?? model };
  });
}

/** One entry for each server; an empty one is null. A single server may have commas in its key. */
function entries(read: Reader, name: 'STT_API_KEY' | 'STT_MODEL', servers: number): (string | null)[] {
  const value = read.optional(name);
  if (value === null) return [];
  if (servers <= 1) return [value];
  const found = value.split(',').map((one) => one.trim() || null);
  if (found.length === servers) return found;
  throw new SettingError(
    `${name} must have one entry for each of the ${servers} servers of STT_BASE_URL, separated by commas (an entry may be empty); it has ${found.length}`,
  );
}

function serverOf<Kind extends string>(
  name: 'STT_BASE_URL' | 'TTS_BASE_URL',
  text: string,
  protocols: readonly Protocol<Kind>[],
): { url: URL; kind: Kind; model: string } {
  const url = URL.canParse(text) ? new URL(text) : null;
  const path = url?.pathname.replace(/\/+$/, '') ?? '';
  const found = protocols.find(
    ({ schemes, path: end }) => url && schemes.test(url.protocol) && (end?.test(path) ?? true),
  );
  if (url && found) return { url, kind: found.kind, model: found.model };
  const forms = protocols.map(({ form }) => form).join(', ');
  // Not the whole text: a URL's query may hold a key.
  throw new SettingError(`${name} must be one of ${forms}, not "${text.split('?')[0]}"`);
}
