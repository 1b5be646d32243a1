/** A conversation of the ElevenLabs Agents protocol, as published. 20 ms of sound a character. */
import type { IncomingMessage } from 'node:http';
import { g711 } from '#shared/g711.ts';
import { fields, LabServer, type LabSession, type LabSocket, labKey, unauthorized } from './lab-server.ts';
import type { ScriptedAnswer } from './openai-realtime-server.ts';

const endMs = 300;
/** Members of each message besides its type. */
const messages: Readonly<Record<string, readonly string[]>> = {
  conversation_initiation_client_data: ['conversation_config_override'],
  pong: ['event_id'],
  user_message: ['text'],
  contextual_update: ['text'],
  client_tool_result: ['tool_call_id', 'result', 'is_error'],
};

export class ElevenLabsAgentsServer extends LabServer {
  protected readonly path = '/v1/convai/conversation';
  /** Of the agent. */
  formats = { input: 'ulaw_8000', output: 'ulaw_8000' };
  /** Whether clients may bring a prompt, a first message, a language and a voice. */
  overridable = true;
  override: Record<string, unknown> = {};
  readonly answers: ScriptedAnswer[] = [];
  /** Texts of the client, `type: text`. */
  readonly told: string[] = [];
  readonly outputs: { readonly call: unknown; readonly output: unknown; readonly failed: unknown }[] = [];
  readonly pongs: unknown[] = [];
  hears = 'yes please';
  octets = 0;
  #live: Conversation | null = null;

  protected check(request: IncomingMessage, url: URL) {
    if (!url.searchParams.get('agent_id')) return { status: 400, body: '{"detail":"missing agent_id"}' };
    return unauthorized(request, 'xi-api-key', labKey);
  }

  protected begin(socket: LabSocket): LabSession {
    this.#live = new Conversation(socket, this);
    return this.#live;
  }

  emit(message: object): void {
    this.#live?.emit(message);
  }
}

class Conversation implements LabSession {
  readonly #socket: LabSocket;
  readonly #server: ElevenLabsAgentsServer;
  #ready = false;
  #speaking = false;
  #answering = false;
  #silentSamples = 0;
  #event = 0;
  readonly #calls = new Set<unknown>();

  constructor(socket: LabSocket, server: ElevenLabsAgentsServer) {
    this.#socket = socket;
    this.#server = server;
  }

  closed(): void {}

  emit(message: object): void {
    this.#socket.send(message);
  }

  binary(): void {
    this.#refuse('a binary message');
  }

  text(message: unknown): void {
    const { type, ...rest } = fields(message);
    const names = Object.keys(rest);
    if (type === undefined && names.join() === 'user_audio_chunk') {
      this.#hear(Buffer.from(String(rest.user_audio_chunk), 'base64'));
      return;
    }
    const members = messages[String(type)];
    const isRight = members && names.length === members.length && members.every((name) => name in rest);
    if (!isRight) this.#refuse(`no message of the API: ${String(type)} with ${names.join()}`);
    else if (type === 'conversation_initiation_client_data') this.#begin(rest);
    else if (!this.#ready) this.#refuse(`${String(type)} before the conversation has begun`);
    else if (type === 'pong') this.#server.pongs.push(rest.event_id);
    else if (type === 'client_tool_result') this.#result(rest);
    else {
      this.#server.told.push(`${String(type)}: ${String(rest.text)}`);
      if (type === 'user_message') this.#answer();
    }
  }

  #begin({ conversation_config_override: override }: Record<string, unknown>): void {
    if (this.#ready) {
      this.#refuse('a second begin');
      return;
    }
    if (!this.#server.overridable) {
      const message = "Override for field 'prompt' is not allowed by config.";
      this.emit({ type: 'error', error_event: { code: 1008, error_type: 'override_error', message } });
      this.#socket.close(1008, message);
      return;
    }
    this.#server.override = fields(override);
    this.#ready = true;
    this.emit({
      type: 'conversation_initiation_metadata',
      conversation_initiation_metadata_event: {
        conversation_id: `conv_${this.#server.connections}`,
        agent_output_audio_format: this.#server.formats.output,
        user_input_audio_format: this.#server.formats.input,
      },
    });
  }

  #hear(octets: Buffer): void {
    const { input } = this.#server.formats;
    if (!this.#ready || octets.length === 0) {
      this.#refuse('audio that is none, or before the conversation has begun');
      return;
    }
    this.#server.octets += octets.length;
    if (input === 'ulaw_8000') for (const octet of octets) this.#sample(g711.PCMU.toLinear[octet] ?? 0, 8000);
    else {
      const rate = Number(input.split('_')[1]);
      for (let at = 0; at + 1 < octets.length; at += 2) this.#sample(octets.readInt16LE(at), rate);
    }
  }

  #sample(sample: number, rate: number): void {
    const isLoud = Math.abs(sample) > 700;
    this.#silentSamples = isLoud ? 0 : this.#silentSamples + 1;
    if (isLoud && !this.#speaking) {
      this.#speaking = true;
      if (this.#answering) {
        this.emit({ type: 'interruption', interruption_event: { event_id: this.#event } });
        // Sound that was on its way: it is older than the interruption.
        this.#emitSound(this.#event);
      }
      this.#answering = false;
    }
    if (!this.#speaking || this.#silentSamples * 1000 < endMs * rate) return;
    this.#speaking = false;
    this.emit({
      type: 'user_transcript',
      user_transcription_event: { user_transcript: this.#server.hears, event_id: ++this.#event },
    });
    this.#answer();
  }

  #answer(): void {
    const { text = '', calls = [], unfinished = false } = this.#server.answers.shift() ?? {};
    this.#answering = unfinished;
    for (let i = 0; i < text.length; i++) {
      this.#emitSound(++this.#event);
      // All words come with the first sound.
      if (i > 0) continue;
      this.emit({
        type: 'agent_response',
        agent_response_event: { agent_response: text, event_id: this.#event },
      });
    }
    for (const { id, name, input } of calls) {
      this.#calls.add(id);
      this.emit({
        type: 'client_tool_call',
        client_tool_call: { tool_name: name, tool_call_id: id, parameters: input, event_id: ++this.#event },
      });
    }
  }

  #emitSound(event_id: number): void {
    const { output } = this.#server.formats;
    const rate = Number(output.split('_')[1]);
    const samples = new Int16Array(rate / 50).fill(1000);
    const octets =
      output === 'ulaw_8000'
        ? Buffer.from(samples.map((sample) => g711.PCMU.fromLinear[sample] ?? 0))
        : Buffer.from(samples.buffer);
    this.emit({ type: 'audio', audio_event: { audio_base_64: octets.toString('base64'), event_id } });
  }

  #result({ tool_call_id: id, result, is_error: failed }: Record<string, unknown>): void {
    if (!this.#calls.delete(id) || typeof result !== 'string' || typeof failed !== 'boolean') {
      this.#refuse(`a result of a call that nobody made: ${String(id)}`);
      return;
    }
    this.#server.outputs.push({ call: id, output: this.#socket.parsed(result), failed });
    if (this.#calls.size === 0) this.#answer();
  }

  #refuse(what: string): void {
    this.#socket.violation(what, null, 1008, what);
  }
}
