import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { CallLimits } from '#shared/edge-protocol/numbers.ts';
import { echoAgent, FakeAgents } from '../../test/kit/fakes/fake-agents.ts';
import { FakeDialer } from '../../test/kit/fakes/fake-dialer.ts';
import { FakeRoutes, hopAt } from '../../test/kit/fakes/fake-hunt.ts';
import { FakeMedia, fakeAnswer } from '../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../test/kit/fakes/quiet-log.ts';
import { Calls } from './calls.ts';
import { OutboundLimits } from './limits.ts';

const from = '+14155550100';
const to = '+14155550123';

let clock: FakeClock;
let log: QuietLog;
let organization: CallLimits | undefined;
let number: CallLimits | undefined;
let refused: string[];
let limits: OutboundLimits;
let ids: number;

beforeEach(() => {
  clock = new FakeClock(Date.UTC(2030, 0, 1));
  log = new QuietLog();
  organization = undefined;
  number = undefined;
  refused = [];
  ids = 0;
  limits = new OutboundLimits({
    clock,
    log,
    organization: (id) => (id === 'org-1' ? organization : undefined),
    number: (one) => (one === from ? number : undefined),
    refused: (reason) => refused.push(reason),
  });
});

/** @returns the code of the rejection, null when the call is admitted */
function admit(changes: { callId?: string; orgId?: string; from?: string; to?: string } = {}) {
  const call = { callId: `call-${++ids}`, orgId: 'org-1', from, to, ...changes };
  const refusal = limits.admit(call);
  if (refusal instanceof Promise) throw new Error('an edge that is alone asks nobody');
  return refusal?.code ?? null;
}

describe('limits of outgoing calls', () => {
  it('allow everything when none are set', () => {
    for (let call = 0; call < 100; call++) expect(admit()).toBeNull();
  });

  it('cap the concurrent calls of an organization, and admit the next one when one ends', () => {
    organization = { concurrent: 2 };
    expect(admit({ callId: 'a' })).toBeNull();
    expect(admit({ callId: 'b', from: '+14155550199' })).toBeNull();
    expect(admit()).toBe('call_limit');
    expect(admit({ orgId: 'org-2', from: '+14155550188' })).toBeNull();
    limits.release('a', true);
    limits.release('a', true);
    expect(admit()).toBeNull();
    expect(admit()).toBe('call_limit');
    expect(refused).toEqual(['concurrent', 'concurrent']);
  });

  it('cap the calls of a number in addition to those of its organization', () => {
    organization = { concurrent: 3 };
    number = { concurrent: 1 };
    expect(admit()).toBeNull();
    expect(admit()).toBe('call_limit');
    expect(admit({ from: '+14155550199' })).toBeNull();
    expect(admit({ from: '+14155550199' })).toBeNull();
    expect(admit({ from: '+14155550199' })).toBe('call_limit');
  });

  it('cap the calls started within any 60 s, ended or not; rejected ones do not count', () => {
    organization = { per_minute: 2 };
    expect(admit({ callId: 'a' })).toBeNull();
    limits.release('a', true);
    clock.advance(30_000);
    expect(admit()).toBeNull();
    expect(admit()).toBe('call_limit');
    clock.advance(29_999);
    expect(admit()).toBe('call_limit');
    clock.advance(1);
    expect(admit()).toBeNull();
    expect(admit()).toBe('call_limit');
    clock.advance(30_000);
    expect(admit()).toBeNull();
  });

  it('do not count a call that ended before anything was sent', () => {
    organization = { per_minute: 2 };
    expect(admit({ callId: 'a' })).toBeNull();
    expect(admit({ callId: 'b' })).toBeNull();
    expect(admit()).toBe('call_limit');
    limits.release('a', false);
    limits.release('a', false);
    expect(admit()).toBeNull();
    expect(admit()).toBe('call_limit');
  });

  it.each([{ concurrent: 0 }, { per_minute: 0 }])('of zero forbid the first call, of %o', (none) => {
    organization = none;
    expect(admit()).toBe('call_limit');
    organization = undefined;
    number = none;
    expect(admit()).toBe('call_limit');
    expect(limits.size).toBe(0);
  });

  it('count calls made before the limit was set', () => {
    expect(admit()).toBeNull();
    expect(admit()).toBeNull();
    organization = { per_minute: 2 };
    expect(admit()).toBe('call_limit');
  });

  it('forbid destinations of the organization or the number', () => {
    organization = { blocked_prefixes: ['+1900'] };
    number = { allowed_prefixes: ['+1'] };
    expect(admit()).toBeNull();
    expect(admit({ to: 'sip:19005550100@pbx.example.com' })).toBe('destination_blocked');
    expect(admit({ to: '+33112345678' })).toBe('destination_blocked');
    expect(admit({ to: '1001' })).toBeNull();
    expect(refused).toEqual(['prefix', 'prefix']);
  });

  it('name who is limited, how, and to what', () => {
    number = { concurrent: 1 };
    admit();
    admit({ callId: 'x' });
    expect(log.lines).toEqual([
      {
        level: 'warn',
        message: 'call rejected by a call limit',
        fields: {
          call_id: 'x',
          org_id: 'org-1',
          number: from,
          to,
          limit_of: `number ${from}`,
          limit: 'concurrent',
          value: 1,
        },
      },
    ]);
  });

  it('forget callers that have been idle for a while', () => {
    admit({ callId: 'a' });
    admit({ callId: 'b', orgId: 'org-2', from: '+14155550199' });
    expect(limits.size).toBe(4);
    limits.release('b', true);
    clock.advance(60_000);
    admit({ callId: 'c', orgId: 'org-3', from: '+14155550177' });
    expect(limits.size).toBe(4);
  });

  it('do not extend the window when the wall clock is set back', () => {
    organization = { per_minute: 1 };
    expect(admit()).toBeNull();
    clock.jump(-3_600_000);
    expect(admit()).toBe('call_limit');
    clock.advance(60_000);
    expect(admit()).toBeNull();
  });
});

