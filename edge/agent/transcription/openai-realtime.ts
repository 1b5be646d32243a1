/**
 * Transcription sessions of the OpenAI Realtime protocol: audio as base64 in JSON. The agent owns the turns: `commit`
 * ends one, and its words follow by item.
 */
import { g711 } from '#shared/g711.ts';
import { StreamResampler } from '#shared/models/resample.ts';
import { fits, objectOf, type Shaped, text } from '#shared/shapes.ts';
import { type SpeechServer, withParameters } from '../speech-socket.ts';
import {
  linear16,
  type ProtocolSession,
  type SessionEvents,
  type SocketProtocol,
} from './socket-provider.ts';
import { mostCharacters, noWords, type TranscriptionOptions } from './transcription.ts';

const failure = objectOf({}, { code: text, message: text }, true);

const message = objectOf(
  { type: text },
  { item_id: text, delta: text, transcript: text, error: failure },
  true,
);

/** Items that are not complete; a server should have one or two. */
const mostItems = 16;
const words = 'conversation.item.input_audio_transcription';

export const openAiRealtime: SocketProtocol = {
  continuous: false,
  pieceMs: 40,
  finalWithinMs: 4000,
  url: ({ url }) => withParameters(url, { intent: 'transcription' }),
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  session: (server, options) => new TranscriptionSession(server, options),
};

/** A committed turn whose words are awaited. */
interface Commit {
  /** null: the server has not named it yet */
  item: string | null;
  /** null: awaited */
  text: string | null;
  /** Why it has no words; null: nothing failed. */
  failure: string | null;
}

class TranscriptionSession implements ProtocolSession {
  readonly waitsForReady = true;
  readonly keepAlive = null;
  readonly goodbye = null;
  readonly hello: string;
  /** null: the audio is sent as it is */
  readonly #resampler: StreamResampler | null;
  /** In the order in which they were sent; the server may answer the second first. */
  readonly #commits: Commit[] = [];
  /** Words so far of items that are not complete. */
  readonly #soFar = new Map<string, string>();

  constructor({ model }: SpeechServer, { sampleRate, language, keyTerms }: TranscriptionOptions) {
    const isNarrow = sampleRate === 8000;
    this.#resampler = isNarrow ? null : new StreamResampler(sampleRate, 24_000);
    this.hello = JSON.stringify({
      type: 'session.update',
      session: {
        type: 'transcription',
        audio: {
          input: {
            format: isNarrow ? { type: 'audio/pcmu' } : { type: 'audio/pcm', rate: 24_000 },
            transcription: {
              model,
              language: language.split('-')[0] ?? language,
              ...(keyTerms.length > 0 && hints(model, keyTerms)),
            },
            turn_detection: null,
          },
        },
      },
    });
  }

  audio(samples: Int16Array): string {
    const octets = this.#resampler ? linear16(this.#resampler.push(samples)) : mulaw(samples);
    return `{"type":"input_audio_buffer.append","audio":"${octets.toString('base64')}"}`;
  }

  end(): string {
    this.#commits.push({ item: null, text: null, failure: null });
    return '{"type":"input_audio_buffer.commit"}';
  }

  receive(received: unknown, events: SessionEvents): void {
    if (!fits(message, received)) return;
    const { type, item_id: item = '' } = received;
    if (type === 'session.updated') events.ready();
    else if (type === 'input_audio_buffer.committed') this.#named(item);
    else if (type === `${words}.delta`) this.#more(item, received.delta ?? '', events);
    else if (type === `${words}.completed`) this.#complete(item, received.transcript ?? '', events);
    else if (type === `${words}.failed`) this.#complete(item, '', events, reasonOf(received.error));
    else if (type === 'error') this.#failed(received.error ?? {}, events);
  }

  #named(item: string): void {
    const commit = this.#commits.find((one) => one.item === null);
    if (commit) commit.item = item;
  }

  #more(item: string, delta: string, events: SessionEvents): void {
    const text = ((this.#soFar.get(item) ?? '') + delta).slice(0, mostCharacters);
    this.#soFar.set(item, text);
    for (const oldest of this.#soFar.keys()) {
      if (this.#soFar.size <= mostItems) break;
      this.#soFar.delete(oldest);
    }
    // Words of the next turn are shown when this one is complete.
    const shown = this.#commits[0]?.item ?? item;
    if (shown === item) events.partial({ ...noWords, text: text.trim() });
  }

  #complete(item: string, transcript: string, events: SessionEvents, failure: string | null = null): void {
    this.#soFar.delete(item);
    const commit = this.#commits.find((one) => one.item === item);
    if (commit) Object.assign(commit, { text: transcript.trim(), failure });
    this.#deliver(events);
  }

  #failed(error: Shaped<typeof failure>, events: SessionEvents): void {
    if (error.code !== 'input_audio_buffer_commit_empty') {
      events.failed(reasonOf(error));
      return;
    }
    // The turn had less audio than the server takes: it has no words.
    const commit = this.#commits.find((one) => one.item === null);
    if (commit) commit.text = '';
    this.#deliver(events);
  }

  #deliver(events: SessionEvents): void {
    for (let [first] = this.#commits; first && first.text !== null; [first] = this.#commits) {
      this.#commits.shift();
      if (first.failure !== null) events.turnFailed(first.failure);
      events.settled({ ...noWords, text: first.text }, null);
      events.finished(null);
    }
  }
}

function reasonOf(error: Shaped<typeof failure> = {}): string {
  return error.message ?? error.code ?? 'no reason';
}

/** What the caller is likely to say, as the model takes it; some take nothing. */
function hints(model: string, keyTerms: readonly string[]): object {
  if (/^gpt-(live-)?transcribe/.test(model)) return { keywords: keyTerms };
  return model.startsWith('gpt-realtime') ? {} : { prompt: keyTerms.join(', ') };
}

function mulaw(samples: Int16Array): Buffer {
  const octets = Buffer.allocUnsafe(samples.length);
  const { fromLinear } = g711.PCMU;
  for (let i = 0; i < samples.length; i++) octets[i] = fromLinear[(samples[i] ?? 0) & 0xffff] ?? 0xff;
  return octets;
}
