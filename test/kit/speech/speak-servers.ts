/** Text-to-speech servers of ElevenLabs and Deepgram, as published. Each character is 20 ms of sound. */
import type { IncomingMessage } from 'node:http';
import { fields, LabServer, type LabSession, type LabSocket, labKey, unauthorized } from './lab-server.ts';

abstract class SpeakServer extends LabServer {
  /** Texts in the order in which they were spoken. */
  readonly spoken: string[] = [];
  /** Sound after which it waits for `goOn`, in pieces; null: it does not wait. */
  pauseAfter: number | null = null;
  /** Whether it waits for `goOn` after that before each further piece, too. */
  drips = false;
  /** Closes the connection after this many pieces; null: it does not. */
  dieAfter: number | null = null;
  goOn: () => void = () => undefined;

  /** Sends the sound of a text in pieces of one character, and at last `done`. */
  async speak(text: string, sampleRate: number, send: (octets: Buffer) => void, die: () => void) {
    this.spoken.push(text);
    for (let piece = 0; piece < text.length; piece++) {
      if (piece === this.pauseAfter || (this.drips && piece > (this.pauseAfter ?? 0)))
        await new Promise<void>((resolve) => (this.goOn = resolve));
      if (piece === this.dieAfter) {
        die();
        return false;
      }
      send(Buffer.from(new Int16Array(sampleRate / 50).fill(1000).buffer));
    }
    return true;
  }
}

export class ElevenLabsServer extends SpeakServer {
  protected readonly path = '/v1/text-to-speech/ada/stream-input';

  protected check(request: IncomingMessage, url: URL) {
    const format = url.searchParams.get('output_format');
    if (!/^pcm_(8000|16000)$/.test(format ?? '') || !url.searchParams.has('model_id'))
      return { status: 400, body: 'unknown output format' };
    return unauthorized(request, 'xi-api-key', labKey);
  }

  protected begin(socket: LabSocket, url: URL): LabSession {
    const sampleRate = Number(url.searchParams.get('output_format')?.slice(4));
    let started = false;
    let made: Promise<boolean> = Promise.resolve(true);
    return {
      text: (message) => {
        const { text, flush } = fields(message);
        if (typeof text !== 'string' || (!started && text !== ' ')) {
          socket.violation(
            'the first text must be a space',
            { error: 'invalid_message', message: 'no space' },
            1008,
          );
        } else if (!started) started = true;
        else if (text === '') void made.then((whole) => whole && socket.send({ isFinal: true }));
        else if (!text.endsWith(' ') || flush !== true) {
          socket.violation(
            'a text without a space at its end',
            { error: 'invalid', message: 'no space' },
            1008,
          );
        } else {
          const send = (octets: Buffer) => socket.send({ audio: octets.toString('base64'), isFinal: null });
          made = this.speak(text.trim(), sampleRate, send, () => socket.close(1011, 'internal'));
        }
      },
      binary: () => socket.violation('a binary message', null, 1003),
      closed: () => undefined,
    };
  }
}

export class DeepgramSpeakServer extends SpeakServer {
  protected readonly path = '/v1/speak';
  readonly #sockets = new Set<LabSocket>();

  /** Says on all connections why they can be used no more, and leaves them open. */
  complain(): void {
    for (const socket of this.#sockets) socket.send({ type: 'Error', description: 'quota exceeded' });
  }

  protected check(request: IncomingMessage, url: URL) {
    const { searchParams: query } = url;
    const isRight =
      query.get('model') === 'ada' && query.get('encoding') === 'linear16' && query.has('sample_rate');
    if (!isRight) return { status: 400, body: '{"err_msg":"Bad Request"}' };
    return unauthorized(request, 'authorization', `Token ${labKey}`);
  }

  protected begin(socket: LabSocket, url: URL): LabSession {
    const sampleRate = Number(url.searchParams.get('sample_rate'));
    let waiting = '';
    this.#sockets.add(socket);
    socket.send({
      type: 'Metadata',
      request_id: 'r',
      model_name: 'ada',
      model_version: '1',
      model_uuid: 'u',
    });
    return {
      text: (message) => {
        const { type, text } = fields(message);
        if (type === 'Speak' && typeof text === 'string') waiting += text;
        else if (type === 'Flush') {
          const die = () => socket.close(1011, 'internal');
          void this.speak(waiting, sampleRate, (octets) => socket.sendBinary(octets), die).then(
            (whole) => whole && socket.send({ type: 'Flushed', sequence_id: 0 }),
          );
          waiting = '';
        } else if (type === 'Close') socket.close(1000);
        else
          socket.violation(
            `no message of the API: ${String(type)}`,
            { type: 'Error', description: 'unknown' },
            1008,
          );
      },
      binary: () => socket.violation('a binary message', null, 1003),
      closed: () => void this.#sockets.delete(socket),
    };
  }
}
