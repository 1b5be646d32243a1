/** Targets in the order of the test, with the verdicts of contract 3.5 in their shortest form. */

import type { FailoverAttempt } from '#shared/trunk-protocol.ts';
import { causeOf } from '../../../edge/call/causes/outbound-cause.ts';
import type {
  AttemptOutcome,
  Hunt,
  NextHop,
  OutboundRoute,
  ReferTarget,
  ReferVerdict,
  Routes,
} from '../../../edge/call/ports/routes.ts';

export const route: OutboundRoute = {
  trunkId: 'trunk-1',
  credentials: null,
  headers: [],
  codecs: ['PCMU'],
  transcode: false,
};

/** A target on this machine. */
export function hopAt(port: number, changes: Partial<NextHop> = {}): NextHop {
  return {
    route,
    endpoint: { host: '127.0.0.1', port, priority: 0 },
    target: { host: '127.0.0.1', address: '127.0.0.1', port, serverName: '127.0.0.1' },
    ...changes,
  };
}

export class FakeHunt implements Hunt {
  readonly attempts: FailoverAttempt[] = [];
  readonly outcomes: AttemptOutcome[] = [];
  /** The requested hunts. */
  readonly to: string;
  readonly trunkId: string | null;
  forbidden: string | null = null;
  readonly #hops: NextHop[];
  #current: NextHop | null = null;

  constructor(hops: readonly NextHop[], to = '', trunkId: string | null = null) {
    this.to = to;
    this.trunkId = trunkId;
    this.#hops = [...hops];
  }

  async next(): Promise<NextHop | null> {
    this.#current = this.#hops.shift() ?? null;
    return this.#current;
  }

  ended(outcome: AttemptOutcome): { movesOn: boolean } {
    this.outcomes.push(outcome);
    const cause = causeOf(outcome);
    const movesOn = cause?.trigger != null;
    if (cause && movesOn && this.#current) {
      this.attempts.push({
        ...this.#current.endpoint,
        started_at: '2030-01-01T00:00:00.000Z',
        sip_code: cause.sipCode,
        error: cause.error,
        duration_ms: 0,
      });
    }
    return { movesOn };
  }
}

export class FakeRoutes implements Routes {
  hops: readonly NextHop[] | null = null;
  /** Why targets may not be called. */
  forbidden: string | null = null;
  /** Addresses of peers that sent a REFER. */
  readonly referrers: (string | null)[] = [];
  readonly joins: boolean[] = [];
  /** Why a peer's REFER is rejected; null: it is followed. */
  referForbidden: string | null = null;
  /** The target of our REFER; null: there is no host for it. */
  refer: ((to: string) => ReferTarget | null) | null = (to) => ({
    uri: to.startsWith('sip:') ? to : `sip:${to}@pbx.example.com`,
    headers: [],
  });
  readonly hunts: FakeHunt[] = [];

  hunt(_number: string, to: string, trunkId: string | null = null): Hunt | null {
    if (this.hops === null) return null;
    const hunt = new FakeHunt(this.hops, to, trunkId);
    hunt.forbidden = this.forbidden;
    this.hunts.push(hunt);
    return hunt;
  }

  referTarget(_number: string, to: string): ReferTarget | null {
    return this.refer?.(to) ?? null;
  }

  followable(
    _number: string,
    _trunkId: string | null,
    uri: string,
    peer: string | null,
    joins: boolean,
  ): ReferVerdict {
    this.referrers.push(peer);
    this.joins.push(joins);
    const reason = this.referForbidden;
    return reason === null ? { allowed: true, to: uri } : { allowed: false, reason };
  }

  /** The hunt started last. @throws when there is none */
  get last(): FakeHunt {
    const hunt = this.hunts.at(-1);
    if (!hunt) throw new Error('no hunt was begun');
    return hunt;
  }
}
