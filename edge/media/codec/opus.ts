/**
 * Opus (RFC 6716, RFC 7587) through libopus: 20 ms packets, encoder and decoder at the agent's rate; the RTP clock is
 * always 48 kHz. Mono, except for a supervisor, who hears each side of a call on its own channel. The library does
 * resampling and concealment.
 */

import { libraryLoader, type Pointer } from '#shared/native-library.ts';
import type { AgentRate, AudioCodec } from './codec.ts';

interface OpusFunctions {
  encoderCreate(rate: number, channels: number, application: number, error: Int32Array): Pointer;
  decoderCreate(rate: number, channels: number, error: Int32Array): Pointer;
  encoderControl(encoder: Pointer, request: number, type: 'int', value: number): number;
  encode(encoder: Pointer, pcm: Int16Array, samples: number, out: Uint8Array, room: number): number;
  decode(
    decoder: Pointer,
    data: Uint8Array | null,
    length: number,
    pcm: Int16Array,
    room: number,
    fec: number,
  ): number;
  encoderDestroy(encoder: Pointer): void;
  decoderDestroy(decoder: Pointer): void;
}

// Constants from opus_defines.h.
const applicationVoip = 2048;
const applicationAudio = 2049;
const setBitrate = 4002;
const setComplexity = 4010;
const setInbandFec = 4012;
const setPacketLossPercent = 4014;

/** Encoder effort, 0 to 10. Above 5 a frame costs twice the time without an audible gain for speech. */
const complexity = 5;

/** Bits per second, between the recommendations of RFC 7587 section 3.1.1 for narrowband and wideband speech. */
const bitrates: Readonly<Record<AgentRate, number>> = { 8000: 16000, 16000: 24000 };

/** Of two channels: at this rate voices do not leak into each other. */
const stereoBitrate = 64_000;

/** Loss that the encoder prepares for when the peer supports in-band FEC, percent. */
const preparedLoss = 10;

const ticksPerMs = 48;

/** Opens libopus once. */
export const loadOpus = libraryLoader<OpusFunctions>('libopus.so.0', 'libopus0', (library) => ({
  encoderCreate: library.func('void* opus_encoder_create(int fs, int channels, int application, int* error)'),
  decoderCreate: library.func('void* opus_decoder_create(int fs, int channels, int* error)'),
  encoderControl: library.func('int opus_encoder_ctl(void* encoder, int request, ...)'),
  encode: library.func('int opus_encode(void* encoder, const int16_t* pcm, int n, uint8_t* out, int room)'),
  decode: library.func(
    'int opus_decode(void* decoder, const uint8_t* data, int length, int16_t* pcm, int room, int fec)',
  ),
  encoderDestroy: library.func('void opus_encoder_destroy(void* encoder)'),
  decoderDestroy: library.func('void opus_decoder_destroy(void* decoder)'),
}));

export class Opus implements AudioCodec {
  readonly name = 'Opus';
  readonly clockRate = 48000;
  readonly stereo?: true;
  readonly sampleRate: AgentRate;
  readonly samplesPerFrame: number;
  readonly #opus: OpusFunctions;
  #encoder: Pointer;
  #decoder: Pointer;

  /**
   * @param fmtp the peer's format parameters (RFC 7587 section 6.1), from its SDP
   * @param twoSided whether there are two channels to encode: a peer that asks for stereo gets both
   * @throws Error when the library cannot allocate memory
   */
  constructor(functions: OpusFunctions, rate: AgentRate, fmtp: string | null, twoSided = false) {
    this.#opus = functions;
    this.sampleRate = rate;
    this.samplesPerFrame = rate / 50;
    const error = new Int32Array(1);
    const stereo = twoSided && parameter(fmtp, 'stereo') === 1;
    if (stereo) this.stereo = true;
    // The mode for speech predicts one channel from the other.
    this.#encoder = stereo
      ? functions.encoderCreate(rate, 2, applicationAudio, error)
      : functions.encoderCreate(rate, 1, applicationVoip, error);
    this.#decoder = functions.decoderCreate(rate, 1, error);
    if (this.#encoder === null || this.#decoder === null) {
      this.close();
      throw new Error(`libopus could not create a codec: error ${error[0]}`);
    }
    const bitrate = stereo ? stereoBitrate : bitrates[rate];
    const limit = parameter(fmtp, 'maxaveragebitrate') ?? bitrate;
    this.#control(setBitrate, Math.max(6000, Math.min(limit, bitrate)));
    this.#control(setComplexity, complexity);
    if (parameter(fmtp, 'useinbandfec') === 1) {
      this.#control(setInbandFec, 1);
      this.#control(setPacketLossPercent, preparedLoss);
    }
  }

  encode(pcm: Int16Array, out: Uint8Array): number {
    if (this.#encoder === null) return 0;
    return Math.max(0, this.#opus.encode(this.#encoder, pcm, this.samplesPerFrame, out, out.length));
  }

  decode(payload: Uint8Array, out: Int16Array): number {
    // An empty payload would be treated as a loss.
    if (this.#decoder === null || payload.length === 0) return 0;
    return Math.max(0, this.#opus.decode(this.#decoder, payload, payload.length, out, out.length, 0));
  }

  conceal(out: Int16Array, next: Uint8Array | null = null): number {
    const count = this.samplesPerFrame;
    if (this.#decoder === null) return out.fill(0, 0, count) && count;
    // If the following packet is available, its redundant copy of the lost one is decoded (RFC 6716 section
    // 2.1.7); the library conceals when the packet has none.
    const written =
      next !== null && next.length > 0
        ? this.#opus.decode(this.#decoder, next, next.length, out, count, 1)
        : this.#opus.decode(this.#decoder, null, 0, out, count, 0);
    if (written < count) out.fill(0, Math.max(0, written), count);
    return count;
  }

  duration(payload: Uint8Array): number {
    return opusDuration(payload);
  }

  close(): void {
    if (this.#encoder !== null) this.#opus.encoderDestroy(this.#encoder);
    if (this.#decoder !== null) this.#opus.decoderDestroy(this.#decoder);
    this.#encoder = null;
    this.#decoder = null;
  }

  #control(request: number, value: number): void {
    this.#opus.encoderControl(this.#encoder, request, 'int', value);
  }
}

/** Length of an Opus packet in 48 kHz ticks, from its first octets (RFC 6716 section 3.1); 0 when invalid. */
export function opusDuration(payload: Uint8Array): number {
  const toc = payload[0];
  if (toc === undefined) return 0;
  const config = toc >> 3;
  let frameMs: number;
  if (config < 12) frameMs = [10, 20, 40, 60][config & 3] ?? 0;
  else if (config < 16) frameMs = config & 1 ? 20 : 10;
  else frameMs = [2.5, 5, 10, 20][config & 3] ?? 0;
  const code = toc & 3;
  const frames = code === 0 ? 1 : code === 3 ? (payload[1] ?? 0) & 0x3f : 2;
  const ticks = frames * frameMs * ticksPerMs;
  return ticks > 120 * ticksPerMs ? 0 : ticks;
}

/** A numeric parameter of an `a=fmtp` value. */
function parameter(fmtp: string | null, name: string): number | undefined {
  for (const part of (fmtp ?? '').split(';')) {
    const [key = '', value = ''] = part.split('=');
    if (key.trim().toLowerCase() === name && /^\d{1,9}$/.test(value.trim())) return Number(value);
  }
  return undefined;
}
