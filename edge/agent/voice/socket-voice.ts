/** Text-to-speech over WebSocket: one connection for each text, whose sound comes while the rest is made. */
import type { Clock } from '#shared/clock.ts';
import { SampleJoiner } from '#shared/models/sample-joiner.ts';
import { joinedPieces, SpeechError, type SpeechOptions, type TextToSpeech } from '#shared/models/speech.ts';
import {
  openSpeechSocket,
  placeOf,
  type SpeechServer,
  type SpeechSocket,
  type SpeechSocketDeps,
  withoutKey,
} from '../speech-socket.ts';
import { PieceStream } from './piece-stream.ts';

export type VoiceAnswer =
  | { readonly sound: Uint8Array }
  | { readonly failed: string }
  /** All sound of the text has come. */
  | { readonly done: true };

/** How a provider wants texts, and what its messages mean. */
export interface VoiceProtocol {
  url(server: SpeechServer, options: SpeechOptions): URL;
  headers(apiKey: string): Readonly<Record<string, string>>;
  /** All messages of a text, in order. */
  messages(text: string): readonly string[];
  readonly goodbye: string | null;
  /** @param message a parsed text message, or the octets of a binary one; null: nothing of interest */
  read(message: unknown): VoiceAnswer | null;
}

/** Time for a connection to open, and then between two pieces of sound, ms: a caller is waiting. */
const openTimeoutMs = 3000;
const silenceTimeoutMs = 5000;
/** Longest speech of a text, seconds. */
const longestSeconds = 300;

export class SocketVoice implements TextToSpeech {
  readonly #protocol: VoiceProtocol;
  readonly #server: SpeechServer;
  readonly #deps: SpeechSocketDeps;

  constructor(protocol: VoiceProtocol, server: SpeechServer, deps: SpeechSocketDeps) {
    this.#protocol = protocol;
    this.#server = server;
    this.#deps = deps;
  }

  async synthesize(text: string, options: SpeechOptions): Promise<Int16Array> {
    const pieces: Int16Array[] = [];
    for await (const piece of this.stream(text, options, never)) pieces.push(piece);
    return joinedPieces(pieces);
  }

  /** @throws SpeechError */
  async *stream(text: string, options: SpeechOptions, signal: AbortSignal): AsyncGenerator<Int16Array> {
    const limit = new Deadline(this.#deps.clock, openTimeoutMs, placeOf(this.#server.url));
    const sound = new PieceStream<Uint8Array>();
    const abort = () => sound.fail(new SpeechError('the speech is not wanted any more'));
    let socket: SpeechSocket | null = null;
    const over = AbortSignal.any([signal, limit.signal]);
    over.addEventListener('abort', abort, { once: true });
    try {
      socket = await this.#open(text, options, sound, limit, over);
      let samples = 0;
      const joined = new SampleJoiner();
      for await (const octets of sound) {
        const piece = joined.samples(octets);
        samples += piece.length;
        if (samples > options.sampleRate * longestSeconds)
          throw new SpeechError(`the speech is longer than ${longestSeconds} s`);
        yield piece;
      }
      if (samples === 0) throw new SpeechError(`${placeOf(this.#server.url)} sent no sound`);
    } catch (error) {
      if (limit.signal.aborted) throw new SpeechError(limit.reason);
      if (error instanceof SpeechError) throw error;
      throw new SpeechError(error instanceof Error ? error.message : String(error));
    } finally {
      over.removeEventListener('abort', abort);
      limit.stop();
      socket?.close(this.#protocol.goodbye);
    }
  }

  async close(): Promise<void> {}

  async #open(
    text: string,
    options: SpeechOptions,
    sound: PieceStream<Uint8Array>,
    limit: Deadline,
    signal: AbortSignal,
  ): Promise<SpeechSocket> {
    const protocol = this.#protocol;
    const server = this.#server;
    const opened = Promise.withResolvers<SpeechSocket>();
    const take = (message: unknown) => {
      const answer = protocol.read(message);
      if (!answer) return;
      limit.extend(silenceTimeoutMs);
      if ('sound' in answer) sound.push(answer.sound);
      else if ('done' in answer) sound.end();
      else sound.fail(new SpeechError(`${placeOf(server.url)}: ${withoutKey(answer.failed, server)}`));
    };
    const headers = server.apiKey === null ? {} : protocol.headers(server.apiKey);
    await openSpeechSocket(
      server,
      protocol.url(server, options),
      headers,
      this.#deps,
      {
        opened: (socket) => {
          limit.extend(silenceTimeoutMs);
          for (const message of protocol.messages(text)) socket.send(message);
          opened.resolve(socket);
        },
        text: (message) => {
          const parsed = parsedOrNull(message);
          if (parsed === null) sound.fail(new SpeechError(`${placeOf(server.url)} sent no JSON`));
          else take(parsed);
        },
        binary: take,
        lost: (why) => sound.fail(new SpeechError(why)),
        idle: () => undefined,
      },
      signal,
    );
    return opened.promise;
  }
}

/** A time limit that is set anew at each sign of life. */
class Deadline {
  readonly #clock: Clock;
  readonly #place: string;
  readonly #over = new AbortController();
  #timer;
  reason: string;

  constructor(clock: Clock, ms: number, place: string) {
    this.#clock = clock;
    this.#place = place;
    this.reason = `${place} did not open within ${ms} ms`;
    this.#timer = clock.after(ms, () => this.#over.abort());
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  extend(ms: number): void {
    this.reason = `${this.#place} sent no sound for ${ms} ms`;
    this.#timer.cancel();
    this.#timer = this.#clock.after(ms, () => this.#over.abort());
  }

  stop(): void {
    this.#timer.cancel();
  }
}

const never = new AbortController().signal;

function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
