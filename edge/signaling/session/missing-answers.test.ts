/** Peers that give no SDP where RFC 3261 section 13.2.1 requires the answer to an offer of ours. */
import { describe, expect, it } from 'vitest';
import { signalingScene } from '../../../test/kit/edge/fake-engine-signaling.ts';
import type { Sent } from '../../../test/kit/fakes/drachtio-server.ts';
import { sdpOffer } from '../../../test/kit/fakes/fake-leg.ts';

const scene = signalingScene();
const { answered, last } = scene;

/** Our next re-INVITE, which the caller answers with 200. @returns it */
async function reinvited(body?: string): Promise<Sent> {
  await scene.server.idle();
  const sent = await scene.server.next();
  expect(sent.startLine).toMatch(/^INVITE /);
  const sdp = { headers: { 'Content-Type': 'application/sdp' }, ...(body === undefined ? {} : { body }) };
  scene.server.answer(sent, 200, 'OK', body === undefined ? {} : sdp);
  expect((await scene.server.next()).startLine).toMatch(/^ACK /);
  await scene.server.idle();
  return sent;
}

/** The call has an ACK for its 200. */
async function acknowledged(headers: Record<string, string> = {}): Promise<void> {
  await answered(headers);
  scene.server.peer({ method: 'ACK', toTag: 't' });
  await scene.server.idle();
}

describe('a caller that gives no answer', () => {
  it('to the offers of a hold and of its end stays in the call, and may give one at the next hold', async () => {
    await acknowledged();
    for (const body of [undefined, sdpOffer]) {
      scene.calls.hold('id-1', 'hold');
      expect((await reinvited(body)).body).toContain('a=sendonly');
      scene.calls.hold('id-1', 'resume');
      expect((await reinvited(body)).body).toContain('a=sendrecv');
    }
    expect(scene.media.last.answers).toEqual([sdpOffer, sdpOffer]);
    expect(scene.calls.find('id-1')?.state).toBe('up');
    expect(last()?.termination).toBeNull();
  });

  it('to a refresh of the session stays in the call, and is refreshed again', async () => {
    await acknowledged({ Supported: 'timer' });
    scene.clock.advance(900_000);
    await reinvited();
    scene.clock.advance(900_000);
    await reinvited();
    expect(scene.calls.find('id-1')?.state).toBe('up');
  });

  it('to the offer that it has asked for stays in the call', async () => {
    await acknowledged();
    scene.server.peer({ method: 'INVITE', toTag: 't' });
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    scene.server.peer({ method: 'ACK', toTag: 't' });
    await scene.server.idle();
    expect(scene.calls.find('id-1')?.state).toBe('up');
    scene.calls.hold('id-1', 'hold');
    expect((await reinvited(sdpOffer)).body).toContain('a=sendonly');
  });
});

describe('an offer of ours that gets no answer is taken back', () => {
  it.each([403, 488, 491, 500])('when the caller rejects it with %i', async (status) => {
    await acknowledged();
    scene.calls.hold('id-1', 'hold');
    await scene.server.idle();
    scene.server.answer(await scene.server.next(), status, 'No');
    await scene.server.idle();
    expect(scene.media.last.withdrawn).toBe(1);
    expect(scene.calls.find('id-1')?.state).toBe('up');
  });

  it('when the caller leaves the answer out, in its 200 or in its ACK', async () => {
    await acknowledged();
    scene.calls.hold('id-1', 'hold');
    await reinvited();
    expect(scene.media.last.withdrawn).toBe(1);
    scene.server.peer({ method: 'INVITE', toTag: 't' });
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    scene.server.peer({ method: 'ACK', toTag: 't' });
    await scene.server.idle();
    expect(scene.media.last.withdrawn).toBe(2);
  });

  it('when it cannot be sent', async () => {
    await acknowledged();
    scene.server.refuse = ({ startLine }) => (startLine.startsWith('INVITE ') ? 'no connection' : null);
    scene.calls.hold('id-1', 'hold');
    await expect.poll(() => scene.media.last.withdrawn).toBe(1);
    scene.server.refuse = () => null;
  });

  it('and one that is answered is not', async () => {
    await acknowledged();
    scene.calls.hold('id-1', 'hold');
    await reinvited(sdpOffer);
    expect(scene.media.last.withdrawn).toBe(0);
  });
});
