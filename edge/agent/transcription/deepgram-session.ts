import { AskedEnds } from './asked-ends.ts';
import { linear16, type ProtocolSession, type SessionEvents } from './socket-provider.ts';

/** What the sessions of both APIs of Deepgram have in common: audio as binary messages, ends of turns that are asked for. */
export abstract class DeepgramSession implements ProtocolSession {
  readonly hello = null;
  readonly waitsForReady = false;
  readonly goodbye = JSON.stringify({ type: 'CloseStream' });
  abstract readonly keepAlive: string | null;
  /** One has no answer when there is nothing to tell of it. */
  protected readonly asked: AskedEnds;
  readonly #end: string;

  /** @param asks type of the message that asks for the end of a turn */
  constructor(sampleRate: number, asks: string) {
    this.asked = new AskedEnds(sampleRate);
    this.#end = JSON.stringify({ type: asks });
  }

  audio(samples: Int16Array): Uint8Array {
    this.asked.sent(samples.length);
    return linear16(samples);
  }

  end(): string {
    this.asked.ask();
    return this.#end;
  }

  abstract receive(message: unknown, events: SessionEvents): void;
}
