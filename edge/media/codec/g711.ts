import { type G711Law, g711 } from '#shared/g711.ts';
import type { AudioCodec } from './codec.ts';
import { Concealer } from './conceal.ts';

/** PCMU or PCMA (RFC 3551 section 4.5.14) at 8 kHz. */
export class G711 implements AudioCodec {
  readonly name: 'PCMU' | 'PCMA';
  readonly clockRate = 8000;
  readonly sampleRate = 8000;
  readonly samplesPerFrame = 160;
  readonly #law: G711Law;
  readonly #concealer = new Concealer(8000);

  constructor(name: 'PCMU' | 'PCMA') {
    this.name = name;
    this.#law = g711[name];
  }

  encode(pcm: Int16Array, out: Uint8Array): number {
    const { fromLinear } = this.#law;
    for (let i = 0; i < 160; i++) out[i] = fromLinear[(pcm[i] ?? 0) & 0xffff] ?? 0;
    return 160;
  }

  decode(payload: Uint8Array, out: Int16Array): number {
    const { toLinear } = this.#law;
    const length = Math.min(payload.length, out.length);
    for (let i = 0; i < length; i++) out[i] = toLinear[payload[i] ?? 0] ?? 0;
    this.#concealer.received(out, length);
    return length;
  }

  conceal(out: Int16Array): number {
    this.#concealer.conceal(out, 160);
    return 160;
  }

  duration(payload: Uint8Array): number {
    return payload.length;
  }

  close(): void {}
}
