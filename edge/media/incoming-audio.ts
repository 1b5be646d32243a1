/** What one leg receives: counts every packet, reports key presses, and decodes to PCM when someone listens. */
import type { DtmfEvent } from '../call/ports/media.ts';
import type { AudioCodec } from './codec/codec.ts';
import { DtmfReceiver } from './dtmf/receiver.ts';
import { AudioReceiver } from './jitter/audio-receiver.ts';
import type { SessionPayloads } from './payloads.ts';
import type { Reception } from './quality/reception.ts';
import { parseRtp, RtpView } from './rtp/packet.ts';

export type IncomingStream = Pick<SessionPayloads, 'payloadType' | 'dtmf' | 'otherDtmf'>;

/** Filled and read within one event loop turn, so one serves all legs. */
const view = new RtpView();

export class IncomingAudio {
  readonly #stream: IncomingStream;
  readonly #reception: Reception;
  /** By payload type. */
  readonly #keys: ReadonlyMap<number, DtmfReceiver>;
  readonly #pressed: (event: DtmfEvent) => void;
  #audio: AudioReceiver | null = null;
  #late = 0;

  constructor(stream: IncomingStream, reception: Reception, pressed: (event: DtmfEvent) => void) {
    this.#stream = stream;
    this.#reception = reception;
    const formats = stream.dtmf ? [stream.dtmf, ...(stream.otherDtmf ?? [])] : [];
    this.#keys = new Map(
      formats.map(({ payloadType, clockRate }) => [payloadType, new DtmfReceiver({ clockRate })]),
    );
    this.#pressed = pressed;
  }

  /** Decodes with `codec` from now on; null: stops decoding. */
  listen(codec: AudioCodec | null): void {
    this.#late += this.#audio?.counts.late ?? 0;
    this.#audio = codec ? new AudioReceiver({ codec }) : null;
  }

  /** Packets that arrived too late to be played. */
  get late(): number {
    return this.#late + (this.#audio?.counts.late ?? 0);
  }

  /** Delay added by the jitter buffer, milliseconds. */
  get delayMs(): number {
    return this.#audio?.delayMs ?? 0;
  }

  /** Processes a packet. @returns whether it was RTP */
  push(packet: Uint8Array, nowMs: number): boolean {
    if (!parseRtp(packet, view)) return false;
    const keys = this.#keys.get(view.payloadType);
    this.#reception.push(view.ssrc, view.sequence, view.timestamp, nowMs, keys === undefined);
    if (keys) {
      const payload = packet.subarray(view.payloadStart, view.payloadEnd);
      for (const event of keys.push(view.timestamp, payload, nowMs)) this.#pressed(event);
    } else if (this.#audio && view.payloadType === this.#stream.payloadType) {
      this.#audio.push(view, packet, nowMs);
    }
    return true;
  }

  /** Ends key presses whose end packets were lost. */
  poll(nowMs: number): void {
    for (const keys of this.#keys.values()) {
      if (!keys.pressed) continue;
      for (const event of keys.poll(nowMs)) this.#pressed(event);
    }
  }

  /** 20 ms of received audio, including silence. */
  read(frame: Int16Array, nowMs: number): void {
    if (this.#audio) this.#audio.read(frame, nowMs);
    else frame.fill(0);
  }
}
