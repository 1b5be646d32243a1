/** ITU-T G.711 mu-law, one octet per sample: what stream sockets carry unless they ask for linear PCM. */
const toLinear = Int16Array.from({ length: 256 }, (_, code) => expand(code));
/** Index: the sample as an unsigned 16-bit number. */
const fromLinear = Uint8Array.from({ length: 65_536 }, (_, index) => compress((index << 16) >> 16));

function expand(code: number): number {
  const bits = ~code & 0xff;
  const magnitude = ((((bits & 0x0f) << 3) + 0x84) << ((bits >> 4) & 7)) - 0x84;
  return bits & 0x80 ? -magnitude : magnitude;
}

function compress(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const biased = Math.min(Math.abs(sample), 32_635) + 0x84;
  const segment = 24 - Math.clz32(biased);
  return ~(sign | (segment << 4) | ((biased >> (segment + 3)) & 0x0f)) & 0xff;
}

/** Writes `samples` as octets to the start of `octets`. */
export function encodeMulaw(samples: Int16Array, octets: Uint8Array): void {
  for (let i = 0; i < samples.length; i++) octets[i] = fromLinear[(samples[i] ?? 0) & 0xffff] ?? 0xff;
}

export function decodeMulaw(octets: Uint8Array): Int16Array {
  const samples = new Int16Array(octets.length);
  for (let i = 0; i < octets.length; i++) samples[i] = toLinear[octets[i] ?? 0xff] ?? 0;
  return samples;
}
