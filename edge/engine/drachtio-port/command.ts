import type { AppMessage } from './app-message.ts';
import type { AppClient } from './client.ts';
import { answerLine, type Peer, sentLine, wireTime } from './lines.ts';

/** A `sip` frame from the application. It is answered exactly once, by `sent` or by `refuse`. */
export class SipCommand {
  readonly client: AppClient;
  /** Transaction to answer or cancel; empty for a new request. */
  readonly transactionId: string;
  /** Dialog of the request; empty outside a dialog. */
  readonly dialogId: string;
  /** Next hop instead of the Request-URI's host: a URI or `host[:port]`; empty when none is given. */
  readonly proxy: string;
  readonly message: AppMessage;
  readonly #requestId: string;
  #answered = false;

  constructor(client: AppClient, tokens: readonly string[], message: AppMessage) {
    this.client = client;
    this.#requestId = tokens[0] ?? '';
    this.transactionId = tokens[2] ?? '';
    this.dialogId = tokens[3] ?? '';
    this.proxy = tokens[4] ?? '';
    this.message = message;
  }

  get answered(): boolean {
    return this.#answered;
  }

  /**
   * The message was sent. Called before the application learns of any result.
   * @param bytes the message exactly as it goes on the wire
   * @param now Unix time in milliseconds
   */
  sent(bytes: Buffer, peer: Peer, now: number, transactionId: string, dialogId: string): void {
    this.#once();
    const line = sentLine(this.#requestId, bytes.length, peer, wireTime(now), transactionId, dialogId);
    this.client.send(line, bytes);
  }

  /** Nothing was sent; the reason is written for the application's developer. */
  refuse(reason: string): void {
    this.#once();
    this.client.send(answerLine(this.#requestId, 'NOK', reason));
  }

  #once(): void {
    if (this.#answered) throw new Error('a frame from the application was answered twice');
    this.#answered = true;
  }
}
