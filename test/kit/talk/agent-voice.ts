/**
 * The agent's voice of the laboratory: Deepgram's `/v1/speak`, as published, speaks recorded human speech. A little noise
 * in it makes each frame of 20 ms unlike all others, so that the caller knows which of them it hears, also in pauses.
 */
import type { IncomingMessage } from 'node:http';
import { random } from '../ears/scenes.ts';
import { decodeMulaw, encodeMulaw } from '../fakes/audio.ts';
import { framesOf } from '../fakes/sounds.ts';
import {
  fields,
  LabServer,
  type LabSession,
  type LabSocket,
  labKey,
  unauthorized,
} from '../speech/lab-server.ts';

/** Amplitude of the noise: far below the speech, above the steps of mu-law. */
const noise = 100;

export class AgentVoice extends LabServer {
  protected readonly path = '/v1/speak';
  readonly #sounds = new Map<string, Int16Array>();

  /** The sound of a text: these recordings. */
  speaks(text: string, speech: Int16Array, seed: number): void {
    const next = random(seed);
    const whole = speech.subarray(0, speech.length - (speech.length % 160));
    this.#sounds.set(
      text,
      whole.map(
        (sample) => Math.max(-30_000, Math.min(30_000, sample)) + Math.round(noise * (2 * next() - 1)),
      ),
    );
  }

  /** Its frames, as they are on the line. */
  framesOf(text: string): Int16Array[] {
    return framesOf(decodeMulaw(encodeMulaw(this.#soundOf(text))));
  }

  protected check(request: IncomingMessage, url: URL) {
    const is =
      url.searchParams.get('encoding') === 'linear16' && url.searchParams.get('sample_rate') === '8000';
    if (!is) return { status: 400, body: '{"err_msg":"Bad Request"}' };
    return unauthorized(request, 'authorization', `Token ${labKey}`);
  }

  protected begin(socket: LabSocket): LabSession {
    let waiting = '';
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
          const sound = this.#soundOf(waiting.trim());
          waiting = '';
          // In pieces of a second, as fast as they are taken.
          for (let at = 0; at < sound.length; at += 8000) {
            const piece = sound.slice(at, at + 8000);
            socket.sendBinary(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
          }
          socket.send({ type: 'Flushed', sequence_id: 0 });
        } else if (type === 'Close') socket.close(1000);
      },
      binary: () => socket.violation('a binary message', null, 1003),
      closed: () => undefined,
    };
  }

  #soundOf(text: string): Int16Array {
    const sound = this.#sounds.get(text);
    if (!sound) throw new Error(`the laboratory has no sound for "${text}"`);
    return sound;
  }
}
