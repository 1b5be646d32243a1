/** Messages of a call's audio socket, in the format of Twilio Media Streams with additions. */
import { g711 } from '#shared/g711.ts';

/** Contents of a `media` payload; the server chooses by WebSocket subprotocol. */
export interface StreamFormat {
  readonly subprotocol: string;
  readonly encoding: 'audio/x-mulaw' | 'audio/l16';
  readonly sampleRate: 8000 | 16000;
}

/**
 * In order of offer. The default format comes first although it needs no subprotocol, because many servers
 * blindly select the first one offered.
 */
export const streamFormats: readonly [StreamFormat, ...StreamFormat[]] = [
  { subprotocol: 'audio.mulaw.8000', encoding: 'audio/x-mulaw', sampleRate: 8000 },
  { subprotocol: 'audio.l16.16000', encoding: 'audio/l16', sampleRate: 16000 },
  { subprotocol: 'audio.l16.8000', encoding: 'audio/l16', sampleRate: 8000 },
];

/** How many samples a `media` payload has. */
export function samplesIn(payload: string, { encoding }: StreamFormat): number {
  const octets = Buffer.byteLength(payload, 'base64');
  return encoding === 'audio/x-mulaw' ? octets : octets >> 1;
}

/** Samples of a `media` payload. */
export function decodePayload(payload: string, format: StreamFormat): Int16Array {
  const octets = Buffer.from(payload, 'base64');
  if (format.encoding === 'audio/x-mulaw') return decodeMulaw(octets);
  const samples = new Int16Array(octets.length >> 1);
  for (let i = 0; i < samples.length; i++) samples[i] = octets.readInt16LE(2 * i);
  return samples;
}

/** Encodes frames of one size into payloads, using one buffer. */
export class PayloadEncoder {
  readonly #format: StreamFormat;
  readonly #octets: Buffer;

  constructor(format: StreamFormat) {
    this.#format = format;
    const bytesPerSample = format.encoding === 'audio/x-mulaw' ? 1 : 2;
    this.#octets = Buffer.alloc((format.sampleRate / 50) * bytesPerSample);
  }

  encode(frame: Int16Array): string {
    const octets = this.#octets;
    if (this.#format.encoding === 'audio/x-mulaw') encodeMulaw(frame, octets);
    else for (let i = 0; i < frame.length; i++) octets.writeInt16LE(frame[i] ?? 0, 2 * i);
    return octets.toString('base64');
  }
}

const { toLinear, fromLinear } = g711.PCMU;

/** Writes `samples` as mu-law octets, the default of stream sockets, to the start of `octets`. */
export function encodeMulaw(samples: Int16Array, octets: Uint8Array): void {
  for (let i = 0; i < samples.length; i++) octets[i] = fromLinear[(samples[i] ?? 0) & 0xffff] ?? 0xff;
}

export function decodeMulaw(octets: Uint8Array): Int16Array {
  const samples = new Int16Array(octets.length);
  for (let i = 0; i < octets.length; i++) samples[i] = toLinear[octets[i] ?? 0xff] ?? 0;
  return samples;
}
