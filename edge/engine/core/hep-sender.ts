import { createConnection, type Socket } from 'node:net';
import type { Clock, Timer } from '#shared/clock.ts';
import { GatheredWrites } from '#shared/gathered-writes.ts';
import { encodeHep, encodeHepKey, type HepPacket } from '#shared/hep.ts';
import type { Metrics } from '../transport/metrics.ts';
import type { ListenAddress } from './identity.ts';

/** Octets queued for a collector that cannot keep up; beyond this, copies are dropped. */
const MAX_QUEUED = 8 * 1024 * 1024;
/** Copies of this time leave in one write, ms: nobody waits for them. */
const BATCH_MS = 10;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 10_000;

/** Where copies go, and the key that authenticates us to the collector; absent: no key required. */
export interface HepTarget extends ListenAddress {
  readonly key?: string | undefined;
}

/**
 * Sends copies of SIP messages to the trace collector over TCP. Signaling never waits for it: while it is
 * unreachable or slow, copies are dropped and counted (`hep_dropped`).
 */
export class HepSender {
  readonly #target: HepTarget;
  readonly #metrics: Metrics;
  readonly #clock: Clock;
  #socket: Socket | null = null;
  #connected = false;
  #gathered: GatheredWrites | null = null;
  #retryMs = FIRST_RETRY_MS;
  #retry: Timer | null = null;
  #closed = false;

  constructor(target: HepTarget, metrics: Metrics, clock: Clock) {
    this.#target = target;
    this.#metrics = metrics;
    this.#clock = clock;
    this.#connect();
  }

  send(packet: HepPacket): void {
    const socket = this.#socket;
    if (!socket || !this.#connected || socket.writableLength > MAX_QUEUED) {
      this.#metrics.count('hep_dropped');
      return;
    }
    this.#gathered?.gather();
    socket.write(encodeHep(packet, this.#target.key ?? null));
    this.#metrics.count('hep_sent');
  }

  /**
   * Connects to the collector now instead of after the pause: it runs next to an application that has just
   * connected.
   */
  hurry(): void {
    if (this.#socket || this.#closed) return;
    this.#retry?.cancel();
    this.#connect();
  }

  /** Flushes and closes. */
  close(): void {
    this.#closed = true;
    this.#retry?.cancel();
    if (this.#connected) this.#socket?.end();
    else this.#socket?.destroy();
  }

  #connect(): void {
    const { host, port, key } = this.#target;
    const socket = createConnection({ host, port, noDelay: true });
    this.#socket = socket;
    this.#gathered = new GatheredWrites(socket, BATCH_MS);
    socket.on('connect', () => {
      this.#connected = true;
      // The collector rejects a connection that sends no key within some seconds.
      if (key !== undefined) socket.write(encodeHepKey(key));
      this.#retryMs = FIRST_RETRY_MS;
    });
    // The error itself is not needed: 'close' follows and starts a retry.
    socket.on('error', () => this.#metrics.count('hep_errors'));
    socket.on('data', () => {});
    socket.on('close', () => {
      this.#connected = false;
      this.#socket = null;
      if (this.#closed) return;
      this.#retry = this.#clock.after(this.#retryMs, () => this.#connect());
      this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS);
    });
  }
}
