/**
 * Calls from the edge to itself, for agent tests. The edge's own address is not an allowed source of any number, so such
 * an INVITE carries a secret key. The key is valid for one INVITE with one Call-ID to one number, until the call is
 * over or the key expires.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock, Timer } from '#shared/clock.ts';
import type { NumberConfig } from '#shared/edge-protocol/numbers.ts';
import type { CallPlan } from './call-plan.ts';
import type { InboundChanges } from './calls.ts';

/** Header of an INVITE that carries the key. */
export const testKeyHeader = 'X-Trunkline-Test';

/** The expected call and its overrides. */
export interface AgentTestCall {
  /** E.164 with plus; the user of the Request-URI of a call without a number. */
  readonly number: string;
  /** What answers a call without a number; absent: the number's configuration. */
  readonly answers?: NumberConfig;
  readonly sipCallId: string;
  /** Turns the ordinary plan for the number into that of the test. */
  readonly plan: (plan: CallPlan) => CallPlan;
  readonly changes: InboundChanges;
}

interface Expected {
  readonly digest: Buffer;
  readonly call: AgentTestCall;
  readonly timer: Timer;
}

export class AgentTestCalls {
  readonly #clock: Clock;
  readonly #expected = new Set<Expected>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of expected calls. */
  get size(): number {
    return this.#expected.size;
  }

  /** @returns the key, and a function that withdraws it @param withinMs lifetime of the key */
  expect(call: AgentTestCall, withinMs: number): { readonly key: string; readonly withdraw: () => void } {
    const key = randomBytes(24).toString('base64url');
    const withdraw = () => {
      expected.timer.cancel();
      this.#expected.delete(expected);
    };
    const timer = this.#clock.after(withinMs, () => withdraw());
    const expected: Expected = { digest: digestOf(key), call, timer };
    this.#expected.add(expected);
    return { key, withdraw };
  }

  /** The expected call for an INVITE with this key; null when there is none. Any key shown is used up. */
  claim(key: string, invite: Pick<AgentTestCall, 'number' | 'sipCallId'>): AgentTestCall | null {
    const digest = digestOf(key);
    let found: Expected | null = null;
    // Compares with all keys, each in constant time, so timing reveals nothing about them.
    for (const expected of this.#expected) {
      if (timingSafeEqual(expected.digest, digest)) found = expected;
    }
    if (!found) return null;
    found.timer.cancel();
    this.#expected.delete(found);
    const { call } = found;
    return call.number === invite.number && call.sipCallId === invite.sipCallId ? call : null;
  }
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
