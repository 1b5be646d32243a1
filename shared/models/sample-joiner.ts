/** 16-bit little-endian samples from octets that may be cut anywhere. */
export class SampleJoiner {
  #odd: number | null = null;

  samples(octets: Uint8Array): Int16Array {
    const all = this.#odd === null ? octets : after(this.#odd, octets);
    this.#odd = all.length % 2 === 1 ? (all[all.length - 1] ?? 0) : null;
    const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
    const samples = new Int16Array(all.length >> 1);
    for (let i = 0; i < samples.length; i++) samples[i] = view.getInt16(2 * i, true);
    return samples;
  }
}

function after(first: number, octets: Uint8Array): Uint8Array {
  const all = new Uint8Array(1 + octets.length);
  all[0] = first;
  all.set(octets, 1);
  return all;
}
