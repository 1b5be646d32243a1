/** An outbound call while the voice of its agent is loaded, which only the first one after a start has to wait for. */
import { expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { echoAgent, FakeAgents } from '../../../test/kit/fakes/fake-agents.ts';
import { FakeDialer } from '../../../test/kit/fakes/fake-dialer.ts';
import { FakeRoutes, hopAt } from '../../../test/kit/fakes/fake-hunt.ts';
import { FakeMedia } from '../../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import { Calls } from '../calls.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

it.each([
  ['is dialled when it is there: a peer that answers before would not be heard', false, 1],
  ['is not dialled if it ends before', true, 0],
])('%s', async (_, ends, dialled) => {
  const loading = Promise.withResolvers<void>();
  const [clock, media, agents, routes, dialer] = [
    new FakeClock(Date.UTC(2030, 0, 1)),
    new FakeMedia(),
    new FakeAgents(),
    new FakeRoutes(),
    new FakeDialer(),
  ];
  routes.hops = [hopAt(5061)];
  const calls = new Calls({
    clock,
    media,
    agents,
    log: new QuietLog(),
    newId: () => 'sip-1',
    maxCalls: 1,
    settings: { ringAfterMs: 200, prepareTimeoutMs: 5000, mediaTimeoutMs: 60_000 },
    reporter: { report: () => undefined, refusal: null },
    outbound: { routes, dialer, ringTimeoutMs: 30_000, voiceLoaded: () => loading.promise },
  });
  const [from, to] = ['+14155550100', '+14155550123'];
  calls.place({ callId: 'call-1', orgId: 'org-1', from, to, agent: echoAgent, variables: {} });
  await settle();
  expect([agents.created.length, dialer.legs.length]).toEqual([1, 0]);
  if (ends) calls.stop('call-1');
  loading.resolve();
  await settle();
  expect(dialer.legs).toHaveLength(dialled);
});
