/** Deepgram's live transcription, `/v1/listen`, as published: what it rejects is rejected here. */
import type { IncomingMessage } from 'node:http';
import type { Clock, Timer } from '#shared/clock.ts';
import { fields, LabServer, type LabSession, type LabSocket, labKey, unauthorized } from './lab-server.ts';
import { WordReader, wordMs } from './words.ts';

const parameters = new Set([
  'model',
  'language',
  'encoding',
  'sample_rate',
  'channels',
  'interim_results',
  'punctuate',
  'smart_format',
  'vad_events',
  'endpointing',
  'utterance_end_ms',
  'keyterm',
  'keywords',
]);
const idleMs = 10_000;
const utteranceEndMs = 1000;
/** Silence is settled in pieces of this length. */
const silenceMs = 3000;
/** Of audio between two interim results, whether there are words or not. */
const interimMs = 1000;

export class DeepgramServer extends LabServer {
  protected readonly path = '/v1/listen';
  readonly #clock: Clock;
  /** Query of the last connection. */
  query = new URLSearchParams();
  /** Whether `Finalize` without words that are not final gets no answer, as happens. */
  skipsEmptyFinalize = false;
  /** How often each final result is sent. */
  finalsSent = 1;
  /** Interim results that are sent with each piece of audio, and with each 40 ms of it, besides those that are due. */
  flood = 0;
  floodOf40ms = 0;
  /** Whether `Finalize` gets no answer at all. */
  ignoresFinalize = false;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  protected check(request: IncomingMessage, url: URL) {
    const unknown = [...url.searchParams.keys()].filter((name) => !parameters.has(name));
    const { searchParams: query } = url;
    if (
      unknown.length > 0 ||
      query.get('encoding') !== 'linear16' ||
      !query.has('sample_rate') ||
      !query.has('model')
    )
      return { status: 400, body: `{"err_msg":"Bad Request: ${unknown}"}` };
    return unauthorized(request, 'authorization', `Token ${labKey}`);
  }

  protected begin(socket: LabSocket, url: URL): LabSession {
    this.query = url.searchParams;
    return new ListenSession(socket, this, this.#clock, Number(url.searchParams.get('sample_rate')));
  }
}

class ListenSession implements LabSession {
  readonly #socket: LabSocket;
  readonly #server: DeepgramServer;
  readonly #clock: Clock;
  readonly #reader: WordReader;
  readonly #sampleRate: number;
  #words: { readonly word: string; readonly start: number; readonly end: number }[] = [];
  /** Whether there were words since the last `UtteranceEnd`. */
  #uttered = false;
  /** seconds */
  #settledTo = 0;
  #toldTo = 0;
  #idle: Timer | null = null;

  constructor(socket: LabSocket, server: DeepgramServer, clock: Clock, sampleRate: number) {
    this.#socket = socket;
    this.#server = server;
    this.#clock = clock;
    this.#reader = new WordReader(sampleRate);
    this.#sampleRate = sampleRate;
    this.#heard();
  }

  binary(octets: Buffer): void {
    this.#heard();
    if (octets.length === 0 || octets.length % 2 !== 0) {
      this.#socket.violation('audio that is no 16-bit audio', null, 1008, 'DATA-0000');
      return;
    }
    const { flood, floodOf40ms } = this.#server;
    const of40ms = octets.length / (0.08 * this.#sampleRate);
    this.#results(false, {}, flood + Math.round(floodOf40ms * of40ms));
    for (let at = 0; at < octets.length; at += 2) {
      const word = this.#reader.read(octets.readInt16LE(at));
      if (word !== null) {
        const end = this.#reader.positionS;
        this.#words.push({ word, start: end - wordMs / 1000, end });
        this.#results(false, {});
      }
      if (word !== null) this.#uttered = true;
      if (this.#uttered && this.#reader.silenceMs === utteranceEndMs) {
        this.#uttered = false;
        this.#socket.send({
          type: 'UtteranceEnd',
          channel: [0, 1],
          last_word_end: this.#reader.positionS - 1,
        });
      }
      if (this.#words.length > 0 && this.#reader.silenceMs === 300)
        this.#results(true, { speech_final: true });
      else if (this.#words.length === 0 && (this.#reader.positionS - this.#settledTo) * 1000 >= silenceMs)
        this.#results(true, {});
      else if ((this.#reader.positionS - this.#toldTo) * 1000 >= interimMs) this.#results(false, {});
    }
  }

  text(message: unknown): void {
    this.#heard();
    switch (fields(message).type) {
      case 'KeepAlive':
        return;
      case 'Finalize': {
        const isEmpty = this.#words.length === 0;
        if (this.#server.ignoresFinalize || (isEmpty && this.#server.skipsEmptyFinalize)) return;
        this.#results(true, { from_finalize: true });
        return;
      }
      case 'CloseStream':
        this.#results(true, {});
        this.#socket.send({
          type: 'Metadata',
          request_id: 'r',
          duration: this.#reader.positionS,
          channels: 1,
        });
        this.#socket.close(1000);
        return;
      default:
        this.#socket.violation(
          `a message that is none of the API: ${JSON.stringify(message)}`,
          {
            type: 'Error',
            description: 'Could not deserialize last text message',
            message: '',
            variant: 'Schema',
          },
          1008,
          'DATA-0000',
        );
    }
  }

  closed(): void {
    this.#idle?.cancel();
  }

  #heard(): void {
    this.#idle?.cancel();
    this.#idle = this.#clock.after(idleMs, () => this.#socket.close(1011, 'NET-0001'));
  }

  #results(isFinal: boolean, more: object, times = isFinal ? this.#server.finalsSent : 1): void {
    if (times === 0) return;
    const start = this.#settledTo;
    this.#toldTo = this.#reader.positionS;
    const results = {
      type: 'Results',
      channel_index: [0, 1],
      start,
      duration: this.#reader.positionS - start,
      is_final: isFinal,
      speech_final: false,
      channel: {
        alternatives: [
          {
            transcript: this.#words.map(({ word }) => word).join(' '),
            confidence: 0.9,
            words: this.#words,
          },
        ],
      },
      metadata: {
        request_id: 'r',
        model_uuid: 'm',
        model_info: { name: 'nova', version: '1', arch: 'nova-3' },
      },
      ...more,
    };
    this.#socket.send(results, times);
    if (!isFinal) return;
    this.#settledTo = this.#reader.positionS;
    this.#words = [];
  }
}
