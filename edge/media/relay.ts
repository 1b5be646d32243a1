/** One direction of two bridged legs inside the worker, and what it counts. */
import type { types } from 'mediasoup';

/** What happened since the look before. */
export interface RelayLook {
  /** Packets that came from the one peer, those that were not passed on included. */
  readonly received: number;
  readonly lost: number;
  /** Null before anything came. */
  readonly jitterMs: number | null;
  /** Packets that went to the other peer. */
  readonly sent: number;
  /** From the other peer's last receiver report, null before one came. */
  readonly roundTripMs: number | null;
  /** The same report's fraction of packets lost to that peer, 0..1. */
  readonly peerLoss: number | null;
}

export class Relay {
  readonly #consumer: types.Consumer;
  /** Takes the worker's count of the incoming stream, says what of it is new. */
  readonly #takeCount: (total: number) => number;
  readonly #ticksPerMs: number;
  #paused: boolean;
  /** What was lost before the relay is counted elsewhere: the first look tells it. */
  #lost: number | null = null;
  #sent = 0;

  constructor(consumer: types.Consumer, paused: boolean, takeCount: (total: number) => number) {
    this.#consumer = consumer;
    this.#paused = paused;
    this.#takeCount = takeCount;
    this.#ticksPerMs = (consumer.rtpParameters.codecs[0]?.clockRate ?? 8000) / 1000;
  }

  /** Whether the worker has ended it: one of its paths was closed, or its source has a new SSRC. */
  get closed(): boolean {
    return this.#consumer.closed;
  }

  /** Sends nothing while `paused`. */
  async pause(paused: boolean): Promise<void> {
    if (this.closed || paused === this.#paused) return;
    this.#paused = paused;
    await (paused ? this.#consumer.pause() : this.#consumer.resume());
  }

  /** @throws when the worker has ended the relay */
  async look(): Promise<RelayLook> {
    const stats = await this.#consumer.getStats();
    const outbound = stats.find((stat) => stat.type === 'outbound-rtp');
    const inbound = stats.find((stat) => stat.type === 'inbound-rtp');
    const lost = inbound?.packetsLost ?? 0;
    const roundTripMs = (outbound && 'roundTripTime' in outbound && outbound.roundTripTime) || null;
    const look: RelayLook = {
      received: this.#takeCount(inbound?.packetCount ?? 0),
      lost: Math.max(0, lost - (this.#lost ?? lost)),
      jitterMs: inbound ? inbound.jitter / this.#ticksPerMs : null,
      sent: Math.max(0, (outbound?.packetCount ?? 0) - this.#sent),
      roundTripMs,
      peerLoss: outbound && roundTripMs !== null ? outbound.fractionLost / 256 : null,
    };
    this.#lost = lost;
    this.#sent += look.sent;
    return look;
  }

  /** Ends it. @returns the last look, null when the worker had ended it already */
  async close(): Promise<RelayLook | null> {
    if (this.closed) return null;
    const last = this.look();
    this.#consumer.close();
    return last.catch(() => null);
  }
}
