/** Octets of an extended length, by the length code in the second octet of a head (RFC 6455 section 5.2). */
const EXTENDED: Readonly<Record<number, number>> = { 126: 2, 127: 8 };
const MASK_OCTETS = 4;
const LONGEST_HEAD = 14;

/**
 * Follows the frames of a WebSocket (RFC 6455 section 5.2) to know how much of an incomplete message has arrived.
 * It reads only heads and validates nothing: protocol violations are handled elsewhere.
 */
export class WebSocketFrames {
  readonly #head = Buffer.alloc(LONGEST_HEAD);
  #headOctets = 0;
  /** Octets of the frame's payload still to come; -1: its head is not complete. */
  #left = -1;
  #fin = false;
  #isControl = false;
  /** Octets of the incomplete message's earlier frames. */
  #before = 0;
  /** Octets of the current frame. */
  #frame = 0;

  /** Octets received of an incomplete message or frame. */
  get pending(): number {
    return this.#before + this.#frame;
  }

  /** Processes a chunk. Returns whether it completed a message, or a control frame outside a message. */
  push(chunk: Buffer): boolean {
    let completed = false;
    let at = 0;
    while (at < chunk.length) {
      if (this.#left < 0) at = this.#readHead(chunk, at);
      const taken = Math.min(Math.max(0, this.#left), chunk.length - at);
      at += taken;
      this.#frame += taken;
      this.#left -= taken;
      if (this.#left === 0 && this.#endFrame()) completed = true;
    }
    return completed;
  }

  /** Returns where the payload begins; the head may continue in the next chunk. */
  #readHead(chunk: Buffer, begin: number): number {
    let at = begin;
    while (at < chunk.length && this.#headOctets < this.#headLength) {
      this.#head[this.#headOctets++] = chunk[at++] ?? 0;
      this.#frame++;
    }
    if (this.#headOctets < this.#headLength) return at;
    const [first = 0, second = 0] = this.#head;
    this.#fin = (first & 0x80) !== 0;
    this.#isControl = (first & 0x08) !== 0;
    const short = second & 0x7f;
    if (short === 126) this.#left = this.#head.readUInt16BE(2);
    else if (short === 127) this.#left = Number(this.#head.readBigUInt64BE(2));
    else this.#left = short;
    return at;
  }

  /** Octets of the head, as far as known. */
  get #headLength(): number {
    if (this.#headOctets < 2) return 2;
    const second = this.#head[1] ?? 0;
    return 2 + (EXTENDED[second & 0x7f] ?? 0) + (second & 0x80 ? MASK_OCTETS : 0);
  }

  /** Whether a message is complete, or nothing is pending. */
  #endFrame(): boolean {
    const octets = this.#frame;
    this.#frame = 0;
    this.#headOctets = 0;
    this.#left = -1;
    if (this.#isControl) return this.#before === 0;
    this.#before = this.#fin ? 0 : this.#before + octets;
    return this.#fin;
  }
}
