/** Netstrings (`5:hello,`), the framing of baresip's control connection. */

export function encodeNetstring(text: string): Buffer {
  const body = Buffer.from(text, 'utf8');
  return Buffer.concat([Buffer.from(`${body.length}:`), body, Buffer.from(',')]);
}

export class NetstringReader {
  #buffer = Buffer.alloc(0);

  /** @returns the texts that `chunk` completes @throws Error when the stream is not a sequence of netstrings */
  read(chunk: Buffer): string[] {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    const texts: string[] = [];
    for (;;) {
      const colon = this.#buffer.indexOf(':');
      if (colon < 0) return texts;
      const length = Number(this.#buffer.toString('latin1', 0, colon));
      if (!Number.isInteger(length)) throw new Error('not a netstring');
      const end = colon + 1 + length;
      if (this.#buffer.length <= end) return texts;
      texts.push(this.#buffer.toString('utf8', colon + 1, end));
      this.#buffer = this.#buffer.subarray(end + 1);
    }
  }
}
