/**
 * The OpenAI Realtime protocol, speech to speech. The server finds the turns; it is told what the caller heard of an
 * answer that was interrupted. G.711 where the server takes it, else PCM at 24 kHz.
 *
 *     session.created --> session.update (the first format) --refused--> session.update (the next)
 *                                  | session.updated
 *                                  v
 *     audio in, audio out; response.created ... response.done; function calls are answered with items, and when the
 *     response has ended with one more response.create
 */
import type { ToolCall } from '#shared/agent/dialogue.ts';
import { objectOf, orNull, type Shaped, text } from '#shared/shapes.ts';
import { parsedOrNull } from '../json-message.ts';
import { soundOctets } from '../sound-octets.ts';
import { type SpeechServer, withParameters } from '../speech-socket.ts';
import type { ModelProtocol, ModelSession, SessionEvents, SessionOptions } from './model-session.ts';
import { G711Codec, LinearCodec, type SoundCodec } from './sound-formats.ts';
import { brokenSound, understood } from './understood.ts';

const nullable = orNull(text);
const failure = objectOf(
  {},
  {
    code: nullable,
    message: text,
    /** of the client's message */
    event_id: nullable,
  },
  true,
);

const item = objectOf({}, { type: text, call_id: text, name: text, arguments: text }, true);

const format = objectOf({}, { format: objectOf({}, { type: text }, true) }, true);

const message = objectOf(
  { type: text },
  {
    item_id: text,
    delta: text,
    transcript: text,
    item,
    session: objectOf({}, { audio: objectOf({}, { input: format, output: format }, true) }, true),
    response: objectOf(
      {},
      { status: text, status_details: orNull(objectOf({}, { error: orNull(failure) }, true)) },
      true,
    ),
    error: failure,
  },
  true,
);
type Message = Shaped<typeof message>;

const muLaw = { type: 'audio/pcmu' } as const;
const aLaw = { type: 'audio/pcma' } as const;
const wide = { type: 'audio/pcm', rate: 24_000 } as const;
type Format = typeof muLaw | typeof aLaw | typeof wide;

/** What a session is asked for, best first: G.711 as the caller has it, PCM for callers with more than 8 kHz. */
function formatsFor({ codec, sampleRate }: Pick<SessionOptions, 'codec' | 'sampleRate'>): readonly Format[] {
  const narrow = codec === 'PCMA' ? [aLaw, muLaw] : [muLaw];
  if (sampleRate === 8000) return narrow;
  if (sampleRate === 16_000) return [wide];
  return codec === 'Opus' || codec === 'G.722' ? [wide, ...narrow] : [...narrow, wide];
}

const createId = 'answer';
const transcriptionModel = 'gpt-4o-mini-transcribe';
/** Answers that fail one after the other before the session is given up. */
const mostFailedAnswers = 3;

export const openAiProtocol: ModelProtocol = {
  url: (server) => withParameters(server.url, { model: server.model }),
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  session: (server, options, events) => new OpenAiSession(server, options, events),
};

class OpenAiSession implements ModelSession {
  readonly resumption = null;
  readonly #model: string;
  readonly #options: SessionOptions;
  readonly #events: SessionEvents;
  #codec: SoundCodec = new G711Codec('PCMU');
  /** Audio formats in the order in which they are asked for. */
  readonly #formats: readonly Format[];
  #asked = 0;
  #ready = false;
  /** Whether the server makes an answer. */
  #answering = false;
  /** Whether something was told or answered that the model has not seen yet: an answer is due. */
  #owed = false;
  #toolsRunning = 0;
  #failedAnswers = 0;

  constructor({ model }: SpeechServer, options: SessionOptions, events: SessionEvents) {
    this.#model = model;
    this.#options = options;
    this.#events = events;
    this.#formats = formatsFor(options);
  }

  get sampleRate(): 8000 | 16000 {
    return this.#codec.sampleRate;
  }

  opened(): void {
    this.#update();
  }

