/** Call limits that an edge shares with others: control counts, and the edge's fair share decides without it. */
import { beforeEach, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { CallLimits } from '#shared/edge-protocol/numbers.ts';
import { QuietLog } from '../../test/kit/fakes/quiet-log.ts';
import { type CountsOfFleet, OutboundLimits } from './limits.ts';

const scope = 'organization org';
let edges: number;
let answers: Awaited<ReturnType<CountsOfFleet['ask']>>[];
let told: string[];
let organization: CallLimits;
let limits: OutboundLimits;
let ids: number;

beforeEach(() => {
  edges = 2;
  answers = [];
  told = [];
  ids = 0;
  organization = { concurrent: 5 };
  limits = new OutboundLimits({
    clock: new FakeClock(),
    log: new QuietLog(),
    organization: () => organization,
    number: () => undefined,
    refused: () => {},
    fleet: {
      get edges() {
        return edges;
      },
      ask: async (scopes) => {
        told.push(`ask ${scopes.map((one) => one.scope)}`);
        return answers.shift() ?? { answer: 'counted' };
      },
      begun: (scopes) => told.push(`begun ${scopes}`),
      over: (scopes, sent) => told.push(`over ${scopes} ${sent}`),
    },
  });
});

const call = (callId = `call-${++ids}`) => ({
  callId,
  orgId: 'org',
  from: '+14155550100',
  to: '+14155550123',
});

it('an edge that is alone asks nobody, and does not wait', () => {
  edges = 1;
  for (let count = 0; count < 5; count++) expect(limits.admit(call())).toBeNull();
  expect(limits.admit(call())).toMatchObject({ code: 'call_limit' });
  expect(told).toEqual([]);
});

it('a call without a limit asks nobody', () => {
  organization = {};
  expect(limits.admit(call())).toBeNull();
  expect(told).toEqual([]);
});

it('a call waits for control, which counts it until it is over', async () => {
  expect(await limits.admit(call('a'))).toBeNull();
  limits.release('a', true);
  expect(told).toEqual([`ask ${scope}`, `over ${scope} true`]);
});

it('a call is rejected with the limit that all edges together have reached', async () => {
  answers.push({ answer: 'full', scope, reason: 'concurrent' });
  expect(await limits.admit(call())).toEqual({
    code: 'call_limit',
    detail: 'The organization has reached its limit of 5 concurrent calls.',
  });
  expect(limits.held()).toMatchObject([{ scope, live: 0 }, { live: 0 }]);
});

it('without an answer the edge uses its fair share of the limit, and reports what it began', async () => {
  for (let count = 0; count < 2; count++) {
    answers.push({ answer: 'unknown' });
    expect(await limits.admit(call())).toBeNull();
  }
  answers.push({ answer: 'unknown' });
  expect(await limits.admit(call())).toMatchObject({ code: 'call_limit' });
  expect(told.filter((line) => line.startsWith('begun'))).toHaveLength(2);
});

it('a call that ends while control is asked is not counted', async () => {
  const verdict = limits.admit(call('a'));
  limits.release('a', false);
  expect(await verdict).toBeNull();
  expect(told).toEqual([`ask ${scope}`, `over ${scope} false`]);
});
