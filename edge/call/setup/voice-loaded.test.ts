/** An outbound call while the voice of its agent is loaded, which only the first one after a start has to wait for. */
import { beforeEach, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import { echoAgent, FakeAgents } from '../../../test/kit/fakes/fake-agents.ts';
import { FakeDialer } from '../../../test/kit/fakes/fake-dialer.ts';
import { FakeRoutes, hopAt } from '../../../test/kit/fakes/fake-hunt.ts';
import { FakeMedia } from '../../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import { Calls } from '../calls.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

const [from, to] = ['+14155550100', '+14155550123'];
const speaking: AgentSettings = { ...echoAgent, kind: 'task', task: 'Say hello.' };
let agents: FakeAgents;
let dialer: FakeDialer;
let loading: PromiseWithResolvers<void>;
let calls: Calls;

beforeEach(() => {
  [agents, dialer, loading] = [new FakeAgents(), new FakeDialer(), Promise.withResolvers()];
  const routes = new FakeRoutes();
  routes.hops = [hopAt(5061)];
  calls = new Calls({
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
});

it.each([
  ['is dialled when it is there: a peer that answers before would not be heard', false, 1],
  ['is not dialled if it ends before', true, 0],
])('%s', async (_, ends, dialled) => {
  calls.place({ callId: 'call-1', orgId: 'org-1', from, to, agent: speaking, variables: {} });
  await settle();
  expect([agents.created.length, dialer.legs.length]).toEqual([1, 0]);
  if (ends) calls.stop('call-1');
  loading.resolve();
  await settle();
  expect(dialer.legs).toHaveLength(dialled);
});

it.each<AgentSettings>([
  echoAgent,
  { ...echoAgent, kind: 'tone', frequency_hz: 440 },
  { ...echoAgent, kind: 'stream', stream_url: 'wss://bot.example.com' },
])('does not wait for it with an agent of another sound: $kind', async (agent) => {
  calls.place({ callId: 'call-1', orgId: 'org-1', from, to, agent, variables: {} });
  await settle();
  expect(dialer.legs).toHaveLength(1);
});
