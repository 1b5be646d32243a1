/**
 * Calls of the edge to itself, for test runs. Its own address is no allowed source of any number, so such an INVITE
 * bears a key: made for one call, known to nobody else, good for one INVITE with that Call-ID to that number, and only
 * until the call is over or its time is up.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock, Timer } from '#shared/clock.ts';
import type { CallPlan } from './call-plan.ts';
import type { InboundChanges } from './calls.ts';

/** Header of an INVITE that bears the key. */
export const testKeyHeader = 'X-Trunkline-Test';

/** The call that is expected, and what it has of its own. */
export interface TestVisit {
  /** E.164 with plus */
  readonly number: string;
  readonly sipCallId: string;
  /** The plan of an ordinary call to the number, made that of the test. */
  readonly plan: (plan: CallPlan) => CallPlan;
  readonly changes: InboundChanges;
}

interface Expected {
  readonly digest: Buffer;
  readonly visit: TestVisit;
  readonly timer: Timer;
}

export class TestVisits {
  readonly #clock: Clock;
  readonly #expected = new Set<Expected>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls that are expected now. */
  get size(): number {
    return this.#expected.size;
  }

  /** @returns the key, and what withdraws it @param withinMs how long the key is good */
  expect(visit: TestVisit, withinMs: number): { readonly key: string; readonly withdraw: () => void } {
    const key = randomBytes(24).toString('base64url');
    const withdraw = () => {
      expected.timer.cancel();
      this.#expected.delete(expected);
    };
    const timer = this.#clock.after(withinMs, () => withdraw());
    const expected: Expected = { digest: digestOf(key), visit, timer };
    this.#expected.add(expected);
    return { key, withdraw };
  }

  /** The call that an INVITE with this key is; null when none is expected. A key that was shown is used up. */
  claim(key: string, call: Pick<TestVisit, 'number' | 'sipCallId'>): TestVisit | null {
    const digest = digestOf(key);
    let found: Expected | null = null;
    // All are compared, each in constant time: how long it takes tells nothing of the keys.
    for (const expected of this.#expected) {
      if (timingSafeEqual(expected.digest, digest)) found = expected;
    }
    if (!found) return null;
    found.timer.cancel();
    this.#expected.delete(found);
    const { visit } = found;
    return visit.number === call.number && visit.sipCallId === call.sipCallId ? visit : null;
  }
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
