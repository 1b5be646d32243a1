/**
 * G.722 at 64 kbit/s through libspandsp: 16 kHz audio in 8 octets per ms. Its RTP clock is 8 kHz, a historical
 * error that RFC 3551 section 4.5.2 keeps, so each octet of a payload is one tick.
 */

import { libraryLoader, type Pointer } from '#shared/native-library.ts';
import type { AudioCodec } from './codec.ts';
import { Concealer } from './conceal.ts';

interface G722Functions {
  encodeInit(state: null, rate: number, options: number): Pointer;
  decodeInit(state: null, rate: number, options: number): Pointer;
  encode(state: Pointer, out: Uint8Array, pcm: Int16Array, samples: number): number;
  decode(state: Pointer, pcm: Int16Array, data: Uint8Array, length: number): number;
  encodeFree(state: Pointer): number;
  decodeFree(state: Pointer): number;
}

const bitsPerSecond = 64000;

/** Opens libspandsp once. */
export const loadG722 = libraryLoader<G722Functions>('libspandsp.so.2', 'libspandsp2', (library) => ({
  encodeInit: library.func('void* g722_encode_init(void* state, int rate, int options)'),
  decodeInit: library.func('void* g722_decode_init(void* state, int rate, int options)'),
  encode: library.func('int g722_encode(void* state, uint8_t* out, const int16_t* pcm, int samples)'),
  decode: library.func('int g722_decode(void* state, int16_t* pcm, const uint8_t* data, int length)'),
  encodeFree: library.func('int g722_encode_free(void* state)'),
  decodeFree: library.func('int g722_decode_free(void* state)'),
}));

export class G722 implements AudioCodec {
  readonly name = 'G.722';
  readonly clockRate = 8000;
  readonly sampleRate = 16000;
  readonly samplesPerFrame = 320;
  readonly #g722: G722Functions;
  readonly #concealer = new Concealer(16000);
  #encoder: Pointer;
  #decoder: Pointer;

  /** @throws Error when the library cannot allocate memory */
  constructor(functions: G722Functions) {
    this.#g722 = functions;
    this.#encoder = functions.encodeInit(null, bitsPerSecond, 0);
    this.#decoder = functions.decodeInit(null, bitsPerSecond, 0);
    if (this.#encoder === null || this.#decoder === null) {
      this.close();
      throw new Error('libspandsp could not create a G.722 codec');
    }
  }

  encode(pcm: Int16Array, out: Uint8Array): number {
    if (this.#encoder === null) return 0;
    return this.#g722.encode(this.#encoder, out, pcm, 320);
  }

  decode(payload: Uint8Array, out: Int16Array): number {
    if (this.#decoder === null || payload.length === 0) return 0;
    const length = Math.min(payload.length, out.length >> 1);
    const count = this.#g722.decode(this.#decoder, out, payload, length);
    this.#concealer.received(out, count);
    return count;
  }

  conceal(out: Int16Array): number {
    this.#concealer.conceal(out, 320);
    return 320;
  }

  duration(payload: Uint8Array): number {
    return payload.length;
  }

  close(): void {
    if (this.#encoder !== null) this.#g722.encodeFree(this.#encoder);
    if (this.#decoder !== null) this.#g722.decodeFree(this.#decoder);
    this.#encoder = null;
    this.#decoder = null;
  }
}
