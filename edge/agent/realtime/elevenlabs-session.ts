/**
 * The ElevenLabs Agents protocol: JSON in both directions, G.711 mu-law or PCM as the agent has it. The server finds the
 * turns and says when the caller interrupted; it cannot be told what was heard. Its tools are kept with the agent: it is
 * sent none.
 *
 *     conversation_initiation_client_data --> conversation_initiation_metadata (audio formats)
 *     agent_response, audio, audio ...     one answer; the next one, the caller's words or an interruption ends it
 */
import type { ToolCall } from '#shared/agent/dialogue.ts';
import { anything, fits, flag, number, objectOf, orNull, text } from '#shared/shapes.ts';
import { soundOctets } from '../sound-octets.ts';
import { withParameters } from '../speech-socket.ts';
import type { ModelProtocol, ModelSession, SessionEvents, SessionOptions } from './model-session.ts';
import { openingOf } from './realtime-prompt.ts';
import { G711Codec, LinearCodec, type SoundCodec } from './sound-formats.ts';
import { brokenSound, understood } from './understood.ts';

const nullable = orNull(text);

const message = objectOf(
  { type: text },
  {
    conversation_initiation_metadata_event: objectOf(
      {},
      { agent_output_audio_format: text, user_input_audio_format: text },
      true,
    ),
    audio_event: objectOf({}, { audio_base_64: text, event_id: number }, true),
    agent_response_event: objectOf({}, { agent_response: text }, true),
    user_transcription_event: objectOf({}, { user_transcript: text }, true),
    interruption_event: objectOf({}, { event_id: number }, true),
    ping_event: objectOf({}, { event_id: number }, true),
    client_tool_call: objectOf({}, { tool_name: text, tool_call_id: text, parameters: anything }, true),
    error_event: objectOf({}, { message: nullable, reason: nullable, error_type: nullable }, true),
  },
  true,
);

const failure = objectOf({ ok: flag }, {}, true);

export const elevenLabsProtocol: ModelProtocol = {
  url: (server) => withParameters(server.url, { agent_id: server.model }),
  headers: (apiKey) => ({ 'xi-api-key': apiKey }),
  session: (_server, options, events) => new ElevenLabsSession(options, events),
};

class ElevenLabsSession implements ModelSession {
  readonly resumption = null;
  readonly #options: SessionOptions;
  readonly #events: SessionEvents;
  /** null: the server has not accepted the session */
  #codec: SoundCodec | null = null;
  /** Answers have no names in this protocol. */
  #turn = 0;
  /** What is known of the current answer. */
  #sounds = false;
  #text: string | null = null;
  /** Sound up to this event was interrupted. */
  #interruptedTo = -1;

  constructor(options: SessionOptions, events: SessionEvents) {
    this.#options = options;
    this.#events = events;
  }

  get sampleRate(): 8000 | 16000 {
    return this.#codec?.sampleRate ?? 8000;
  }

