/**
 * G.711 (ITU-T G.711): one octet per sample at 8 kHz. Both directions use lookup tables: 256 entries to decode, 65,536
 * to encode.
 */
export interface G711Law {
  readonly toLinear: Int16Array;
  /** Index: the sample as an unsigned 16-bit number. */
  readonly fromLinear: Uint8Array;
}

function buildLaw(expand: (code: number) => number, compress: (sample: number) => number): G711Law {
  const toLinear = Int16Array.from({ length: 256 }, (_, code) => expand(code));
  return { toLinear, fromLinear: compressed(compress) };
}

/** A code stands for samples without a gap, so a search finds the last one: every start would compress 65,536 otherwise. */
function compressed(compress: (sample: number) => number): Uint8Array {
  const codes = new Uint8Array(65536);
  for (let first = -32768; first < 32768; ) {
    const code = compress(first);
    let last = first;
    let next = 32768;
    while (next - last > 1) {
      const middle = (last + next) >> 1;
      if (compress(middle) === code) last = middle;
      else next = middle;
    }
    codes.fill(code, first & 0xffff, (last & 0xffff) + 1);
    first = next;
  }
  return codes;
}

function expandMu(code: number): number {
  const bits = ~code & 0xff;
  const magnitude = ((((bits & 0x0f) << 3) + 0x84) << ((bits >> 4) & 7)) - 0x84;
  return bits & 0x80 ? -magnitude : magnitude;
}

function compressMu(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const biased = Math.min(Math.abs(sample), 32635) + 0x84;
  const exponent = 24 - Math.clz32(biased);
  return ~(sign | (exponent << 4) | ((biased >> (exponent + 3)) & 0x0f)) & 0xff;
}

function expandA(code: number): number {
  const bits = code ^ 0x55;
  const exponent = (bits >> 4) & 7;
  const step = ((bits & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? step : (step + 0x100) << (exponent - 1);
  return bits & 0x80 ? magnitude : -magnitude;
}

function compressA(sample: number): number {
  const sign = sample >= 0 ? 0x80 : 0;
  const magnitude = sample >= 0 ? sample : ~sample;
  const exponent = Math.max(0, 24 - Math.clz32(magnitude));
  const mantissa = (magnitude >> (exponent === 0 ? 4 : exponent + 3)) & 0x0f;
  return (sign | (exponent << 4) | mantissa) ^ 0x55;
}

export const g711 = {
  PCMU: buildLaw(expandMu, compressMu),
  PCMA: buildLaw(expandA, compressA),
} as const;
