/** One direction of two bridged legs inside the worker, and its counts. */
import type { types } from 'mediasoup';

/** Changes since the previous query. */
export interface RelayLook {
  /** Packets that arrived from one peer, including those not relayed. */
  readonly received: number;
  readonly lost: number;
  /** Null before anything arrived. */
  readonly jitterMs: number | null;
  /** Packets sent to the other peer. */
  readonly sent: number;
  /** From the other peer's last receiver report, null before one arrived. */
  readonly roundTripMs: number | null;
  /** That report's fraction of packets lost to that peer, 0..1. */
  readonly peerLoss: number | null;
}

export class Relay {
  readonly #consumer: types.Consumer;
  /** Gets the worker's count of the incoming stream, returns the increase. */
  readonly #takeCount: (total: number) => number;
  readonly #ticksPerMs: number;
  #paused: boolean;
  /** What was lost before the relay is counted elsewhere: the first query shows it. */
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

  /** Ends it. @returns the last counts, null when the worker had already ended it */
  async close(): Promise<RelayLook | null> {
    if (this.closed) return null;
    const last = this.look();
    this.#consumer.close();
    return last.catch(() => null);
  }
}