  audio(frame: Int16Array): void {
    const audio = this.#codec.encode(frame).toString('base64');
    if (this.#ready) this.#events.send(`{"type":"input_audio_buffer.append","audio":"${audio}"}`);
  }

  begin(sentence: string | null, told: string | null): void {
    const { instructions } = this.#options;
    if (told !== null) this.#addMessage('system', told);
    this.#create(sentence ? { instructions: `${instructions}\n\nNow say exactly this: ${sentence}` } : null);
  }

  tell(text: string): void {
    this.#addMessage('system', text);
    this.#owed = true;
    this.#answerWhenDue();
  }

  toolResult(call: ToolCall, result: unknown): void {
    this.#toolsRunning--;
    const item = { type: 'function_call_output', call_id: call.id, output: JSON.stringify(result) };
    this.#send({ type: 'conversation.item.create', item });
    this.#owed = true;
    this.#answerWhenDue();
  }

  cut(item: string, ms: number): void {
    this.#send({ type: 'conversation.item.truncate', item_id: item, content_index: 0, audio_end_ms: ms });
  }

  stop(): void {
    if (this.#answering) this.#send({ type: 'response.cancel' });
  }

  end(): void {}

  #sound(item: string, delta: string): void {
    const octets = soundOctets(delta);
    if (octets) this.#events.sound(item, this.#codec.decode(octets));
    else this.#events.problem(brokenSound);
  }

  receive(received: unknown): void {
    if (!understood(message, received, this.#events.problem)) return;
    const { item_id: id = '', delta = '', transcript = '' } = received;
    switch (received.type) {
      case 'session.updated':
        this.#updated(received);
        break;
      case 'response.created':
        this.#answering = true;
        break;
      case 'response.output_audio.delta':
        if (this.#events.room(id)) this.#sound(id, delta);
        break;
      case 'response.output_audio.done':
        this.#events.sound(id, this.#codec.flush());
        this.#events.soundOver(id);
        break;
      case 'response.output_audio_transcript.delta':
        this.#events.words(id, delta);
        break;
      case 'response.output_audio_transcript.done':
        this.#events.said(id, transcript);
        break;
      case 'response.output_item.done':
        this.#called(received.item ?? {});
        break;
      case 'response.done':
        this.#done(received.response ?? {});
        break;
      case 'conversation.item.input_audio_transcription.completed':
        this.#events.heard(transcript);
        break;
      case 'input_audio_buffer.speech_started':
        this.#events.interrupted();
        break;
      case 'input_audio_buffer.speech_stopped':
        this.#events.stopped();
        break;
      case 'error':
        this.#refused(received.error ?? {});
        break;
    }
  }

  // ---------------------------------------------------------------- the session

  #update(): void {
    const { instructions, tools, voice, language, interruptible } = this.#options;
    const format = this.#formats[this.#asked];
    this.#send({
      type: 'session.update',
      event_id: this.#updateId,
      session: {
        type: 'realtime',
        model: this.#model,
        output_modalities: ['audio'],
        instructions,
        audio: {
          input: {
            format,
            transcription: { model: transcriptionModel, language: language.split('-')[0] ?? language },
            turn_detection: {
              type: 'server_vad',
              create_response: true,
              interrupt_response: interruptible,
            },
          },
          output: { format, ...(voice !== null && { voice }) },
        },
        tools: tools.map(({ name, description, inputSchema }) => ({
          type: 'function',
          name,
          description,
          parameters: inputSchema,
        })),
        tool_choice: 'auto',
      },
    });
  }

  get #updateId(): string {
    return `update-${this.#asked}`;
  }

  /** The server says what the session has, which may be another format than it was asked for. */
  #updated({ session }: Message): void {
    if (this.#ready) return;
    const input = session?.audio?.input?.format?.type ?? this.#formats[this.#asked]?.type;
    const output = session?.audio?.output?.format?.type ?? input;
    const codec = input === output ? codecOf(input) : null;
    if (!codec) {
      this.#events.failed(`the server has the audio formats ${input} and ${output}`);
      return;
    }
    this.#codec = codec;
    this.#ready = true;
    for (const { user, text } of this.#options.history) this.#addMessage(user, text);
    this.#events.ready();
  }

  #refused({ code, message, event_id }: Shaped<typeof failure>): void {
    const why = message ?? code ?? 'no reason';
    if (this.#ready) {
      // The server had begun to answer a turn on its own: the answer that was asked for follows.
      if (code === 'conversation_already_has_active_response') this.#owed = true;
      else if (event_id === createId) this.#answering = false;
      if (code === 'session_expired') this.#events.ending(why);
      else this.#events.problem(why);
      return;
    }
    if (event_id === this.#updateId && this.#asked + 1 < this.#formats.length) {
      this.#asked++;
      this.#update();
    } else this.#events.failed(why);
  }

  // ---------------------------------------------------------------- answers

  #called({ type, call_id: id, name, arguments: input }: Shaped<typeof item>): void {
    if (type !== 'function_call' || id === undefined || name === undefined) return;
    this.#toolsRunning++;
    if (!this.#events.tool({ id, name, input: parsedOrNull(input ?? '') })) this.#toolsRunning--;
  }

  #done({ status, status_details }: NonNullable<Message['response']>): void {
    this.#answering = false;
    if (status === 'failed') {
      const why = status_details?.error?.message ?? status_details?.error?.code ?? 'no reason';
      this.#failedAnswers++;
      if (this.#failedAnswers >= mostFailedAnswers) {
        this.#events.failed(`${mostFailedAnswers} answers failed, the last one: ${why}`);
        return;
      }
      this.#events.problem(`an answer failed: ${why}`);
      this.#owed = true;
    } else if (status === 'completed') this.#failedAnswers = 0;
    this.#answerWhenDue();
  }

  /** One answer to the results of all calls. */
  #answerWhenDue(): void {
    if (!this.#owed || this.#answering || this.#toolsRunning > 0) return;
    this.#owed = false;
    this.#create(null);
  }

  #create(response: object | null): void {
    this.#answering = true;
    this.#send({ type: 'response.create', event_id: createId, ...(response && { response }) });
  }

  #addMessage(role: 'user' | 'assistant' | 'system', text: string): void {
    const content = [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }];
    this.#send({ type: 'conversation.item.create', item: { type: 'message', role, content } });
  }

  #send(message: object): void {
    this.#events.send(JSON.stringify(message));
  }
}

function codecOf(type: string | undefined): SoundCodec | null {
  if (type === 'audio/pcmu') return new G711Codec('PCMU');
  if (type === 'audio/pcma') return new G711Codec('PCMA');
  return type === 'audio/pcm' ? new LinearCodec({ input: 24_000, output: 24_000 }) : null;
}