  opened(): void {
    const { instructions, language, voice } = this.#options;
    this.#send({
      type: 'conversation_initiation_client_data',
      conversation_config_override: {
        agent: {
          prompt: { prompt: instructions },
          // The session begins while the telephone rings: the agent speaks when it is told to.
          first_message: '',
          language: languageOf(language),
        },
        ...(voice !== null && { tts: { voice_id: voice } }),
      },
    });
  }

  audio(frame: Int16Array): void {
    if (!this.#codec) return;
    this.#events.send(`{"user_audio_chunk":"${this.#codec.encode(frame).toString('base64')}"}`);
  }

  begin(sentence: string | null, told: string | null): void {
    this.tell(openingOf(sentence, told));
  }

  /** It ends an answer that is being made. */
  tell(what: string): void {
    this.#send({ type: 'user_message', text: `[System] ${what}` });
  }

  toolResult({ id }: ToolCall, result: unknown): void {
    this.#send({
      type: 'client_tool_result',
      tool_call_id: id,
      result: JSON.stringify(result),
      is_error: fits(failure, result) && !result.ok,
    });
  }

  cut(): void {}

  stop(): void {}

  end(): void {}

  receive(received: unknown): void {
    if (!understood(message, received, this.#events.problem)) return;
    switch (received.type) {
      case 'conversation_initiation_metadata':
        this.#accepted(received.conversation_initiation_metadata_event ?? {});
        break;
      case 'audio':
        this.#sound(received.audio_event ?? {});
        break;
      case 'agent_response':
        this.#response(received.agent_response_event?.agent_response ?? '');
        break;
      case 'user_transcript':
        this.#end();
        this.#events.heard((received.user_transcription_event?.user_transcript ?? '').trim());
        break;
      case 'interruption':
        this.#interruptedTo = received.interruption_event?.event_id ?? this.#interruptedTo;
        this.#events.interrupted();
        this.#end();
        break;
      case 'ping':
        this.#send({ type: 'pong', event_id: received.ping_event?.event_id ?? 0 });
        break;
      case 'client_tool_call': {
        const { tool_call_id: id, tool_name: name, parameters } = received.client_tool_call ?? {};
        if (id !== undefined && name !== undefined) this.#events.tool({ id, name, input: parameters ?? {} });
        break;
      }
      case 'error': {
        const { message, reason, error_type: kind } = received.error_event ?? {};
        this.#events.failed(message ?? reason ?? kind ?? 'no reason');
        break;
      }
    }
  }

  #accepted(formats: { agent_output_audio_format?: string; user_input_audio_format?: string }): void {
    if (this.#codec) return;
    const { user_input_audio_format: input = '', agent_output_audio_format: output = '' } = formats;
    const codec = codecOf(input, output);
    const { sampleRate, history } = this.#options;
    if (!codec || (sampleRate !== null && codec.sampleRate !== sampleRate)) {
      this.#events.failed(`the agent has the audio formats ${input} for the caller and ${output} for itself`);
      return;
    }
    this.#codec = codec;
    if (history.length > 0) {
      const lines = history.map(
        ({ user, text }) => `${user === 'assistant' ? 'You' : 'The caller'}: ${text}`,
      );
      this.#send({ type: 'contextual_update', text: `The conversation so far:\n${lines.join('\n')}` });
    }
    this.#events.ready();
  }

  #sound({ audio_base_64: audio, event_id: event = 0 }: { audio_base_64?: string; event_id?: number }): void {
    if (!this.#codec || audio === undefined || event <= this.#interruptedTo) return;
    const octets = soundOctets(audio);
    if (!octets) {
      this.#events.problem(brokenSound);
      return;
    }
    this.#sounds = true;
    if (this.#events.room(this.#item)) this.#events.sound(this.#item, this.#codec.decode(octets));
    this.#tellText();
  }

  /** All words of an answer; they come beside its first sound. */
  #response(words: string): void {
    if (this.#text !== null) this.#end();
    this.#text = words.trim();
    this.#events.words(this.#item, this.#text);
    this.#tellText();
  }

  /** An answer of which there was no sound yet may be interrupted before the caller hears any. */
  #tellText(): void {
    if (this.#sounds && this.#text) this.#events.said(this.#item, this.#text);
  }

  #end(): void {
    if (!this.#sounds && this.#text === null) return;
    this.#codec?.flush();
    this.#events.soundOver(this.#item);
    this.#sounds = false;
    this.#text = null;
    this.#turn++;
  }

  get #item(): string {
    return `turn-${this.#turn}`;
  }

  #send(message: object): void {
    this.#events.send(JSON.stringify(message));
  }
}

/** The provider has one language of several countries, except for one. */
function languageOf(tag: string): string {
  const lower = tag.toLowerCase();
  return lower === 'pt-br' ? lower : (lower.split('-')[0] ?? lower);
}

/** null: none for both directions */
function codecOf(input: string, output: string): SoundCodec | null {
  if (input === 'ulaw_8000' && output === 'ulaw_8000') return new G711Codec('PCMU');
  const rates = { input: rateOf(input), output: rateOf(output) };
  return rates.input !== null && rates.output !== null
    ? new LinearCodec({ input: rates.input, output: rates.output })
    : null;
}

/** Hz; null: it is not PCM */
function rateOf(format: string): number | null {
  const rate = /^pcm_(8000|16000|22050|24000|44100|48000)$/.exec(format)?.[1];
  return rate === undefined ? null : Number(rate);
}
