/** A transcription session of the OpenAI Realtime protocol, as published. */
import type { IncomingMessage } from 'node:http';
import { g711 } from '#shared/g711.ts';
import { fields, LabServer, type LabSession, type LabSocket, labKey, unauthorized } from './lab-server.ts';
import { WordReader } from './words.ts';

export class OpenAiTranscriptionServer extends LabServer {
  protected readonly path = '/v1/realtime';
  /** `session` of the last session.update. */
  session: Record<string, unknown> = {};
  /** Whether the words of the second of two turns come first. */
  swaps = false;
  /** Whether transcriptions fail. */
  failing = false;

  protected check(request: IncomingMessage, url: URL) {
    if (url.searchParams.get('intent') !== 'transcription' || url.searchParams.has('model'))
      return { status: 400, body: '{"error":{"message":"not a transcription session"}}' };
    return unauthorized(request, 'authorization', `Bearer ${labKey}`);
  }

  protected begin(socket: LabSocket): LabSession {
    return new RealtimeSession(socket, this);
  }
}

class RealtimeSession implements LabSession {
  readonly #socket: LabSocket;
  readonly #server: OpenAiTranscriptionServer;
  #configured = false;
  #sampleRate = 8000;
  #reader = new WordReader(8000);
  #words: string[] = [];
  #samples = 0;
  #items = 0;
  #held: (() => void) | null = null;

  constructor(socket: LabSocket, server: OpenAiTranscriptionServer) {
    this.#socket = socket;
    this.#server = server;
    socket.send({ type: 'session.created', event_id: 'e', session: { type: 'transcription', id: 's' } });
  }

  binary(): void {
    this.#refuse('binary messages are not supported', 'invalid_request_error');
  }

  text(message: unknown): void {
    const { type, session, audio } = fields(message);
    if (type === 'session.update') this.#update(fields(session));
    else if (!this.#configured)
      this.#refuse(`${type} before the session was configured`, 'invalid_request_error');
    else if (type === 'input_audio_buffer.append' && typeof audio === 'string') this.#append(audio);
    else if (type === 'input_audio_buffer.commit') this.#commit();
    else this.#refuse(`no message of the API: ${String(type)}`, 'invalid_request_error');
  }

  closed(): void {}

  #update(session: Record<string, unknown>): void {
    const input = fields(fields(session.audio).input);
    const format = fields(input.format);
    const { model } = fields(input.transcription);
    const isNarrow = format.type === 'audio/pcmu';
    const isWide = format.type === 'audio/pcm' && format.rate === 24_000;
    if (
      session.type !== 'transcription' ||
      typeof model !== 'string' ||
      input.turn_detection !== null ||
      !(isNarrow || isWide)
    ) {
      this.#refuse('an unusable session', 'invalid_request_error');
      return;
    }
    this.#server.session = session;
    this.#sampleRate = isNarrow ? 8000 : 24_000;
    this.#reader = new WordReader(this.#sampleRate);
    this.#configured = true;
    this.#socket.send({ type: 'session.updated', event_id: 'e', session });
  }

  #append(audio: string): void {
    const octets = Buffer.from(audio, 'base64');
    if (octets.toString('base64') !== audio) this.#refuse('audio that is not base64', 'invalid_value');
    const narrow = this.#sampleRate === 8000;
    for (let at = 0; at < octets.length; at += narrow ? 1 : 2) {
      const sample = narrow ? (g711.PCMU.toLinear[octets[at] ?? 0] ?? 0) : octets.readInt16LE(at);
      this.#samples++;
      const word = this.#reader.read(sample);
      if (word === null) continue;
      this.#words.push(word);
      this.#delta(this.#words.length === 1 ? word : ` ${word}`);
    }
  }

  #commit(): void {
    if ((this.#samples * 1000) / this.#sampleRate < 100) {
      const error = {
        type: 'invalid_request_error',
        code: 'input_audio_buffer_commit_empty',
        message: 'Error committing input audio buffer: buffer too small.',
      };
      this.#socket.send({ type: 'error', event_id: 'e', error });
      return;
    }
    const item = this.#item;
    const transcript = this.#words.join(' ');
    this.#items++;
    this.#samples = 0;
    this.#words = [];
    this.#socket.send({ type: 'input_audio_buffer.committed', event_id: 'e', item_id: item });
    const complete = () => {
      const failed = { code: 'audio_unintelligible', message: 'The audio could not be transcribed.' };
      this.#socket.send({
        type: `conversation.item.input_audio_transcription.${this.#server.failing ? 'failed' : 'completed'}`,
        event_id: 'e',
        item_id: item,
        content_index: 0,
        ...(this.#server.failing ? { error: failed } : { transcript }),
      });
    };
    if (this.#server.swaps && this.#held === null) this.#held = complete;
    else {
      complete();
      this.#held?.();
      this.#held = null;
    }
  }

  get #item(): string {
    return `item_${this.#items}`;
  }

  #delta(delta: string): void {
    this.#socket.send({
      type: 'conversation.item.input_audio_transcription.delta',
      event_id: 'e',
      item_id: this.#item,
      content_index: 0,
      delta,
    });
  }

  #refuse(message: string, code: string): void {
    this.#socket.violation(
      message,
      { type: 'error', error: { type: 'invalid_request_error', code, message } },
      1000,
    );
  }
}