describe('calls under a limit', () => {
  let calls: Calls;
  let dialer: FakeDialer;
  let routes: FakeRoutes;
  let records: CallRecord[];
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

  beforeEach(() => {
    dialer = new FakeDialer();
    routes = new FakeRoutes();
    routes.hops = [hopAt(5061), hopAt(5062)];
    records = [];
    organization = { concurrent: 1 };
    calls = new Calls({
      clock,
      media: new FakeMedia(),
      agents: new FakeAgents(),
      log,
      newId: () => `id-${++ids}`,
      maxCalls: 10,
      settings: { ringAfterMs: 200, prepareTimeoutMs: 5000, mediaTimeoutMs: 60_000 },
      reporter: { report: (body) => void (body.type === 'call' && records.push(body.call)) },
      outbound: { routes, dialer, ringTimeoutMs: 30_000 },
      limits,
    });
  });

  const place = async (callId: string) => {
    calls.place({ callId, orgId: 'org-1', from, to, agent: echoAgent, variables: {} });
    await settle();
  };

  it('are reported as failed, with nothing sent', async () => {
    await place('first');
    await place('second');
    expect(dialer.legs).toHaveLength(1);
    expect(records.filter(({ id }) => id === 'second')).toMatchObject([
      {
        status: 'failed',
        direction: 'outbound',
        termination: 'call_limit',
        termination_detail: 'The organization has reached its limit of 1 concurrent call.',
        sip_code: null,
        hangup_by: 'error',
        to,
      },
    ]);
    expect(calls.size).toBe(1);
  });

  it('count in the minute once their INVITE was sent, but not when no address was found', async () => {
    organization = { per_minute: 1 };
    routes.hops = [];
    await place('nowhere');
    expect(records.at(-1)).toMatchObject({ id: 'nowhere', status: 'failed' });
    routes.hops = [hopAt(5061)];
    await place('first');
    await place('second');
    expect(dialer.legs).toHaveLength(1);
    expect(records.at(-1)).toMatchObject({ id: 'second', termination: 'call_limit' });
  });

  const endings: [string, (calls: Calls) => void | Promise<void>][] = [
    [
      'a rejection',
      () =>
        dialer.last.peer.refused({
          status: 486,
          reason: '',
          warning: null,
          retryAfterS: null,
          authenticated: false,
        }),
    ],
    ['the API', (calls) => calls.stop('first')],
    ['a missing route', async () => {}],
    [
      'the callee, after the answer',
      async () => {
        dialer.last.peer.answered(fakeAnswer);
        await settle();
        dialer.last.peer.bye();
      },
    ],
    ['loss of the engine', () => dialer.last.peer.lost('engine_lost', '')],
    ['the drain', (calls) => calls.endAll({ code: 'edge_restarted', detail: null })],
  ];
  it.each(endings)('free their slot when ended by %s', async (name, end) => {
    if (name === 'a missing route') routes.hops = null;
    await place('first');
    await end(calls);
    await settle();
    expect(calls.size).toBe(0);
    routes.hops = [hopAt(5061)];
    await place('second');
    expect(calls.size).toBe(1);
    expect(refused).toEqual([]);
  });
});
