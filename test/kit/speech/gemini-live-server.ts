/** A session of the Gemini Live protocol, as published. Its JSON comes in binary messages, 20 ms of sound a character. */
import type { IncomingMessage } from 'node:http';
import { fields, LabServer, type LabSession, type LabSocket, labKey, unauthorized } from './lab-server.ts';
import type { ScriptedAnswer } from './openai-realtime-server.ts';

const kinds = ['setup', 'clientContent', 'realtimeInput', 'toolResponse'] as const;
const endMs = 300;
const inputRate = 16_000;
const outputRate = 24_000;

export class GeminiLiveServer extends LabServer {
  protected readonly path = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
  setup: Record<string, unknown> = {};
  readonly answers: ScriptedAnswer[] = [];
  /** Texts of the client, `role: text`. */
  readonly told: string[] = [];
  readonly outputs: { readonly call: unknown; readonly output: unknown }[] = [];
  /** Handles with which sessions were continued. */
  readonly resumed: unknown[] = [];
  /** Words that it hears in a turn, whatever was said. */
  hears = 'yes please';
  octets = 0;
  #live: GeminiSession | null = null;

  protected check(request: IncomingMessage) {
    return unauthorized(request, 'x-goog-api-key', labKey);
  }

  protected begin(socket: LabSocket): LabSession {
    this.#live = new GeminiSession(socket, this);
    return this.#live;
  }

  emit(message: object): void {
    this.#live?.emit(message);
  }
}

class GeminiSession implements LabSession {
  readonly #socket: LabSocket;
  readonly #server: GeminiLiveServer;
  #ready = false;
  #speaking = false;
  #answering = false;
  #silentSamples = 0;
  readonly #calls = new Set<unknown>();

  constructor(socket: LabSocket, server: GeminiLiveServer) {
    this.#socket = socket;
    this.#server = server;
  }

  closed(): void {}

  emit(message: object): void {
    this.#socket.sendBinary(Buffer.from(JSON.stringify(message)));
  }

  binary(octets: Buffer): void {
    this.text(this.#socket.parsed(octets.toString('utf8')));
  }

  text(message: unknown): void {
    const all = fields(message);
    const given = kinds.filter((kind) => kind in all);
    const [kind] = given;
    if (given.length !== 1 || kind === undefined || Object.keys(all).length !== 1) {
      this.#refuse(`no message of the API: ${Object.keys(all)}`);
    } else if (this.#ready === (kind === 'setup')) {
      this.#refuse(this.#ready ? 'a second setup' : `${kind} before the setup`);
    } else if (kind === 'setup') this.#setUp(fields(all.setup));
    else if (kind === 'clientContent') this.#content(fields(all.clientContent));
    else if (kind === 'realtimeInput') this.#input(fields(fields(all.realtimeInput).audio));
    else this.#result(fields(all.toolResponse));
  }

  #setUp(setup: Record<string, unknown>): void {
    const generation = fields(setup.generationConfig);
    const isRight =
      /^models\/./.test(String(setup.model)) &&
      JSON.stringify(generation.responseModalities) === '["AUDIO"]' &&
      Array.isArray(fields(setup.systemInstruction).parts);
    if (!isRight) {
      this.#refuse('an unusable setup');
      return;
    }
    const { handle } = fields(setup.sessionResumption);
    if (handle !== undefined) this.#server.resumed.push(handle);
    this.#server.setup = setup;
    this.#ready = true;
    this.emit({ setupComplete: {} });
    this.emit({
      sessionResumptionUpdate: { newHandle: `handle-${this.#server.connections}`, resumable: true },
    });
  }

  #content({ turns, turnComplete }: Record<string, unknown>): void {
    for (const turn of Array.isArray(turns) ? turns : []) {
      const { role, parts } = fields(turn);
      const [part] = Array.isArray(parts) ? parts : [];
      if (role !== 'user' && role !== 'model') this.#refuse('a turn of nobody');
      this.#server.told.push(`${role}: ${fields(part).text}`);
    }
    if (turnComplete === true) this.#answer();
  }

  #input({ mimeType, data }: Record<string, unknown>): void {
    const octets = Buffer.from(String(data), 'base64');
    if (mimeType !== `audio/pcm;rate=${inputRate}` || octets.length % 2 !== 0 || octets.length === 0) {
      this.#refuse('audio that is no 16-bit audio');
      return;
    }
    this.#server.octets += octets.length;
    for (let at = 0; at < octets.length; at += 2) this.#hear(octets.readInt16LE(at));
  }

  #hear(sample: number): void {
    const isLoud = Math.abs(sample) > 700;
    this.#silentSamples = isLoud ? 0 : this.#silentSamples + 1;
    if (isLoud && !this.#speaking) {
      this.#speaking = true;
      if (this.#answering) {
        this.emit({ serverContent: { interrupted: true } });
        this.#end();
      }
    }
    if (!this.#speaking || this.#silentSamples * 1000 < endMs * inputRate) return;
    this.#speaking = false;
    for (const word of this.#server.hears.split(/(?= )/)) {
      this.emit({ serverContent: { inputTranscription: { text: word } } });
    }
    this.#answer();
  }

  #answer(): void {
    const { text = '', calls = [], unfinished = false } = this.#server.answers.shift() ?? {};
    this.#answering = true;
    const data = Buffer.from(new Int16Array(outputRate / 50).fill(1000).buffer).toString('base64');
    const inlineData = { mimeType: `audio/pcm;rate=${outputRate}`, data };
    for (const character of text) {
      this.emit({ serverContent: { modelTurn: { role: 'model', parts: [{ inlineData }] } } });
      this.emit({ serverContent: { outputTranscription: { text: character } } });
    }
    if (calls.length > 0) {
      for (const { id } of calls) this.#calls.add(id);
      this.emit({
        toolCall: { functionCalls: calls.map(({ id, name, input }) => ({ id, name, args: input })) },
      });
      return;
    }
    if (unfinished) return;
    this.emit({ serverContent: { generationComplete: true } });
    this.#end();
  }

  #end(): void {
    this.#answering = false;
    this.emit({ serverContent: { turnComplete: true } });
  }

  #result({ functionResponses }: Record<string, unknown>): void {
    for (const one of Array.isArray(functionResponses) ? functionResponses : []) {
      const { id, name, response } = fields(one);
      if (!this.#calls.delete(id) || typeof name !== 'string' || typeof response !== 'object') {
        this.#refuse(`a response to a call that nobody made: ${String(id)}`);
        return;
      }
      this.#server.outputs.push({ call: id, output: response });
    }
    if (this.#calls.size === 0) this.#answer();
  }

  #refuse(what: string): void {
    this.#socket.violation(what, null, 1007, what);
  }
}
