/**
 * A speech-to-speech session of the OpenAI Realtime protocol, as published. The model says what the test has scripted,
 * faster than it is played: in a voice that it has for the text, else as 20 ms of sound for each character.
 */
import type { IncomingMessage } from 'node:http';
import { g711 } from '#shared/g711.ts';
import { fields, LabServer, type LabSession, type LabSocket, labKey, unauthorized } from './lab-server.ts';
import { WordReader } from './words.ts';

/** What the model does in one response. */
export interface ScriptedAnswer {
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: object }[];
  /** The sound stays incomplete: the response goes on until it is cancelled or interrupted. */
  readonly unfinished?: boolean;
  /** The response fails with this message. */
  readonly failure?: string;
}

const codes: Readonly<Record<string, 'PCMU' | 'PCMA'>> = { 'audio/pcmu': 'PCMU', 'audio/pcma': 'PCMA' };

export class OpenAiRealtimeServer extends LabServer {
  protected readonly path = '/v1/realtime';
  /** `session` of the last session.update that was accepted. */
  session: Record<string, unknown> = {};
  /** Formats that it takes. */
  formats = ['audio/pcmu', 'audio/pcma', 'audio/pcm'];
  /** Another format that it says to have, whatever was asked for. */
  ownFormat: string | null = null;
  /** Silence that ends a turn of the caller, ms. */
  endMs = 300;
  readonly answers: ScriptedAnswer[] = [];
  /** Whether it lets every response.create go unanswered. */
  ignoresCreate = false;
  /** The voice for texts: samples at the session's rate, whole frames of 20 ms. */
  readonly voices = new Map<string, Int16Array>();
  /** Bodies of response.create. */
  readonly asked: Record<string, unknown>[] = [];
  readonly truncated: { readonly item: unknown; readonly ms: unknown }[] = [];
  readonly outputs: { readonly call: unknown; readonly output: unknown }[] = [];
  /** Messages that were added, `role: text`. */
  readonly added: string[] = [];
  /** Words of the caller, turn by turn. */
  readonly heard: string[] = [];
  /** Octets of the caller's audio. */
  octets = 0;
  cancelled = 0;
  #live: RealtimeSession | null = null;

  protected check(request: IncomingMessage, url: URL) {
    if (!url.searchParams.get('model'))
      return { status: 400, body: '{"error":{"message":"You must provide a model parameter."}}' };
    return unauthorized(request, 'authorization', `Bearer ${labKey}`);
  }

  protected begin(socket: LabSocket): LabSession {
    this.#live = new RealtimeSession(socket, this);
    return this.#live;
  }

  /** The server sends a message of its own to the newest session. */
  emit(message: object): void {
    this.#live?.emit(message);
  }
}

class RealtimeSession implements LabSession {
  readonly #socket: LabSocket;
  readonly #server: OpenAiRealtimeServer;
  #format: string | null = null;
  #reader = new WordReader(8000);
  #words: string[] = [];
  #speaking = false;
  #events = 0;
  #items = 0;
  /** ms of sound of each answer. */
  readonly #sounds = new Map<string, number>();
  /** Calls whose output is awaited. */
  readonly #calls = new Set<string>();
  #active = false;

  constructor(socket: LabSocket, server: OpenAiRealtimeServer) {
    this.#socket = socket;
    this.#server = server;
    this.emit({ type: 'session.created', session: { type: 'realtime', id: 's' } });
  }

  closed(): void {}

  binary(): void {
    this.#refuse('binary messages are not supported');
  }

  emit(message: object): void {
    this.#socket.send({ event_id: `event-${this.#events++}`, ...message });
  }

