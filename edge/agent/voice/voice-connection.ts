/** A connection to a voice's server: speaks one text after the other. */
import { SpeechError, type SpeechOptions } from '#shared/models/speech.ts';
import { parsedMessage } from '../json-message.ts';
import {
  openSpeechSocket,
  placeOf,
  type SpeechServer,
  type SpeechSocket,
  type SpeechSocketDeps,
  withoutKey,
} from '../speech-socket.ts';
import { EndedTexts } from './ended-texts.ts';
import type { PieceStream } from './piece-stream.ts';

export type VoiceAnswer =
  /** The last piece may be empty. `text`: number of the text that it ends, where the server tells one. */
  | { readonly sound: Uint8Array; readonly isLast?: true; readonly text?: number | undefined }
  | { readonly failed: string }
  /** The text may be spoken all the same. */
  | { readonly warned: string };

/** How a provider wants texts, and what its messages mean. */
export interface VoiceProtocol {
  url(server: SpeechServer, options: SpeechOptions): URL;
  headers(apiKey: string): Readonly<Record<string, string>>;
  /** All messages of a text, in order. */
  messages(text: string): readonly string[];
  readonly goodbye: string | null;
  /** Whether a connection can speak another text after the first. */
  readonly takesMore: boolean;
  /** Whether the server closes the connection after the text, which then is its end, if nothing else said so. */
  readonly closesAtEnd: boolean;
  /** @param message a parsed text message, or the octets of a binary one; null: nothing of interest */
  read(message: unknown): VoiceAnswer | null;
}

/** Texts of a connection: Deepgram ends one that gets more than 20 Flush messages within 60 s. */
const mostTexts = 20;

/** RFC 6455 section 7.4.1. */
const normalClosure = 1000;

/** Events of the text that is being spoken, besides its sound. */
export interface VoiceListener {
  /** A sign of life of the server, and how many octets of sound it has brought. */
  heard(octets: number): void;
  warned(words: string): void;
}

const nobody: VoiceListener = { heard: () => undefined, warned: () => undefined };

export class VoiceConnection {
  readonly #protocol: VoiceProtocol;
  readonly #server: SpeechServer;
  #socket: SpeechSocket | null = null;
  #texts = 0;
  /** Of the text that is being spoken. */
  #sound: PieceStream<Uint8Array> | null = null;
  #listener: VoiceListener = nobody;
  #hasSound = false;
  readonly #ended = new EndedTexts();
  /** Whether the server has closed it, or has said between two texts why it can speak no more. */
  wasLost = false;
  #why: string | null = null;
  /** Called when that happens between two texts. */
  lost: () => void = () => undefined;

  private constructor(protocol: VoiceProtocol, server: SpeechServer) {
    this.#protocol = protocol;
    this.#server = server;
  }

  /** Resolves when it is open. Rejects when that fails, or with `signal`. */
  static async open(
    protocol: VoiceProtocol,
    server: SpeechServer,
    url: URL,
    deps: SpeechSocketDeps,
    signal: AbortSignal,
  ): Promise<VoiceConnection> {
    const connection = new VoiceConnection(protocol, server);
    const opened = Promise.withResolvers<void>();
    const events = {
      opened: (socket: SpeechSocket) => {
        connection.#socket = socket;
        opened.resolve();
      },
      text: (message: string) => connection.#text(message),
      binary: (octets: Buffer) => connection.#take(octets),
      lost: (why: string, code: number | null) => connection.#lost(why, code),
      idle: () => undefined,
    };
    const headers = server.apiKey === null ? {} : protocol.headers(server.apiKey);
    await openSpeechSocket(server, url, headers, deps, events, signal);
    await opened.promise;
    return connection;
  }

  /** Whether it may speak another text. */
  get mayGoOn(): boolean {
    return this.#socket !== null && this.#protocol.takesMore && this.#texts < mostTexts;
  }

  /** Why nothing of use came since `at`, ms on the clock's elapsed time. @param otherwise unless it was held back */
  whySilent(at: number, otherwise: string): string {
    return this.#socket?.heldSince(at) ? `${placeOf(this.#server.url)} sends more than is read` : otherwise;
  }

  speak(text: string, sound: PieceStream<Uint8Array>, listener: VoiceListener): void {
    if (this.#why !== null) {
      sound.fail(new SpeechError(this.#why));
      return;
    }
    this.#texts++;
    this.#sound = sound;
    this.#listener = listener;
    this.#hasSound = false;
    for (const message of this.#protocol.messages(text)) this.#socket?.send(message);
  }

  close(): void {
    this.#socket?.close(this.#protocol.goodbye);
    this.#socket = null;
    this.#sound = null;
    this.#listener = nobody;
  }

  #text(message: string): void {
    const parsed = parsedMessage(message);
    if (parsed === undefined) this.#fail(`${placeOf(this.#server.url)} sent no JSON`);
    else this.#take(parsed);
  }

  #take(message: unknown): void {
    const answer = this.#protocol.read(message);
    if (!answer) return;
    const worded = (words: string) => `${placeOf(this.#server.url)}: ${withoutKey(words, this.#server)}`;
    if ('failed' in answer) this.#fail(worded(answer.failed));
    else if ('warned' in answer) this.#listener.warned(worded(answer.warned));
    else if (!this.#isOfFormer(answer)) this.#hear(answer.sound, answer.isLast ?? false);
  }

  /** Sound has no number: that it was of a text before is known by the end of that text. */
  #isOfFormer({ isLast, text }: Extract<VoiceAnswer, { sound: Uint8Array }>): boolean {
    if (!isLast || text === undefined) return false;
    if (this.#ended.isNew(text, this.#hasSound) || !this.#sound) return false;
    if (this.#hasSound) this.#fail(`${placeOf(this.#server.url)} sent sound of a text before`);
    return true;
  }

  #hear(octets: Uint8Array, isLast: boolean): void {
    if (!this.#sound) {
      // Of a text that was over: the rest of it would be heard in the next one.
      if (octets.length > 0) this.#fail(`${placeOf(this.#server.url)} sent sound after the end of a text`);
      return;
    }
    this.#listener.heard(octets.length);
    if (octets.length > 0) this.#hasSound = true;
    this.#sound.push(octets);
    if (isLast) this.#end();
  }

  #end(): void {
    this.#sound?.end();
    this.#sound = null;
  }

  #fail(why: string): void {
    if (this.#sound) this.#sound.fail(new SpeechError(why));
    else if (this.#socket) this.#giveUp(why);
    this.#sound = null;
  }

  /** An error that is of no text is of the connection: the next text would wait for it until its time is over. */
  #giveUp(why: string): void {
    this.wasLost = true;
    this.#why = why;
    this.close();
    this.lost();
  }

  #lost(why: string, code: number | null): void {
    this.#socket = null;
    this.wasLost = true;
    if (this.#protocol.closesAtEnd && this.#hasSound && code === normalClosure) this.#end();
    else this.#fail(why);
    this.lost();
  }
}
