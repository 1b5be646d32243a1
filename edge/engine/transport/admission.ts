/** Who may connect: limits per address and in total, and the list of blocked addresses. */
import type { Clock } from '#shared/clock.ts';
import type { TransportLimits } from './limits.ts';

export type Verdict =
  | 'admitted'
  | 'address is blocked'
  | 'too many connections'
  | 'too many connections of this address'
  | 'too many new connections per second of this address';

interface Source {
  open: number;
  /** Token bucket: one token per connection, refilled at the allowed rate up to one second's worth. */
  tokens: number;
  refilledAt: number;
}

export class Admission {
  readonly #limits: TransportLimits;
  readonly #clock: Clock;
  readonly #sources = new Map<string, Source>();
  /** Address to the time at which its block ends. */
  readonly #blocked = new Map<string, number>();
  #open = 0;

  constructor(limits: TransportLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Counts a new connection of `address` when it is admitted; then `release` must follow once. */
  admit(address: string): Verdict {
    if (this.isBlocked(address)) return 'address is blocked';
    if (this.#open >= this.#limits.maxConnections) return 'too many connections';
    const source = this.#sourceOf(address);
    if (source.open >= this.#limits.maxConnectionsPerAddress) return 'too many connections of this address';
    if (source.tokens < 1) return 'too many new connections per second of this address';
    source.tokens--;
    source.open++;
    this.#open++;
    return 'admitted';
  }

  release(address: string): void {
    const source = this.#sources.get(address);
    if (source === undefined || source.open === 0) return;
    source.open--;
    this.#open--;
  }

  block(address: string, ms: number): void {
    this.#blocked.set(address, this.#clock.now() + ms);
  }

  unblock(address: string): void {
    this.#blocked.delete(address);
  }

  isBlocked(address: string): boolean {
    const until = this.#blocked.get(address);
    if (until === undefined) return false;
    if (until > this.#clock.now()) return true;
    this.#blocked.delete(address);
    return false;
  }

  get open(): number {
    return this.#open;
  }

  get blocked(): number {
    return this.#blocked.size;
  }

  /** Forgets sources and blocks that no longer matter, so that a million visitors leave no trace. */
  prune(): void {
    const now = this.#clock.now();
    for (const [address, source] of this.#sources) {
      if (source.open === 0 && now - source.refilledAt >= 1000) this.#sources.delete(address);
    }
    for (const [address, until] of this.#blocked) if (until <= now) this.#blocked.delete(address);
  }

  #sourceOf(address: string): Source {
    const rate = this.#limits.handshakesPerSecond;
    const now = this.#clock.now();
    const known = this.#sources.get(address);
    if (known === undefined) {
      const source: Source = { open: 0, tokens: rate, refilledAt: now };
      this.#sources.set(address, source);
      return source;
    }
    // A clock set back must not take tokens away.
    const elapsed = Math.max(0, now - known.refilledAt);
    known.tokens = Math.min(rate, known.tokens + (elapsed * rate) / 1000);
    known.refilledAt = now;
    return known;
  }
}
