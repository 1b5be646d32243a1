/** 16-bit little-endian samples from octets that may be cut anywhere. */
export class SampleJoiner {
  #odd: number | null = null;

  samples(octets: Uint8Array): Int16Array {
    const all = this.#odd === null ? octets : after(this.#odd, octets);
    this.#odd = all.length % 2 === 1 ? (all[all.length - 1] ?? 0) : null;
    return samplesOf(all);
  }
}

/** A copy of the octets as samples, without the last octet of an odd number. All hosts are little-endian. */
export function samplesOf(octets: Uint8Array): Int16Array {
  const samples = new Int16Array(octets.length >> 1);
  new Uint8Array(samples.buffer).set(octets.subarray(0, samples.byteLength));
  return samples;
}

function after(first: number, octets: Uint8Array): Uint8Array {
  const all = new Uint8Array(1 + octets.length);
  all[0] = first;
  all.set(octets, 1);
  return all;
}
