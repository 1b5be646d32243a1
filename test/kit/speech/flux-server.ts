/** Deepgram Flux, `/v2/listen`, as published. */
import type { IncomingMessage } from 'node:http';
import { fields, LabServer, type LabSession, type LabSocket, labKey, unauthorized } from './lab-server.ts';
import { WordReader } from './words.ts';

const parameters = new Set([
  'model',
  'encoding',
  'sample_rate',
  'eager_eot_threshold',
  'eot_threshold',
  'eot_timeout_ms',
  'keyterm',
  'language_hint',
]);
const updateMs = 240;
const eagerMs = 200;

export class FluxServer extends LabServer {
  protected readonly path = '/v2/listen';
  /** Silence after which the model ends a turn, ms. */
  endMs = 600;

  protected check(request: IncomingMessage, url: URL) {
    const unknown = [...url.searchParams.keys()].filter((name) => !parameters.has(name));
    const isFlux = url.searchParams.get('model')?.startsWith('flux-');
    if (unknown.length > 0 || !isFlux || !url.searchParams.has('sample_rate'))
      return { status: 400, body: `{"err_msg":"Bad Request: ${unknown}"}` };
    return unauthorized(request, 'authorization', `Token ${labKey}`);
  }

  protected begin(socket: LabSocket, url: URL): LabSession {
    const eager = url.searchParams.has('eager_eot_threshold');
    return new FluxSession(socket, this, Number(url.searchParams.get('sample_rate')), eager);
  }
}

type State = 'initial' | 'ongoing' | 'awaiting_end';

class FluxSession implements LabSession {
  readonly #socket: LabSocket;
  readonly #server: FluxServer;
  readonly #reader: WordReader;
  readonly #eager: boolean;
  #state: State = 'initial';
  #words: string[] = [];
  #turn = 0;
  #sequence = 0;
  #updatedAt = 0;

  constructor(socket: LabSocket, server: FluxServer, sampleRate: number, eager: boolean) {
    this.#socket = socket;
    this.#server = server;
    this.#reader = new WordReader(sampleRate);
    this.#eager = eager;
    socket.send({ type: 'Connected', request_id: 'r', sequence_id: this.#sequence++ });
  }

  binary(octets: Buffer): void {
    if (octets.length === 0 || octets.length % 2 !== 0) {
      this.#socket.violation('audio that is no 16-bit audio', null, 1008, 'DATA-0000');
      return;
    }
    for (let at = 0; at < octets.length; at += 2) this.#read(octets.readInt16LE(at));
  }

  #read(sample: number): void {
    const word = this.#reader.read(sample);
    const { silenceMs, positionS } = this.#reader;
    if (word !== null) {
      this.#words.push(word);
      if (this.#state === 'initial') this.#info('StartOfTurn');
      else if (this.#state === 'awaiting_end') this.#info('TurnResumed');
      this.#state = 'ongoing';
    } else if (this.#state === 'ongoing' && this.#eager && silenceMs === eagerMs) {
      this.#state = 'awaiting_end';
      this.#info('EagerEndOfTurn');
    } else if (this.#state !== 'initial' && silenceMs === this.#server.endMs) this.#end();
    if ((positionS - this.#updatedAt) * 1000 >= updateMs) this.#info('Update');
  }

  text(message: unknown): void {
    const { type } = fields(message);
    if (type === 'CloseStream') this.#socket.close(1000);
    else if (type === 'ForceEndTurn') {
      if (this.#state !== 'initial') this.#end();
    } else {
      const error = { type: 'Error', code: 'UNPARSABLE_CLIENT_MESSAGE', description: 'could not be parsed' };
      this.#socket.violation(`no message of the API: ${JSON.stringify(message)}`, error, 1008);
    }
  }

  closed(): void {}

  #end(): void {
    this.#info('EndOfTurn');
    this.#state = 'initial';
    this.#words = [];
    this.#turn++;
  }

  #info(event: string): void {
    this.#updatedAt = this.#reader.positionS;
    this.#socket.send({
      type: 'TurnInfo',
      request_id: 'r',
      sequence_id: this.#sequence++,
      event,
      turn_index: this.#turn,
      audio_window_start: 0,
      audio_window_end: this.#reader.positionS,
      transcript: this.#words.join(' '),
      words: this.#words.map((word) => ({ word, confidence: 0.8 })),
      end_of_turn_confidence: 0.5,
    });
  }
}
