/**
 * G.729 Annex A through libbcg729: frames of 10 ms in 10 octets, two per packet; a packet may end with a 2-octet
 * comfort noise frame of Annex B (RFC 3551 section 4.5.6). The library is licensed under the GPL: it is used only
 * if the operator has installed it.
 */

import { libraryLoader, type Pointer } from '#shared/native-library.ts';
import type { AudioCodec } from './codec.ts';

interface G729Functions {
  encoderInit(voiceActivityDetection: number): Pointer;
  decoderInit(): Pointer;
  encode(encoder: Pointer, pcm: Int16Array, out: Uint8Array, length: Uint8Array): void;
  decode(
    decoder: Pointer,
    data: Uint8Array | null,
    length: number,
    erased: number,
    sid: number,
    rfc3389: number,
    pcm: Int16Array,
  ): void;
  encoderClose(encoder: Pointer): void;
  decoderClose(decoder: Pointer): void;
}

const frameOctets = 10;
const noiseOctets = 2;
const frameSamples = 80;

/** Opens libbcg729 once. */
export const loadG729 = libraryLoader<G729Functions>('libbcg729.so.0', 'libbcg729-0', (library) => ({
  encoderInit: library.func('void* initBcg729EncoderChannel(uint8_t vad)'),
  decoderInit: library.func('void* initBcg729DecoderChannel()'),
  encode: library.func(
    'void bcg729Encoder(void* encoder, const int16_t* pcm, uint8_t* out, uint8_t* length)',
  ),
  decode: library.func(
    'void bcg729Decoder(void* decoder, const uint8_t* data, uint8_t length, uint8_t erased, uint8_t sid, uint8_t rfc3389, int16_t* pcm)',
  ),
  encoderClose: library.func('void closeBcg729EncoderChannel(void* encoder)'),
  decoderClose: library.func('void closeBcg729DecoderChannel(void* decoder)'),
}));

export class G729 implements AudioCodec {
  readonly name = 'G.729';
  readonly clockRate = 8000;
  readonly sampleRate = 8000;
  readonly samplesPerFrame = 160;
  readonly #g729: G729Functions;
  readonly #length = new Uint8Array(1);
  #encoder: Pointer;
  #decoder: Pointer;

  /** @throws Error when the library cannot allocate memory */
  constructor(functions: G729Functions) {
    this.#g729 = functions;
    this.#encoder = functions.encoderInit(0);
    this.#decoder = functions.decoderInit();
    if (this.#encoder === null || this.#decoder === null) {
      this.close();
      throw new Error('libbcg729 could not create a codec');
    }
  }

  encode(pcm: Int16Array, out: Uint8Array): number {
    if (this.#encoder === null) return 0;
    this.#g729.encode(this.#encoder, pcm.subarray(0, frameSamples), out, this.#length);
    const second = pcm.subarray(frameSamples, 2 * frameSamples);
    this.#g729.encode(this.#encoder, second, out.subarray(frameOctets), this.#length);
    return 2 * frameOctets;
  }

  decode(payload: Uint8Array, out: Int16Array): number {
    if (this.#decoder === null || this.duration(payload) === 0) return 0;
    let samples = 0;
    for (let at = 0; at < payload.length && samples + frameSamples <= out.length; at += frameOctets) {
      const frame = payload.subarray(at, at + frameOctets);
      const noise = frame.length === noiseOctets ? 1 : 0;
      this.#g729.decode(this.#decoder, frame, frame.length, 0, noise, 0, out.subarray(samples));
      samples += frameSamples;
    }
    return samples;
  }

  conceal(out: Int16Array): number {
    if (this.#decoder === null) {
      out.fill(0, 0, 160);
      return 160;
    }
    this.#g729.decode(this.#decoder, null, 0, 1, 0, 0, out);
    this.#g729.decode(this.#decoder, null, 0, 1, 0, 0, out.subarray(frameSamples));
    return 160;
  }

  duration(payload: Uint8Array): number {
    const rest = payload.length % frameOctets;
    if (rest !== 0 && rest !== noiseOctets) return 0;
    return Math.ceil(payload.length / frameOctets) * frameSamples;
  }

  close(): void {
    if (this.#encoder !== null) this.#g729.encoderClose(this.#encoder);
    if (this.#decoder !== null) this.#g729.decoderClose(this.#decoder);
    this.#encoder = null;
    this.#decoder = null;
  }
}