  text(message: unknown): void {
    const { type, event_id: id, ...rest } = fields(message);
    if (type === 'session.update') this.#update(fields(rest.session), id);
    else if (this.#format === null) this.#refuse(`${type} before the session was configured`);
    else if (type === 'input_audio_buffer.append') this.#append(rest.audio);
    else if (type === 'response.create') this.#created(fields(rest.response), id);
    else if (type === 'response.cancel') this.#cancel();
    else if (type === 'conversation.item.create') this.#add(fields(rest.item));
    else if (type === 'conversation.item.truncate') this.#truncate(rest);
    else this.#refuse(`no message of the API: ${String(type)}`);
  }

  #created(response: Record<string, unknown>, id: unknown): void {
    if (this.#server.ignoresCreate) this.#server.asked.push(response);
    else this.#create(response, id);
  }

  // ---------------------------------------------------------------- the session

  #update(session: Record<string, unknown>, id: unknown): void {
    const audio = fields(session.audio);
    const input = fields(audio.input);
    const output = fields(audio.output);
    const turns = fields(input.turn_detection);
    const isRight =
      session.type === 'realtime' &&
      Array.isArray(session.output_modalities) &&
      typeof session.instructions === 'string' &&
      turns.type === 'server_vad' &&
      Array.isArray(session.tools) &&
      session.tools.every((tool) => fields(tool).type === 'function' && 'parameters' in fields(tool));
    const { type: format, rate } = fields(input.format);
    if (!isRight || typeof format !== 'string' || (format === 'audio/pcm' && rate !== 24_000)) {
      this.#refuse('an unusable session');
      return;
    }
    if (!this.#server.formats.includes(format)) {
      this.#error('invalid_value', `Invalid value: '${format}'.`, id);
      return;
    }
    this.#server.session = session;
    this.#format = this.#server.ownFormat ?? format;
    this.#reader = new WordReader(this.#rate);
    const made = { type: this.#format };
    const described = { input: { ...input, format: made }, output: { ...output, format: made } };
    this.emit({ type: 'session.updated', session: { ...session, audio: described } });
  }

  get #rate(): number {
    return this.#format === 'audio/pcm' ? 24_000 : 8000;
  }

  // ---------------------------------------------------------------- the caller

  #append(audio: unknown): void {
    const octets = Buffer.from(String(audio), 'base64');
    if (octets.length === 0 || octets.toString('base64') !== audio) {
      this.#refuse('audio that is not base64');
      return;
    }
    this.#server.octets += octets.length;
    const law = codes[this.#format ?? ''];
    for (let at = 0; at < octets.length; at += law ? 1 : 2) {
      this.#hear(law ? (g711[law].toLinear[octets[at] ?? 0] ?? 0) : octets.readInt16LE(at));
    }
  }

