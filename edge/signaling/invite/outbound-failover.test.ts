/** Outgoing calls that fail over to another target, and probes. */
import { describe, expect, it } from 'vitest';
import { outboundScene, tagOf } from '../../../test/kit/edge/outbound-calls.ts';
import { hopAt } from '../../../test/kit/fakes/fake-hunt.ts';
import { fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';
import { SipCallee } from '../../../test/kit/fakes/sip-callee.ts';
import { freeTcpPort } from '../../../test/kit/programs/ports.ts';

const scene = outboundScene();
const { media, routes, last, call, hangUp } = scene;

describe('the call fails over to another target', () => {
  const dead = async () => hopAt(await freeTcpPort());

  it('when the connection is refused', async () => {
    const callId = call([
      await dead(),
      hopAt(scene.callee.port, { endpoint: { host: 'b', port: 1, priority: 1 } }),
    ]);
    const invite = await scene.callee.request('INVITE');
    expect(last(callId)?.failover_attempts).toMatchObject([
      { priority: 0, sip_code: null, error: expect.stringContaining('connection refused') },
    ]);
    scene.callee.answer(invite, '200 OK', { body: fakeAnswer });
    await scene.callee.request('ACK');
    await hangUp(callId);
    expect(routes.last.outcomes.map(({ kind }) => kind)).toEqual(['no_connection', 'final']);
  });

  it('when the certificate is for another name, which the attempt reports', async () => {
    const other = await SipCallee.listen(scene.edge.certificate);
    const target = {
      host: 'other.example',
      address: '127.0.0.1',
      port: other.port,
      serverName: 'other.example',
    };
    const callId = call([hopAt(other.port, { target }), hopAt(scene.callee.port)]);
    const invite = await scene.callee.request('INVITE');
    expect(last(callId)?.failover_attempts?.[0]?.error).toMatch(/certificate.*other\.example/);
    scene.callee.answer(invite, '486 Busy Here');
    await scene.callee.request('ACK');
    await other.close();
  });

  it('when no response comes in time, with a new From tag and SRTP keys of its own', async () => {
    const silent = await SipCallee.listen(scene.edge.certificate);
    const legs = media.legs.length;
    const callId = call([hopAt(silent.port), hopAt(scene.callee.port)]);
    const first = await silent.request('INVITE');
    const second = await scene.callee.request('INVITE');
    expect(last(callId)?.failover_attempts).toMatchObject([{ error: 'timeout' }]);
    expect(second.headers['call-id']).toBe(first.headers['call-id']);
    expect(tagOf(second.headers.from)).not.toBe(tagOf(first.headers.from));
    expect(media.legs.slice(legs).map(({ closed }) => closed)).toEqual([1, 0]);
    scene.callee.answer(second, '200 OK', { body: fakeAnswer });
    await scene.callee.request('ACK');
    // The first target answers too late: its call is ended.
    silent.answer(first, '200 OK', { body: fakeAnswer });
    await silent.request('ACK');
    silent.answer(await silent.request('BYE'), '200 OK');
    expect(last(callId)?.status).toBe('in-progress');
    await hangUp(callId);
    await silent.close();
  });

  it('when the connection is lost before ringing, but not after', async () => {
    const first = await SipCallee.listen(scene.edge.certificate);
    const moved = call([hopAt(first.port), hopAt(scene.callee.port)]);
    await first.request('INVITE');
    first.drop();
    scene.callee.answer(await scene.callee.request('INVITE'), '404 Not Found');
    await scene.callee.request('ACK');
    await expect.poll(() => last(moved)?.ended_at).not.toBeNull();

    const ringing = call([hopAt(first.port), hopAt(scene.callee.port)]);
    first.answer(await first.request('INVITE'), '180 Ringing');
    await expect.poll(() => last(ringing)?.status).toBe('ringing');
    first.drop();
    await expect.poll(() => last(ringing)?.termination).toBe('route_failed');
    expect(last(ringing)?.failover_attempts).toEqual([]);
    await first.close();
  });

  it('until none is left', async () => {
    const callId = call([await dead(), await dead()]);
    await expect.poll(() => last(callId)?.termination).toBe('route_unreachable');
    expect(last(callId)).toMatchObject({ status: 'failed', sip_code: null, hangup_by: 'error' });
    expect(last(callId)?.failover_attempts).toHaveLength(2);
    expect(last(callId)?.termination_detail).toContain('the connection was refused');
  });
});

describe('a probe', () => {
  const target = () => hopAt(scene.callee.port).target;

  it('reports the status of the response', async () => {
    const outcome = scene.edge.signaling.probe(target(), 5000);
    const options = await scene.callee.request('OPTIONS');
    expect(options.startLine).toBe(`OPTIONS sip:127.0.0.1:${scene.callee.port};transport=tls SIP/2.0`);
    scene.callee.answer(options, '404 Not Found');
    expect(await outcome).toEqual({ sipCode: 404, responseTimeMs: expect.any(Number), error: null });
  });

  it('reports why there is none', async () => {
    const refused = await scene.edge.signaling.probe({ ...target(), port: await freeTcpPort() }, 5000);
    expect(refused).toMatchObject({ sipCode: null, responseTimeMs: null });
    expect(refused.error).toMatch(/^Nothing listens at 127\.0\.0\.1:\d+: the connection was refused; /);
    expect(await scene.edge.signaling.probe(target(), 100)).toEqual({
      sipCode: null,
      responseTimeMs: null,
      error: 'timeout',
    });
  });
});
