/** Failover, rejections, time limits and the end of a test call. */
import { describe, expect, it } from 'vitest';
import { connectionFailure } from '#shared/connection-faults.ts';
import { order, settle, testCallScene } from '../../../test/kit/edge/test-calls.ts';
import { FakeAgents } from '../../../test/kit/fakes/fake-agents.ts';
import { hopAt, route } from '../../../test/kit/fakes/fake-hunt.ts';
import { fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import type { DialRefusal } from '../../call/ports/dialing.ts';
import { runTestCall } from './test-call.ts';

const scene = testCallScene();
const { take, routes, last, events, expectNothingLeft, dialling, answered, talk } = scene;

const refusal = (status: number, reason: string, authenticated = false): DialRefusal => ({
  status,
  reason,
  warning: null,
  retryAfterS: null,
  authenticated,
});

describe('a test call', () => {
  it('fails over to the next endpoint and says why', async () => {
    scene.hops = [hopAt(5061), hopAt(5062)];
    const first = await dialling();
    first.peer.unreachable(connectionFailure('refused', '127.0.0.1:5061: connection refused'));
    await settle();
    scene.dialer.last.peer.answered(fakeAnswer);
    await settle();
    await talk(5000);
    expect(events()).toEqual([
      'initiated',
      'failover',
      'initiated',
      'answered',
      'media_confirmed',
      'completed',
    ]);
    expect(last().timeline[1]?.detail).toBe(
      'Nothing listens at 127.0.0.1:5061: the connection was refused; check host, port and firewall. Failing over to 127.0.0.1:5062.',
    );
    expect(last()).toMatchObject({ result: 'connected', diagnosis: null });
  });

  it('fails with the last endpoint, and reports no failover without a next endpoint', async () => {
    scene.hops = [hopAt(5061), hopAt(5062)];
    (await dialling()).peer.unreachable(connectionFailure('refused', '127.0.0.1:5061: connection refused'));
    await settle();
    scene.dialer.last.peer.timeout();
    await settle();
    expect(events()).toEqual(['initiated', 'failover', 'initiated', 'failed']);
    expect(last()).toMatchObject({
      status: 'failed',
      result: 'failed',
      error: 'ROUTE_TIMEOUT',
      duration_seconds: 0,
      sip_code: null,
      media: null,
      diagnosis: expect.stringMatching(/^127.0.0.1:5062 accepted the connection, but did not respond/),
    });
    expectNothingLeft();
  });

  it('to a busy number is busy', async () => {
    const leg = await dialling();
    leg.peer.refused(refusal(486, 'Busy Here'));
    expect(last()).toMatchObject({ status: 'busy', result: 'busy', error: null, sip_code: 486, media: null });
    expect(last().timeline.at(-1)).toMatchObject({
      event: 'busy',
      detail: '+14155550123 is busy (486 Busy Here).',
    });
    expectNothingLeft();
  });

  it('with a wrong password reports it', async () => {
    const credentials = { username: 'acme', password: 'wrong', realm: null };
    scene.hops = [hopAt(5061, { route: { ...route, credentials } })];
    (await dialling()).peer.refused(refusal(401, 'Unauthorized', true));
    await settle();
    expect(last()).toMatchObject({
      result: 'failed',
      error: 'ROUTE_AUTH_FAILED',
      sip_code: 401,
      diagnosis: '127.0.0.1:5061 rejected our user name and password; check both (401 Unauthorized).',
    });
  });

  it('rings no longer than its time limit', async () => {
    const leg = await dialling({ max_seconds: 5 });
    leg.peer.progress(180, null);
    scene.clock.advance(4999);
    expect(last().result).toBe('pending');
    scene.clock.advance(1);
    expect(leg.sent).toEqual(['CANCEL (Nobody answered within 5 s.)']);
    expect(last()).toMatchObject({
      status: 'no-answer',
      result: 'no_answer',
      error: null,
      diagnosis: 'No answer from +14155550123 at 127.0.0.1:5061: nobody answered within 5 s.',
    });
    expect(events()).toEqual(['initiated', 'ringing', 'no_answer']);
    expectNothingLeft();
  });

  it('distinguishes a silent endpoint from a number that nobody answers, even with a short time limit', async () => {
    await dialling({ max_seconds: 5 });
    scene.clock.advance(5000);
    await settle();
    expect(last()).toMatchObject({
      status: 'failed',
      result: 'failed',
      error: 'ROUTE_TIMEOUT',
      diagnosis: expect.stringMatching(
        /^127\.0\.0\.1:5061 accepted the connection, but did not respond to the INVITE/,
      ),
    });
    expectNothingLeft();
  });

  it('can be stopped, before and after its answer', async () => {
    await dialling();
    scene.calls.stop('tc_1');
    expect(last()).toMatchObject({ status: 'failed', result: 'failed', error: 'API_STOP' });
    expect(events()).toEqual(['initiated', 'failed']);
    expectNothingLeft();
    scene.states = [];
    await answered();
    await talk(200, { counts: { verdict: 'send_only' } });
    scene.calls.stop('tc_1');
    expect(last()).toMatchObject({
      result: 'failed',
      error: 'API_STOP',
      diagnosis: 'The call was stopped through the API.',
    });
    expectNothingLeft();
  });

  it('ends when the edge stops', async () => {
    await dialling();
    const drained = scene.calls.drain(1000);
    scene.clock.advance(1000);
    await drained;
    expect(last()).toMatchObject({ result: 'failed', error: 'EDGE_RESTARTED' });
    expectNothingLeft();
  });

  it('fails at once without its configuration, an address, or room', async () => {
    const run = async () => {
      scene.states = [];
      const { legs } = scene.dialer;
      runTestCall(order, {
        clock: scene.clock,
        calls: scene.calls,
        routes,
        dialer: scene.dialer,
        media: scene.media,
        agents: new FakeAgents(),
        reporter: { report: take },
        log: new QuietLog(),
      });
      await settle();
      expect(scene.dialer.legs).toEqual(legs);
      return last();
    };
    scene.hops = null;
    expect(await run()).toMatchObject({ error: 'NO_ROUTE', sip_code: null, timeline: [{ event: 'failed' }] });
    scene.hops = [];
    expect(await run()).toMatchObject({ error: 'ROUTE_UNREACHABLE' });
    scene.calls.drain(0);
    expect(await run()).toMatchObject({ error: 'DRAINING' });
    expectNothingLeft();
  });

  it('counts against the call limit, and rejects an id that is in use', async () => {
    await dialling();
    expect(scene.calls.closedFor('org')).toBe('capacity');
    await expect(dialling()).rejects.toThrow('Call tc_1 already exists');
    scene.calls.stop('tc_1');
    expectNothingLeft();
  });
});
