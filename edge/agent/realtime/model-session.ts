/**
 * A session with a model that hears and speaks: what an agent needs of it, whichever protocol its server has. One object
 * is one connection. It translates in both directions and waits for nothing.
 */
import type { DialogueTool, ToolCall } from '#shared/agent/dialogue.ts';
import type { CodecName } from '#shared/codecs.ts';
import type { SpeechServer } from '../speech-socket.ts';

/** A line of the conversation so far. */
export interface SpokenLine {
  readonly user: 'user' | 'assistant';
  readonly text: string;
}

export interface SessionOptions {
  readonly instructions: string;
  readonly tools: readonly DialogueTool[];
  /** null: the model's own */
  readonly voice: string | null;
  /** BCP 47 */
  readonly language: string;
  /** 0..1; null: the model's own */
  readonly temperature: number | null;
  /** Whether the caller's voice ends an answer of the model. */
  readonly interruptible: boolean;
  /** What was said before this session, oldest first. */
  readonly history: readonly SpokenLine[];
  /** `resumption` of the session before this one. */
  readonly resumption: string | null;
  /** That of the session before this one: it stays for the whole call. null: this is the first */
  readonly sampleRate: 8000 | 16000 | null;
  /** Of the caller's audio: a format in which it need not be changed comes first. null: not known */
  readonly codec: CodecName | null;
}

export interface SessionEvents {
  send(message: string): void;
  /** The server has accepted the session; `sampleRate` is known. */
  ready(): void;
  /** Whether there is room for sound of the answer: else it need not be decoded. */
  room(item: string): boolean;
  /** Sound of an answer at `sampleRate`, in order. */
  sound(item: string, samples: Int16Array): void;
  /** No more sound of the answer comes. Not every server tells in time. */
  soundOver(item: string): void;
  /** More words of an answer. */
  words(item: string, more: string): void;
  /** The answer is complete. @param text all its words; null: those that were reported */
  said(item: string, text: string | null): void;
  /** The caller's words of one turn. */
  heard(text: string): void;
  /** The caller speaks. */
  interrupted(): void;
  /** The caller has stopped speaking. Not every server tells. */
  stopped(): void;
  /** @returns whether there will be a result */
  tool(call: ToolCall): boolean;
  /** The result of a call is not wanted any more. */
  toolCancelled(id: string): void;
  /** The server will end the session soon. */
  ending(why: string): void;
  /** Something was refused or not understood; the session goes on. */
  problem(why: string): void;
  /** The session is of no use any more. */
  failed(why: string): void;
}

export interface ModelSession {
  /** Of the audio in both directions, Hz; fixed when the session is ready. */
  readonly sampleRate: 8000 | 16000;
  /** By which a new connection continues the session; null: it cannot. */
  readonly resumption: string | null;
  /** The connection is open. */
  opened(): void;
  receive(message: unknown): void;
  /** 20 ms of the caller's audio. */
  audio(frame: Int16Array): void;
  /**
   * The model speaks first.
   * @param sentence its first words; null: as its instructions say
   * @param told what has happened on the call so far; null: nothing
   */
  begin(sentence: string | null, told: string | null): void;
  /** Tells what happened on the call; the model answers. */
  tell(text: string): void;
  /** @param result plain data */
  toolResult(call: ToolCall, result: unknown): void;
  /** Of this answer the caller has heard `ms`, and will hear no more. */
  cut(item: string, ms: number): void;
  /** The answer that is being made, if any, is to end. */
  stop(): void;
  /** Nothing more is heard with this session: what it has of the caller's words is told. */
  end(): void;
}

/** The protocol of a vendor and of those that are compatible with it. */
export interface ModelProtocol {
  url(server: SpeechServer): URL;
  headers(apiKey: string): Readonly<Record<string, string>>;
  session(server: SpeechServer, options: SessionOptions, events: SessionEvents): ModelSession;
}
