/** Call limits for every kind of transfer that makes somebody call: nothing is sent where a limit forbids it. */
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { CallLimits } from '#shared/edge-protocol/numbers.ts';
import { FakeRefer, settle, TransferBench } from '../../../test/kit/edge/transfer.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import { type CountsOfFleet, OutboundLimits } from '../limits.ts';
import { CommandRefused } from '../refused.ts';

const number = '+14155550100';
const premium = '+19005550199';
const consult = { announcement: 'Mrs. Lee is calling', acceptKey: '1' };

let clock: FakeClock;
let organization: CallLimits;
let limits: OutboundLimits;
let refused: string[];
let bench: TransferBench;

let edges: number;
let verdict: Awaited<ReturnType<CountsOfFleet['ask']>>;

beforeEach(() => {
  clock = new FakeClock(Date.UTC(2030, 0, 1));
  organization = {};
  refused = [];
  edges = 1;
  limits = new OutboundLimits({
    clock,
    log: new QuietLog(),
    organization: () => organization,
    number: () => undefined,
    refused: (reason) => refused.push(reason),
    fleet: {
      get edges() {
        return edges;
      },
      ask: async () => verdict,
      begun: () => undefined,
      over: () => undefined,
    },
  });
  bench = new TransferBench({}, 4, limits);
});

/** A call that can be transferred; `begin` starts the transfer, which is tried once. */
interface Ready {
  begin(): Promise<void>;
  /** INVITEs and REFERs sent toward the target. */
  left(): number;
}

type Kind = (target: string) => Promise<Ready>;

const byAgent =
  (method: 'bridge' | 'refer', warm: boolean): Kind =>
  async (target) => {
    const { agent, peer } = await bench.callUp();
    return {
      begin: async () => {
        await bench.transfer(agent, { target, method, consult: warm ? consult : null });
      },
      left: () => bench.dialer.legs.length + peer.refers.length,
    };
  };

const kinds: Record<string, Kind> = {
  'a bridge by the agent': byAgent('bridge', false),
  'a warm bridge': byAgent('bridge', true),
  'a REFER of ours': byAgent('refer', false),
  'a warm REFER of ours': byAgent('refer', true),
  'an API bridge': async (target) => {
    const { peer } = await bench.callUp();
    const order = { target, method: 'bridge', consult: null } as const;
    return {
      begin: async () => {
        try {
          bench.calls.transfer('id-1', order);
        } catch (error) {
          if (!(error instanceof CommandRefused)) throw error;
        }
        await settle();
      },
      left: () => bench.dialer.legs.length + peer.refers.length,
    };
  },
  'a bridge of an outbound call': async (target) => {
    const { agent } = await bench.placedUp();
    const before = bench.dialer.legs.length;
    return {
      begin: async () => {
        await bench.transfer(agent, { target, method: 'bridge', consult: null });
      },
      left: () => bench.dialer.legs.length - before,
    };
  },
  'a REFER from the peer': async (target) => {
    const { peer } = await bench.callUp();
    return {
      begin: async () => {
        peer.peer.referred(new FakeRefer(target));
        await settle();
      },
      left: () => bench.dialer.legs.length,
    };
  },
  'the fallback number': async (target) => {
    bench.agents.ready = false;
    bench.offered({ fallback_number: target });
    await settle();
    return {
      begin: async () => {
        bench.agents.last.refuse(new Error('socket did not open'));
        await settle();
      },
      left: () => bench.dialer.legs.length,
    };
  },
};

const targets = [premium, `sip:${premium}@elsewhere.example`, `sip:+1-900-555-0199@192.0.2.77;transport=tls`];

const cases = Object.entries(kinds).flatMap(([name, ready]) =>
  targets.map((target) => ({ name, target, ready })),
);

describe.each(cases)('$name to $target', ({ target, ready }) => {
  it('is sent without limits', async () => {
    const transfer = await ready(target);
    await transfer.begin();
    expect(transfer.left()).toBe(1);
    expect(refused).toEqual([]);
  });

  it('is not sent to a blocked prefix', async () => {
    const transfer = await ready(target);
    organization = { blocked_prefixes: ['+1900'] };
    await transfer.begin();
    expect(transfer.left()).toBe(0);
    expect(refused).toEqual(['prefix']);
  });

  it('is not sent to a number that matches no allowed prefix', async () => {
    const transfer = await ready(target);
    organization = { allowed_prefixes: ['+44'] };
    await transfer.begin();
    expect(transfer.left()).toBe(0);
    expect(refused).toEqual(['prefix']);
  });

  it.each([
    [{ concurrent: 0 }, 'concurrent'],
    [{ per_minute: 0 }, 'per_minute'],
  ] as const)('is not sent, even as the first call, under %o', async (none, reason) => {
    const transfer = await ready(target);
    organization = none;
    await transfer.begin();
    expect(transfer.left()).toBe(0);
    expect(refused).toEqual([reason]);
  });

  it('is not sent when the concurrent limit is reached', async () => {
    const transfer = await ready(target);
    expect(limits.admit({ callId: 'other', orgId: 'org-1', from: number, to: '+14155550123' })).toBeNull();
    organization = { concurrent: 1 };
    await transfer.begin();
    expect(transfer.left()).toBe(0);
    expect(refused).toEqual(['concurrent']);
  });

  it('is not sent when the limit per minute is reached, though the calls are over', async () => {
    const transfer = await ready(target);
    limits.admit({ callId: 'other', orgId: 'org-1', from: number, to: '+14155550123' });
    limits.release('other', true);
    organization = { per_minute: 1 };
    await transfer.begin();
    expect(transfer.left()).toBe(0);
    expect(refused).toEqual(['per_minute']);
  });

  it.each(['full', 'counted'] as const)(
    'asks control when other edges share the limit: %s',
    async (answer) => {
      const transfer = await ready(target);
      organization = { concurrent: 5 };
      edges = 2;
      verdict =
        answer === 'full' ? { answer, scope: 'organization org-1', reason: 'concurrent' } : { answer };
      await transfer.begin();
      await settle();
      expect(transfer.left()).toBe(answer === 'full' ? 0 : 1);
      expect(refused).toEqual(answer === 'full' ? ['concurrent'] : []);
    },
  );

  it('counts as a started call, and frees its concurrent slot when all is over', async () => {
    const transfer = await ready(target);
    await transfer.begin();
    organization = { per_minute: 1 };
    const other = { callId: 'other', orgId: 'org-1', from: number, to: '+14155550123' };
    expect(limits.admit(other)).toMatchObject({ code: 'call_limit' });
    bench.calls.endAll({ code: 'api_stop', detail: null });
    await settle();
    organization = { concurrent: 1 };
    expect(limits.admit(other)).toBeNull();
  });
});
