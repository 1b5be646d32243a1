/**
 * The nonces of our challenges. A challenge costs no memory: its nonce carries the time of issue and a signature. Only
 * a nonce that was used with correct credentials is remembered, with the counts (`nc`) that it was used with:
 *
 *     issued --correct credentials--> used: highest nc, and which of the 64 up to it --300 s--> forgotten
 *
 * A nonce that is forgotten before it expires must not be accepted again, so none is that was issued before it.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';

/** How long a nonce is valid: a PBX that places several calls in it needs one challenge for all of them. */
const lifeMs = 300_000;
/** How far the clocks of two edges may differ. */
const skewMs = 30_000;
/** Used nonces that are remembered: those of 60 calls per second; about 6 MB. */
const maxUsed = 20_000;
/** Counts below the highest one that may still come: calls that are placed at the same time overtake each other. */
const windowBits = 64n;

const timeBytes = 6;
const saltBytes = 12;
const signatureBytes = 16;
const nonceBytes = timeBytes + saltBytes + signatureBytes;

interface Used {
  readonly issuedAt: number;
  highest: number;
  /** Bit n: `highest - n` was used. */
  seen: bigint;
}

export class Nonces {
  readonly #clock: Clock;
  readonly #mostUsed: number;
  readonly #used = new Map<string, Used>();
  /** Added to the clock's elapsed time: the host's clock may be set while we run. ms since the epoch. */
  readonly #base: number;
  /** Nonces issued before this time are not valid: those of before the start, of which the counts are unknown. */
  #validFrom: number;

  /** @param mostUsed used nonces that are remembered */
  constructor(clock: Clock, mostUsed = maxUsed) {
    this.#clock = clock;
    this.#mostUsed = mostUsed;
    this.#validFrom = Math.floor(clock.now());
    this.#base = this.#validFrom - clock.elapsed();
  }

  get #now(): number {
    return Math.floor(this.#base + this.#clock.elapsed());
  }

  /** Number of remembered nonces. */
  get size(): number {
    return this.#used.size;
  }

  /** @param key the same at all edges */
  issue(key: string): string {
    const head = Buffer.alloc(timeBytes + saltBytes);
    head.writeUIntBE(this.#now, 0, timeBytes);
    randomBytes(saltBytes).copy(head, timeBytes);
    return Buffer.concat([head, signature(key, head)]).toString('base64url');
  }

  /**
   * Uses a nonce with a count. Call it with correct credentials only.
   * @returns false when the nonce is not ours, is too old, or was used with this count
   */
  use(key: string, nonce: string, nc: number): boolean {
    const issuedAt = issueTime(key, nonce);
    if (issuedAt === null || !this.#isValid(issuedAt) || nc < 1) return false;
    const used = this.#used.get(nonce);
    if (used) return advance(used, nc);
    this.#makeRoom();
    this.#used.set(nonce, { issuedAt, highest: nc, seen: 1n });
    return true;
  }

  #isValid(issuedAt: number): boolean {
    const now = this.#now;
    return issuedAt >= this.#validFrom && issuedAt > now - lifeMs && issuedAt <= now + skewMs;
  }

  #makeRoom(): void {
    for (const [nonce, { issuedAt }] of this.#used) {
      const expired = !this.#isValid(issuedAt);
      if (!expired && this.#used.size < this.#mostUsed) return;
      if (!expired) this.#validFrom = issuedAt + 1;
      this.#used.delete(nonce);
    }
  }
}

/** RFC 7616 section 3.4: the server must recognize a repeated request by its count. */
function advance(used: Used, nc: number): boolean {
  const ahead = BigInt(nc - used.highest);
  if (ahead > 0n) {
    used.seen = ahead < windowBits ? BigInt.asUintN(Number(windowBits), (used.seen << ahead) | 1n) : 1n;
    used.highest = nc;
    return true;
  }
  if (-ahead >= windowBits) return false;
  const bit = 1n << -ahead;
  if ((used.seen & bit) !== 0n) return false;
  used.seen |= bit;
  return true;
}

/** ms since the epoch; null when the nonce is not ours. */
function issueTime(key: string, nonce: string): number | null {
  const bytes = Buffer.from(nonce, 'base64url');
  // The decoder ignores what it cannot read, so the text must be what the octets give.
  if (bytes.length !== nonceBytes || bytes.toString('base64url') !== nonce) return null;
  const head = bytes.subarray(0, timeBytes + saltBytes);
  if (!timingSafeEqual(signature(key, head), bytes.subarray(head.length))) return null;
  return head.readUIntBE(0, timeBytes);
}

function signature(key: string, head: Buffer): Buffer {
  const mac = createHmac('sha256', Buffer.from(key, 'base64')).update(head).digest();
  return mac.subarray(0, signatureBytes);
}
