/**
 * Deepgram's `/v1/listen`, as published, for callers whose sound is human speech: the caller says which words it has
 * said, and the server tells them a scripted time later, as a provider that recognizes everything would.
 */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '#shared/clock.ts';
import {
  fields,
  LabServer,
  type LabSession,
  type LabSocket,
  labKey,
  unauthorized,
} from '../speech/lab-server.ts';

/** Time from the end of a word until it is in a partial transcript, ms. */
const partialAfterMs = 150;

export class ListenServer extends LabServer {
  protected readonly path = '/v1/listen';
  readonly #clock: Clock;
  readonly #sessions: ListenSession[] = [];

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  /** The connection of the call that was set up last; undefined: it has none yet. */
  get newest(): ListenSession | undefined {
    return this.#sessions.at(-1);
  }

  protected check(request: IncomingMessage) {
    return unauthorized(request, 'authorization', `Token ${labKey}`);
  }

  protected begin(socket: LabSocket, url: URL): LabSession {
    const session = new ListenSession(socket, this.#clock, Number(url.searchParams.get('sample_rate')));
    this.#sessions.push(session);
    return session;
  }
}

export class ListenSession implements LabSession {
  readonly #socket: LabSocket;
  readonly #clock: Clock;
  readonly #sampleRate: number;
  #samples = 0;
  #settledTo = 0;
  /** Words that were said and are not settled. */
  #words: string[] = [];
  #closed = false;

  constructor(socket: LabSocket, clock: Clock, sampleRate: number) {
    this.#socket = socket;
    this.#clock = clock;
    this.#sampleRate = sampleRate;
  }

  /** The caller has just said these words. */
  said(words: string): void {
    this.#clock.after(partialAfterMs, () => {
      this.#words.push(words);
      this.#results(false);
    });
  }

  binary(octets: Buffer): void {
    this.#samples += octets.length / 2;
  }

  text(message: unknown): void {
    const { type } = fields(message);
    if (type === 'Finalize') this.#results(true);
    else if (type === 'CloseStream') this.#socket.close(1000);
    else if (type !== 'KeepAlive')
      this.#socket.violation(`no message of the API: ${String(type)}`, null, 1008);
  }

  closed(): void {
    this.#closed = true;
  }

  #results(isFinal: boolean): void {
    if (this.#closed) return;
    const position = this.#samples / this.#sampleRate;
    this.#socket.send({
      type: 'Results',
      channel_index: [0, 1],
      start: this.#settledTo,
      duration: position - this.#settledTo,
      is_final: isFinal,
      speech_final: false,
      ...(isFinal && { from_finalize: true }),
      channel: { alternatives: [{ transcript: this.#words.join(' '), confidence: 0.97, words: [] }] },
    });
    if (!isFinal) return;
    this.#settledTo = position;
    this.#words = [];
  }
}
