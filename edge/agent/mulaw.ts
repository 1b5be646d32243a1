import { g711 } from '#shared/g711.ts';

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
