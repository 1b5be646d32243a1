/** A browser calls a party over a trunk of its number. */
import { beforeEach, expect, it } from 'vitest';
import { refusal, settle, TransferBench } from '../../../test/kit/edge/transfer.ts';
import { FakeLeg } from '../../../test/kit/fakes/fake-leg.ts';

const to = '+14155550177';
let bench: TransferBench;
let leg: FakeLeg;

beforeEach(async () => {
  bench = new TransferBench();
  leg = new FakeLeg();
  const plan = {
    orgId: 'org-1',
    number: '+14155550100',
    trunkId: null,
    agent: null,
    dial: to,
    variables: {},
  };
  bench.calls.admit(leg, plan, ['PCMU']);
  await settle();
});

it('is answered once the party has answered, and joined with it without an agent', async () => {
  expect(bench.dialer.last.invite).toMatchObject({ from: '+14155550100', to });
  await bench.targetAnswers();
  expect(leg.sent).toEqual(['200']);
  leg.peer.answered();
  leg.peer.acknowledged(null);
  await settle();
  expect(bench.media.bridges).toHaveLength(1);
  expect(bench.agents.created).toEqual([]);
  leg.peer.bye();
  expect(bench.record('id-1')).toMatchObject({ termination: 'caller_hangup', transferred_to: to });
  bench.expectNothingLeft();
});

it('gets the status of a party that is busy', async () => {
  bench.dialer.last.peer.refused(refusal(486, 'Busy Here'));
  await settle();
  expect(leg.sent).toMatchObject([{ status: 486, cause: { code: 'dial_failed' } }]);
  expect(bench.record('id-1')).toMatchObject({ termination: 'dial_failed', status: 'busy' });
  bench.expectNothingLeft();
});

it('no longer rings when the browser gives up', async () => {
  leg.peer.canceled();
  await settle();
  expect(bench.dialer.last.sent).toHaveLength(1);
  expect(bench.record('id-1')).toMatchObject({ termination: 'caller_canceled' });
  bench.expectNothingLeft();
});

it('lasts 12 hours at most', async () => {
  await bench.targetAnswers();
  leg.peer.answered();
  leg.peer.acknowledged(null);
  await settle();
  bench.clock.advance(12 * 60 * 60 * 1000);
  await settle();
  expect(bench.record('id-1')).toMatchObject({ termination: 'max_duration' });
  bench.expectNothingLeft();
});
