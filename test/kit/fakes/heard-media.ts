/** What a peer has received of one RTP stream (PCMU, telephone-event 101): samples, key presses, loss and jitter. */
import { decodeMulaw } from './audio.ts';

export interface HeardPacket {
  readonly payloadType: number;
  readonly marker: boolean;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
  readonly payload: Buffer;
}

export interface HeardEvent {
  readonly digit: string;
  /** In samples of the event clock. */
  readonly duration: number;
  /** Packets of this event, including end packets. */
  readonly packets: number;
  readonly endPackets: number;
}

export interface HeardStats {
  readonly packets: number;
  readonly lost: number;
  /** RFC 3550 section 6.4.1, ms */
  readonly jitterMs: number;
  /** Delay of packets against the fastest one, by their timestamps, ms: the median, and 99 of 100. */
  readonly latenessP50Ms: number;
  readonly latenessP99Ms: number;
  readonly undecryptable: number;
}

/** By event code (RFC 4733 section 3.2). */
export const digits = '0123456789*#ABCD';

/** How late packets are against the fastest one. @param delays times of packets less their timestamps, ms */
export function lateness(delays: readonly number[]): { readonly p50Ms: number; readonly p99Ms: number } {
  const sorted = delays.toSorted((a, b) => a - b);
  const fastest = sorted[0] ?? 0;
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0) - fastest;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

export class HeardMedia {
  readonly #ticksPerMs: number;
  readonly #record: boolean;
  #packets = 0;
  #chunks: Int16Array[] = [];
  #events = new Map<number, { digit: string; duration: number; packets: number; endPackets: number }>();
  #firstSequence: number | null = null;
  #highest = 0;
  #jitter = 0;
  #transit: number | null = null;
  #delays: number[] = [];
  /** Packets that could not be decrypted. */
  undecryptable = 0;

  /** @param clockRate of RTP timestamps, Hz @param record keeps decoded samples */
  constructor(clockRate: number, record: boolean) {
    this.#ticksPerMs = clockRate / 1000;
    this.#record = record;
  }

  take({ payloadType, sequence, timestamp, payload }: HeardPacket): void {
    this.#packets++;
    this.#count(sequence);
    if (payloadType === 101) this.#onEvent(timestamp, payload);
    else {
      this.#measure(timestamp);
      if (this.#record) this.#chunks.push(decodeMulaw(payload));
    }
  }

  /** Packets received and decrypted. */
  get packets(): number {
    return this.#packets;
  }

  /** Extended highest sequence number received. */
  get highest(): number {
    return this.#highest;
  }

  /** The last `count` received samples. */
  samples(count = Number.POSITIVE_INFINITY): Int16Array {
    const total = this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const all = new Int16Array(total);
    let at = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    return all.subarray(Math.max(0, total - count));
  }

  /** Received key presses, by their timestamps. */
  get events(): readonly HeardEvent[] {
    return [...this.#events.values()];
  }

  get stats(): HeardStats {
    const { p50Ms, p99Ms } = lateness(this.#delays);
    const expected = this.#firstSequence === null ? 0 : this.#highest - this.#firstSequence + 1;
    return {
      packets: this.#packets,
      lost: Math.max(0, expected - this.#packets),
      jitterMs: this.#jitter / this.#ticksPerMs,
      latenessP50Ms: p50Ms,
      latenessP99Ms: p99Ms,
      undecryptable: this.undecryptable,
    };
  }

  /** Another stream follows. */
  restart(): void {
    this.#transit = null;
    this.#firstSequence = null;
  }

  /** Resets the counters. */
  resetStats(): void {
    this.#packets = 0;
    this.undecryptable = 0;
    this.#firstSequence = null;
    this.#jitter = 0;
    this.#delays = [];
  }

  /** For failure messages. */
  get summary(): string {
    const keys = this.events.map(({ digit, endPackets }) => `${digit}${endPackets > 0 ? '' : ' (no end)'}`);
    const loudest = this.samples(8000).reduce((most, one) => Math.max(most, Math.abs(one)), 0);
    const packets = `${this.#packets} packets, ${this.undecryptable} undecryptable`;
    return `${packets}, loudest sample of the last second ${loudest}, keys: ${keys.join(' ') || 'none'}`;
  }

  #count(sequence: number): void {
    if (this.#firstSequence === null) {
      this.#firstSequence = sequence;
      this.#highest = sequence;
      return;
    }
    const step = ((sequence - (this.#highest & 0xffff) + 0x18000) % 0x10000) - 0x8000;
    if (step > 0) this.#highest += step;
  }

  #measure(timestamp: number): void {
    const transit = performance.now() * this.#ticksPerMs - timestamp;
    if (this.#transit !== null) this.#jitter += (Math.abs(transit - this.#transit) - this.#jitter) / 16;
    this.#transit = transit;
    this.#delays.push(transit / this.#ticksPerMs);
  }

  #onEvent(timestamp: number, payload: Buffer): void {
    const event = this.#events.get(timestamp) ?? { digit: '', duration: 0, packets: 0, endPackets: 0 };
    event.digit = digits[payload[0] ?? 0] ?? '?';
    event.duration = Math.max(event.duration, payload.readUInt16BE(2));
    event.packets++;
    if ((payload[1] ?? 0) & 0x80) event.endPackets++;
    this.#events.set(timestamp, event);
  }
}
