/** Outbound calls to SIPp as a carrier: signaling, engine and media are real, the agent is a tone. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '#shared/ids.ts';
import { ToneAgent } from '../../edge/agent/tone-agent.ts';
import type { NextHop } from '../../edge/call/ports/routes.ts';
import type { RunningMedia } from '../../edge/media/media.ts';
import { TestEdge } from '../kit/edge/signaling.ts';
import { echoAgent, FakeAgents } from '../kit/fakes/fake-agents.ts';
import { FakeRoutes, hopAt, route } from '../kit/fakes/fake-hunt.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';
import { serveScenario } from './serve.ts';
import { testMedia } from './trunk-edge.ts';

/** Plays a tone and measures the returned audio. */
class LineCheck extends ToneAgent {
  /** Frames whose loudest sample is far above noise. */
  loudFrames = 0;

  write(frame: Int16Array): void {
    if (frame.some((sample) => Math.abs(sample) > 2000)) this.loudFrames++;
  }
}

class LineChecks extends FakeAgents {
  override create() {
    return agent;
  }
}

const routes = new FakeRoutes();
let media: RunningMedia;
let edge: TestEdge;
let agent: LineCheck;

beforeAll(async () => {
  media = await testMedia(20);
  edge = await TestEdge.start({
    media,
    agents: new LineChecks(),
    outbound: { routes, ringTimeoutMs: 1_500 },
  });
});

afterAll(() =>
  releaseAll(
    () => edge?.stop(),
    () => media?.close(),
  ),
);

beforeEach(() => {
  agent = new LineCheck(400);
});

/** Calls SIPp with `scenario`, and checks that it passes and that the call leaves no resources. */
async function callServer(
  scenario: string,
  run: (callId: string) => Promise<void>,
  { keys, hop }: { keys?: Record<string, string>; hop?: Partial<NextHop> } = {},
): Promise<void> {
  const server = await serveScenario(scenario, await freeTcpPort(), edge.certificate, keys);
  try {
    routes.hops = [hopAt(server.port, hop)];
    const callId = newId();
    edge.calls.place({
      callId,
      orgId: 'org',
      from: '+14155550100',
      to: '+14155550123',
      agent: echoAgent,
      variables: {},
    });
    await run(callId);
    const { passed, report } = await server.ended();
    expect(passed, report).toBe(true);
    await eventually('the end of the dialog', () => edge.signaling.dialogs === 0 || null);
    expect(media.stats().legs).toBe(0);
  } finally {
    await server.close();
  }
}

/** Waits until the echo of the agent's tone has been received for half a second, then hangs up. */
async function hearAndHangUp(callId: string): Promise<void> {
  await eventually('the echo of the tone', () => agent.loudFrames >= 25 || null);
  edge.calls.stop(callId);
  expect(edge.last(callId)).toMatchObject({
    status: 'completed',
    sip_code: 200,
    codec: 'PCMU',
    media: { verdict: 'two_way', packets_lost: 0 },
    failover_attempts: [],
  });
}

test('early media in a reliable 183 becomes the media of the call', async () => {
  await callServer('uas-trunk-early-media-expect-prack', async (callId) => {
    await eventually('the answer', () => edge.last(callId)?.answered_at);
    await hearAndHangUp(callId);
  });
});

test.each(['MD5', 'SHA-256'])(
  'a carrier accepts our credentials for INVITE and BYE with %s',
  async (algorithm) => {
    const credentials = { username: 'acme', password: 'secret', realm: 'trunk' };
    await callServer('uas-trunk-challenge-expect-digest', hearAndHangUp, {
      keys: { algorithm },
      hop: { route: { ...route, credentials } },
    });
  },
);

test('an unanswered call is canceled', async () => {
  await callServer('uas-trunk-no-answer-expect-cancel', async (callId) => {
    const ended = await eventually('the end of the call', () =>
      edge.last(callId)?.ended_at ? edge.last(callId) : null,
    );
    expect(ended).toMatchObject({ status: 'no-answer', hangup_by: 'timeout', answered_at: null });
  });
});
