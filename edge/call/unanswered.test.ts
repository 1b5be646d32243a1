import { describe, expect, it } from 'vitest';
import { callScene, plan, settle } from '../../test/kit/edge/inbound-calls.ts';
import { FakeLeg } from '../../test/kit/fakes/fake-leg.ts';

const scene = callScene();
const { last } = scene;

describe('a call', () => {
  it('rejects with 488 and the media Warning, without creating an agent', async () => {
    const leg = new FakeLeg({ offer: 'v=0\r\n' });
    scene.calls.admit(leg, plan, []);
    await settle();
    expect(leg.sent).toEqual([
      {
        status: 488,
        warning: 'SRTP with AES_CM_128_HMAC_SHA1_80 is required',
        cause: { code: 'media_refused', detail: 'The offer has no usable crypto line' },
      },
    ]);
    expect(scene.agents.created).toEqual([]);
    expect(last()).toMatchObject({ status: 'failed', sip_code: 488, termination: 'media_refused' });
    expect(scene.clock.pending).toBe(0);
  });

  it('rejects with 503 and Retry-After when no RTP port is free', async () => {
    scene.media.exhausted = true;
    const leg = new FakeLeg();
    scene.calls.admit(leg, plan, []);
    await settle();
    expect(leg.sent).toEqual([
      { status: 503, retryAfterS: 10, cause: { code: 'no_media_port', detail: 'No RTP port pair is free' } },
    ]);
    expect(last()).toMatchObject({ status: 'failed', termination: 'no_media_port', media: null });
  });

  it('answers 480 when the agent refuses or is not ready in time', async () => {
    scene.agents.ready = false;
    const first = new FakeLeg();
    scene.calls.admit(first, plan, []);
    await settle();
    scene.agents.last.refuse(new Error('socket did not open'));
    await settle();
    expect(first.sent).toEqual([
      { status: 480, cause: { code: 'agent_unavailable', detail: 'socket did not open' } },
    ]);
    expect(last()).toMatchObject({
      status: 'no-answer',
      termination: 'agent_unavailable',
      termination_detail: 'socket did not open',
    });

    const second = new FakeLeg();
    scene.calls.admit(second, plan, []);
    await settle();
    scene.clock.advance(5000);
    await settle();
    expect(second.sent).toMatchObject(['180', { status: 480, cause: { code: 'agent_unavailable' } }]);
    expect(scene.media.last.closed).toBe(1);
    expect(scene.clock.pending).toBe(0);
  });

  it('is canceled during agent preparation, and sends nothing when the agent is ready later', async () => {
    scene.agents.ready = false;
    const leg = new FakeLeg();
    scene.calls.admit(leg, plan, []);
    await settle();
    leg.peer.canceled();
    scene.agents.last.becomeReady();
    await settle();
    expect(leg.sent).toEqual([]);
    expect(last()).toMatchObject({ status: 'canceled', sip_code: 487, hangup_by: 'peer', answered_at: null });
    expect(scene.media.last.closed).toBe(1);
  });

  it('counts as unanswered when CANCEL crosses the 200', async () => {
    const leg = new FakeLeg();
    scene.calls.admit(leg, plan, []);
    await settle();
    leg.peer.canceled();
    expect(last()).toMatchObject({ status: 'canceled', answered_at: null });
    expect(scene.calls.size).toBe(0);
  });
});
