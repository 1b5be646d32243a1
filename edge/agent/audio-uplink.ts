import type { Log } from '../call/log.ts';
import { PayloadEncoder, type StreamFormat } from './stream-messages.ts';

/** Frames in flight in the socket, and frames held here when it is full: one second in all. */
const framesInFlight = 10;
const framesHeld = 40;
/** Approximate size of a `media` message without its payload, bytes. */
const envelopeBytes = 180;

export interface UplinkSocket {
  /** Sends one `media` message for the frame with this number, counted from 0. */
  sendMedia(frameNumber: number, payload: string): void;
  readonly bufferedBytes: number;
}

/**
 * Sends received audio, one message per frame. When the server does not read, frames are held for up to a
 * second; older ones are dropped and counted. Frames keep their numbers, so gaps are visible.
 */
export class AudioUplink {
  readonly #socket: UplinkSocket;
  readonly #encoder: PayloadEncoder;
  readonly #log: Log;
  readonly #frameSamples: number;
  readonly #maxBufferedBytes: number;
  readonly #held: Int16Array;
  #heldCount = 0;
  /** Number of the oldest held frame, or of the next frame when none is held. */
  #oldest = 0;
  #dropped = 0;
  #loggedDropped = 0;

  constructor(socket: UplinkSocket, format: StreamFormat, log: Log) {
    this.#socket = socket;
    this.#encoder = new PayloadEncoder(format);
    this.#log = log;
    this.#frameSamples = format.sampleRate / 50;
    const payloadBytes = Math.ceil(
      (this.#frameSamples * (format.encoding === 'audio/x-mulaw' ? 1 : 2) * 4) / 3,
    );
    this.#maxBufferedBytes = framesInFlight * (payloadBytes + envelopeBytes);
    this.#held = new Int16Array(framesHeld * this.#frameSamples);
  }

  /** Frames dropped so far because the server did not read. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Restarts on a new socket: numbers from 0, nothing held. */
  restart(): void {
    this.#heldCount = 0;
    this.#oldest = 0;
  }

  write(frame: Int16Array): void {
    if (this.#heldCount === 0 && this.#socket.bufferedBytes < this.#maxBufferedBytes) {
      this.#socket.sendMedia(this.#oldest++, this.#encoder.encode(frame));
      return;
    }
    if (this.#heldCount === framesHeld) this.#dropOldest();
    this.#slot(this.#oldest + this.#heldCount).set(frame);
    this.#heldCount++;
    this.#drain();
  }

  #drain(): void {
    while (this.#heldCount > 0 && this.#socket.bufferedBytes < this.#maxBufferedBytes) {
      this.#socket.sendMedia(this.#oldest, this.#encoder.encode(this.#slot(this.#oldest)));
      this.#oldest++;
      this.#heldCount--;
    }
    if (this.#heldCount === 0 && this.#dropped > this.#loggedDropped) this.#logDropped();
  }

  #dropOldest(): void {
    this.#oldest++;
    this.#heldCount--;
    this.#dropped++;
    if (this.#dropped === 1 || this.#dropped - this.#loggedDropped >= 50) this.#logDropped();
  }

  #logDropped(): void {
    this.#loggedDropped = this.#dropped;
    this.#log.warn(
      { dropped_frames: this.#dropped },
      'the stream server does not read, old audio is dropped',
    );
  }

  #slot(frameNumber: number): Int16Array {
    const at = (frameNumber % framesHeld) * this.#frameSamples;
    return this.#held.subarray(at, at + this.#frameSamples);
  }
}
