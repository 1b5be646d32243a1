/**
 * What one leg sends: every 20 ms a frame from the agent, a frame of silence, or a step of a key press instead.
 * Allocates nothing per frame.
 */
import { randomInt } from 'node:crypto';
import type { AudioEndpoint } from '../call/ports/media.ts';
import type { AudioCodec } from './codec/codec.ts';
import { DtmfSender } from './dtmf/sender.ts';
import type { LevelMeter } from './quality/level-meter.ts';
import { RtpWriter } from './rtp/packet.ts';
import type { EventFormat } from './sdp/session.ts';

export interface OutgoingStream {
  readonly payloadType: number;
  readonly dtmf: EventFormat | null;
  /** RTP clock of the audio, Hz. */
  readonly clockRate: number;
  /** Measures what is sent; absent: nothing does. */
  readonly level?: LevelMeter;
  /** SSRC on the way to the worker, which uses another one towards the peer. */
  readonly ssrc: number;
  /** The packet is overwritten after the call. */
  readonly send: (packet: Buffer) => void;
}

interface Presses {
  readonly sender: DtmfSender;
  readonly done: () => void;
}

/** Silent frames that are encoded before the last one is repeated: stateful encoders have settled by then. */
const settlingFrames = 10;

export class OutgoingAudio {
  readonly #stream: OutgoingStream;
  readonly #writer: RtpWriter;
  /** The payload of a silent frame. */
  #silence = new Uint8Array(0);
  readonly #presses: Presses[] = [];
  #silentFrames = 0;
  /** The next packet starts a talkspurt (RFC 3551 section 4.1). */
  #mark = true;
  #sent = 0;

  constructor(stream: OutgoingStream) {
    this.#stream = stream;
    // RFC 3550 section 5.1: the start of a stream must be unpredictable. Below 2^15 no receiver can mistake a
    // late first packet for one from before a rollover (RFC 3711 section 3.3.1).
    this.#writer = new RtpWriter(stream.ssrc, randomInt(0x8000), randomInt(0x1_0000_0000));
  }

  get packetsSent(): number {
    return this.#sent;
  }

  /** Whether key presses are queued. */
  get pressing(): boolean {
    return this.#presses.length > 0;
  }

  /**
   * Sends 20 ms.
   * @param frame buffer for one frame at the endpoint's rate, of two channels when the codec is stereo; overwritten
   * @param codec at the endpoint's rate
   */
  tick(endpoint: AudioEndpoint | null, codec: AudioCodec, frame: Int16Array): void {
    const press = this.#presses[0];
    const speaks = (codec.stereo ? endpoint?.readStereo?.(frame) : endpoint?.read(frame)) ?? false;
    // The worker identifies a stream by a packet of its main codec: a stream cannot start with an event.
    if (press && this.#sent > 0) this.#press(press);
    else if (press || endpoint) this.#speak(codec, frame, speaks);
    this.#writer.advance(this.#stream.clockRate / 50);
  }

  /** Advances the time without a packet: on hold, or after a stall. */
  pause(frames: number): void {
    this.#writer.advance((frames * this.#stream.clockRate) / 50);
    this.#mark = true;
  }

  /**
   * Queues key presses; resolves after the last was sent or when the stream ends.
   * @throws RangeError for an invalid key
   */
  press(digits: string, clockRate: number): Promise<void> {
    const sender = new DtmfSender(digits, clockRate);
    if (!sender.active) return Promise.resolve();
    return new Promise((done) => this.#presses.push({ sender, done }));
  }

  /** No more packets are sent: queued key presses are dropped. */
  end(): void {
    for (const { done } of this.#presses.splice(0)) done();
  }

  /** The codec has changed: its silence must be encoded again. */
  codecChanged(): void {
    this.#silentFrames = 0;
  }

  #speak(codec: AudioCodec, frame: Int16Array, speaks: boolean): void {
    const writer = this.#writer;
    let length: number;
    if (speaks) this.#stream.level?.add(frame);
    else this.#stream.level?.silence(frame.length);
    if (speaks) {
      length = codec.encode(frame, writer.payload);
      this.#silentFrames = 0;
    } else if (this.#silentFrames < settlingFrames) {
      frame.fill(0);
      length = codec.encode(frame, writer.payload);
      this.#silence = Uint8Array.from(writer.payload.subarray(0, length));
      this.#silentFrames++;
    } else {
      length = this.#silence.length;
      writer.payload.set(this.#silence);
    }
    this.#send(length, this.#stream.payloadType, this.#mark);
    this.#mark = false;
  }

  #press(press: Presses): void {
    const dtmf = this.#stream.dtmf;
    const packet = dtmf ? press.sender.next(this.#writer.timestamp) : null;
    if (packet && dtmf) {
      this.#writer.payload.set(packet.payload);
      this.#send(packet.payload.length, dtmf.payloadType, packet.marker, packet.timestamp);
    }
    if (dtmf && press.sender.active) return;
    this.#presses.shift();
    press.done();
  }

  #send(length: number, payloadType: number, marker: boolean, timestamp?: number): void {
    this.#stream.send(this.#writer.seal(length, payloadType, marker, timestamp));
    this.#sent++;
  }
}
