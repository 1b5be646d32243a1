import type { TransportLimits } from '#shared/engine-protocol/limits.ts';

export const PING = Buffer.from('\r\n\r\n');
export const PONG = Buffer.from('\r\n');

type PingLimits = Pick<TransportLimits, 'pingIntervalMs' | 'pongTimeoutMs' | 'requirePong'>;

/** Pings of ours on a connection (RFC 5626 section 3.5.1), and whether the peer answers them. Times are ticks. */
export class Keepalive {
  readonly #limits: PingLimits;
  /** Tick of the last octet received. */
  #receivedAt: number;
  /** Tick of the unanswered ping, or -1. */
  #pingedAt = -1;
  /** Null: not known yet. */
  #answersPings: boolean | null = null;

  constructor(limits: PingLimits, tick: number) {
    this.#limits = limits;
    this.#receivedAt = tick;
  }

  /** Anything received after a ping shows that the peer is alive. @returns whether a ping was unanswered */
  received(tick: number): boolean {
    this.#receivedAt = tick;
    if (this.#pingedAt === -1) return false;
    this.#pingedAt = -1;
    this.#answersPings = true;
    return true;
  }

  /** What is due now. A peer that never answers a ping is not pinged again, unless answers are required. */
  due(tick: number): 'ping' | 'dead' | null {
    const { pingIntervalMs, pongTimeoutMs, requirePong } = this.#limits;
    if (this.#pingedAt !== -1) {
      if (tick - this.#pingedAt < ticks(pongTimeoutMs)) return null;
      if (this.#answersPings === true || requirePong) return 'dead';
      this.#answersPings = false;
      this.#pingedAt = -1;
      return null;
    }
    return this.#answersPings === false || tick - this.#receivedAt < ticks(pingIntervalMs) ? null : 'ping';
  }

  pinged(tick: number): void {
    this.#pingedAt = tick;
  }
}

/** Seconds, rounded up. */
export function ticks(ms: number): number {
  return Math.ceil(ms / 1000);
}

/** Whether all of a message are CR and LF, which keep a connection (RFC 5626 section 4.4.1). */
export function isLineBreaks(bytes: Buffer): boolean {
  for (const octet of bytes) if (octet !== 13 && octet !== 10) return false;
  return true;
}
