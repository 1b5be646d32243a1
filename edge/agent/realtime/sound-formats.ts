/** The audio formats of model servers, and the samples of the agent in them. */
import { g711 } from '#shared/g711.ts';
import { StreamResampler } from '#shared/models/resample.ts';

export interface SoundCodec {
  /** Of the agent's samples, Hz. */
  readonly sampleRate: 8000 | 16000;
  encode(samples: Int16Array): Buffer;
  decode(octets: Buffer): Int16Array;
  /** The last samples of an answer; what follows is another. */
  flush(): Int16Array;
}

/** One octet per sample, as on the line of a caller with G.711: no rate is changed. */
export class G711Codec implements SoundCodec {
  readonly sampleRate = 8000;
  readonly #law: 'PCMU' | 'PCMA';

  constructor(law: 'PCMU' | 'PCMA') {
    this.#law = law;
  }

  encode(samples: Int16Array): Buffer {
    const { fromLinear } = g711[this.#law];
    const octets = Buffer.allocUnsafe(samples.length);
    for (let i = 0; i < samples.length; i++) octets[i] = fromLinear[(samples[i] ?? 0) & 0xffff] ?? 0;
    return octets;
  }

  decode(octets: Buffer): Int16Array {
    const { toLinear } = g711[this.#law];
    const samples = new Int16Array(octets.length);
    for (let i = 0; i < samples.length; i++) samples[i] = toLinear[octets[i] ?? 0] ?? 0;
    return samples;
  }

  flush(): Int16Array {
    return new Int16Array(0);
  }
}

/** 16-bit little-endian PCM, with a rate of its own in each direction; the agent has 16 kHz. */
export class LinearCodec implements SoundCodec {
  readonly sampleRate = 16_000;
  readonly #toServer: StreamResampler;
  readonly #fromRate: number;
  #fromServer: StreamResampler;
  /** The first octet of a sample whose second comes with the next piece. */
  #half: Buffer = Buffer.alloc(0);

  /** @param rates of the server's input and output, Hz */
  constructor(rates: { readonly input: number; readonly output: number }) {
    this.#toServer = new StreamResampler(this.sampleRate, rates.input);
    this.#fromRate = rates.output;
    this.#fromServer = new StreamResampler(this.#fromRate, this.sampleRate);
  }

  encode(samples: Int16Array): Buffer {
    const out = this.#toServer.push(samples);
    const octets = Buffer.allocUnsafe(2 * out.length);
    for (let i = 0; i < out.length; i++) octets.writeInt16LE(out[i] ?? 0, 2 * i);
    return octets;
  }

  decode(octets: Buffer): Int16Array {
    const all = this.#half.length === 0 ? octets : Buffer.concat([this.#half, octets]);
    const samples = new Int16Array(all.length >> 1);
    for (let i = 0; i < samples.length; i++) samples[i] = all.readInt16LE(2 * i);
    this.#half = Buffer.from(all.subarray(2 * samples.length));
    return this.#fromServer.push(samples);
  }

  flush(): Int16Array {
    const rest = this.#fromServer.flush();
    this.#fromServer = new StreamResampler(this.#fromRate, this.sampleRate);
    this.#half = Buffer.alloc(0);
    return rest;
  }
}