  #hear(sample: number): void {
    // What the reader takes for silence would end the turn at once.
    if (!this.#speaking && Math.abs(sample) > 750) {
      this.#speaking = true;
      this.emit({
        type: 'input_audio_buffer.speech_started',
        audio_start_ms: 0,
        item_id: `in-${this.#items}`,
      });
      const detection = fields(fields(fields(this.#server.session.audio).input).turn_detection);
      if (this.#active && detection.interrupt_response === true) this.#done('cancelled');
    }
    const word = this.#reader.read(sample);
    if (word !== null) this.#words.push(word);
    if (this.#speaking && this.#reader.silenceMs >= this.#server.endMs) this.#turn();
  }

  #turn(): void {
    const item_id = `in-${this.#items++}`;
    const transcript = this.#words.join(' ');
    this.#speaking = false;
    this.#words = [];
    this.#server.heard.push(transcript);
    this.emit({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: 0, item_id });
    this.emit({ type: 'input_audio_buffer.committed', previous_item_id: null, item_id });
    const completed = 'conversation.item.input_audio_transcription.completed';
    this.emit({ type: completed, item_id, content_index: 0, transcript });
    if (!this.#active) this.#answer();
  }

  // ---------------------------------------------------------------- answers

  #create(response: Record<string, unknown>, id: unknown): void {
    if (this.#active) {
      const code = 'conversation_already_has_active_response';
      this.#error(code, 'Conversation already has an active response in progress.', id);
      return;
    }
    if (this.#calls.size > 0) this.#server.violations.push('an answer while outputs are missing');
    this.#server.asked.push(response);
    this.#answer();
  }

  #answer(): void {
    const { text = '', calls = [], unfinished = false, failure } = this.#server.answers.shift() ?? {};
    this.#active = true;
    this.emit({ type: 'response.created', response: { id: 'r', status: 'in_progress' } });
    if (failure !== undefined) {
      this.#done('failed', { type: 'failed', error: { code: 'server_error', message: failure } });
      return;
    }
    if (text !== '') this.#say(text, unfinished);
    if (unfinished) return;
    for (const { id, name, input } of calls) {
      this.#calls.add(id);
      const given = { call_id: id, name, arguments: JSON.stringify(input) };
      this.emit({ type: 'response.function_call_arguments.done', item_id: `fc-${id}`, ...given });
      const item = { id: `fc-${id}`, type: 'function_call', status: 'completed', ...given };
      this.emit({ type: 'response.output_item.done', output_index: 0, item });
    }
    this.#done('completed');
  }

  #say(text: string, unfinished: boolean): void {
    const at = { response_id: 'r', item_id: `item-${this.#items++}`, output_index: 0, content_index: 0 };
    const frames = this.#framesOf(text);
    this.#sounds.set(at.item_id, frames.length * 20);
    for (const [place, frame] of frames.entries()) {
      this.emit({
        type: 'response.output_audio.delta',
        ...at,
        delta: this.#encoded(frame).toString('base64'),
      });
      const delta = text[place];
      if (delta !== undefined) this.emit({ type: 'response.output_audio_transcript.delta', ...at, delta });
    }
    if (unfinished) return;
    this.emit({ type: 'response.output_audio.done', ...at });
    this.emit({ type: 'response.output_audio_transcript.done', ...at, transcript: text });
  }

  #framesOf(text: string): Int16Array[] {
    const size = this.#rate / 50;
    const voice = this.#server.voices.get(text);
    if (!voice) return Array.from(text, () => new Int16Array(size).fill(1000));
    return Array.from({ length: voice.length / size }, (_, i) => voice.subarray(i * size, (i + 1) * size));
  }

  #encoded(samples: Int16Array): Buffer {
    const law = codes[this.#format ?? ''];
    if (law)
      return Buffer.from(Uint8Array.from(samples, (sample) => g711[law].fromLinear[sample & 0xffff] ?? 0));
    return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  }

  #done(status: string, details: object | null = null): void {
    this.#active = false;
    this.emit({ type: 'response.done', response: { id: 'r', status, status_details: details } });
  }

  #cancel(): void {
    this.#server.cancelled++;
    if (this.#active) this.#done('cancelled');
    else this.#error('response_cancel_not_active', 'Cancellation failed: no active response found', null);
  }

  // ---------------------------------------------------------------- items

  #add(item: Record<string, unknown>): void {
    if (item.type === 'function_call_output') {
      const { call_id: call, output } = item;
      if (!this.#calls.delete(String(call)) || typeof output !== 'string') {
        this.#refuse(`an output of a call that nobody made: ${String(call)}`);
        return;
      }
      this.#server.outputs.push({ call, output: JSON.parse(output) });
      return;
    }
    const [content] = Array.isArray(item.content) ? item.content : [];
    const { type, text } = fields(content);
    const wanted = item.role === 'assistant' ? 'output_text' : 'input_text';
    if (item.type !== 'message' || type !== wanted || typeof text !== 'string') {
      this.#refuse('an item that is no message');
      return;
    }
    this.#server.added.push(`${String(item.role)}: ${text}`);
  }

  #truncate({ item_id: item, content_index, audio_end_ms: ms }: Record<string, unknown>): void {
    const length = this.#sounds.get(String(item));
    if (length === undefined || content_index !== 0 || typeof ms !== 'number' || !Number.isInteger(ms)) {
      this.#server.violations.push(`a truncation of nothing: ${String(item)}`);
      this.#error('invalid_value', 'Item not found', null);
    } else if (ms > length || ms < 0) {
      this.#server.violations.push(`a truncation at ${ms} of ${length} ms`);
      this.#error('invalid_value', `Audio content of ${length} ms is already shorter than ${ms} ms`, null);
    } else this.#server.truncated.push({ item, ms });
  }

  #error(code: string, message: string, id: unknown): void {
    this.emit({
      type: 'error',
      error: { type: 'invalid_request_error', code, message, event_id: id ?? null },
    });
  }

  #refuse(message: string): void {
    const error = { type: 'invalid_request_error', code: 'invalid_request_error', message };
    this.#socket.violation(message, { type: 'error', error }, 1000);
  }
}
