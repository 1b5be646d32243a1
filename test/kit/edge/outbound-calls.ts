/** Outgoing calls: drachtio-srf and the embedded engine against a server whose messages the test writes. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { newId } from '#shared/ids.ts';
import type { NextHop } from '../../../edge/call/ports/routes.ts';
import { echoAgent, FakeAgents } from '../fakes/fake-agents.ts';
import { FakeRoutes, hopAt } from '../fakes/fake-hunt.ts';
import { FakeMedia } from '../fakes/fake-media.ts';
import { releaseAll } from '../fakes/release.ts';
import { SipCallee } from '../fakes/sip-callee.ts';
import type { Heard } from '../fakes/sip-caller.ts';
import { TestEdge } from './signaling.ts';

export const tagOf = (value = '') => /;tag=([^;]+)/.exec(value)?.[1];

/** One edge for the file, one callee for each test. */
export function outboundScene() {
  const agents = new FakeAgents();
  const media = new FakeMedia();
  const routes = new FakeRoutes();
  let edge: TestEdge;
  let callee: SipCallee;

  beforeAll(async () => {
    edge = await TestEdge.start({
      media,
      agents,
      outbound: { routes, ringTimeoutMs: 60_000 },
      noResponseMs: 5_000,
    });
  });

  afterAll(() => edge.stop());

  beforeEach(async () => {
    agents.ready = true;
    callee = await SipCallee.listen(edge.certificate);
  });

  afterEach(() =>
    releaseAll(
      () => callee.close(),
      () => expect.poll(() => edge.calls.size + edge.signaling.dialogs).toBe(0),
    ),
  );
  const last = (callId: string) => edge.last(callId);

  /** Calls over these targets, by default the callee. @returns the id of the call */
  function call(hops: readonly NextHop[] = [hopAt(callee.port)], to = '+14155550123'): string {
    routes.hops = hops;
    const callId = newId();
    edge.calls.place({
      callId,
      orgId: 'org',
      from: '+14155550100',
      to,
      agent: echoAgent,
      variables: { customer: '42' },
    });
    return callId;
  }

  /** Hangs up an answered call on our side. */
  async function hangUp(callId: string, answer = true): Promise<Heard> {
    edge.calls.stop(callId);
    const bye = await callee.request('BYE');
    if (answer) callee.answer(bye, '200 OK');
    return bye;
  }

  return {
    agents,
    media,
    routes,
    get edge() {
      return edge;
    },
    get callee() {
      return callee;
    },
    last,
    call,
    hangUp,
  };
}
