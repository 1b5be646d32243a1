/** An outbound call while the voice of its agent is loaded, which only the first one after a start has to wait for. */
import { expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { echoAgent, FakeAgents } from '../../../test/kit/fakes/fake-agents.ts';
import { FakeDialer } from '../../../test/kit/fakes/fake-dialer.ts';
import { FakeRoutes, hopAt } from '../../../test/kit/fakes/fake-hunt.ts';
import { FakeMedia } from '../../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import type { OutboundPlan } from '../call-plan.ts';
import { Calls } from '../calls.ts';
import { Joiner } from '../transfer/joiner.ts';
import type { TargetPlan } from '../transfer/target-plan.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

interface Scene {
  readonly calls: Calls;
  readonly dialer: FakeDialer;
  readonly agents: FakeAgents;
  readonly loading: PromiseWithResolvers<void>;
}

async function placed(agent: OutboundPlan['agent'], leg?: TargetPlan): Promise<Scene> {
  const loading = Promise.withResolvers<void>();
  const [agents, routes, dialer] = [new FakeAgents(), new FakeRoutes(), new FakeDialer()];
  routes.hops = [hopAt(5061)];
  const calls = new Calls({
    clock: new FakeClock(Date.UTC(2030, 0, 1)),
    media: new FakeMedia(),
    agents,
    log: new QuietLog(),
    newId: () => 'sip-1',
    maxCalls: 1,
    settings: { ringAfterMs: 200, prepareTimeoutMs: 5000, mediaTimeoutMs: 60_000 },
    reporter: { report: () => undefined, refusal: null },
    outbound: { routes, dialer, ringTimeoutMs: 30_000, voiceLoaded: () => loading.promise },
  });
  const [from, to] = ['+14155550100', '+14155550123'];
  calls.place({ callId: 'call-1', orgId: 'org-1', from, to, agent, variables: {}, ...(leg && { leg }) });
  await settle();
  return { calls, dialer, agents, loading };
}

const task: OutboundPlan['agent'] = { ...echoAgent, kind: 'task', task: 'Say hello.' };
const others: readonly OutboundPlan['agent'][] = [
  echoAgent,
  { ...echoAgent, kind: 'tone', frequency_hz: 440 },
  { ...echoAgent, kind: 'stream', stream_url: 'wss://agent.example' },
  { ...echoAgent, kind: 'realtime', connection_id: 'model', prompt: '' },
];

it.each([
  ['is dialled when it is there: a peer that answers before would not be heard', false, 1],
  ['is not dialled if it ends before', true, 0],
])('%s', async (_, ends, dialled) => {
  const { calls, dialer, agents, loading } = await placed(task);
  expect([agents.created.length, dialer.legs.length]).toEqual([1, 0]);
  if (ends) calls.stop('call-1');
  loading.resolve();
  await settle();
  expect(dialer.legs).toHaveLength(dialled);
});

it.each(others.map((agent) => [agent?.kind, agent] as const))(
  'is dialled at once if its agent brings its own sound (%s)',
  async (_, agent) => {
    const { dialer } = await placed(agent);
    expect(dialer.legs).toHaveLength(1);
  },
);

it('is dialled at once if it is a leg to a transfer target', async () => {
  const never = () => undefined;
  const { dialer } = await placed(task, {
    parentId: 'call-0',
    trunkId: null,
    beside: null,
    replaces: null,
    referredBy: null,
    deadline: null,
    codecs: () => [],
    speaker: (_, host) => new Joiner(host),
    events: {
      ringing: never,
      join: never,
      ended: never,
      parting: { isPossible: () => false, part: never, rejoin: never },
      recorded: false,
    },
  });
  expect(dialer.legs).toHaveLength(1);
});
