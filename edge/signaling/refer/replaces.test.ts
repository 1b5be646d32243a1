import { describe, expect, it } from 'vitest';
import { referScene, type UpCall } from '../../../test/kit/edge/refers.ts';
import type { DrachtioServer } from '../../../test/kit/fakes/drachtio-server.ts';
import { sdpOffer } from '../../../test/kit/fakes/fake-leg.ts';
import { fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';

const scene = referScene();
const { legEvents, inbound, outbound, idle } = scene;

describe('an INVITE with Replaces', () => {
  /** @returns the start line of the answer, empty when the call decides */
  async function replace(replaces: string, message: Partial<Parameters<DrachtioServer['peer']>[0]> = {}) {
    const before = scene.server.sent.length;
    const headers = { Replaces: replaces, Require: 'replaces', ...message.headers };
    const uri = 'sip:edge.example:5061;transport=tls';
    scene.server.peer({ method: 'INVITE', uri, callId: 'new@peer', body: sdpOffer, ...message, headers });
    await idle();
    return scene.server.sent.length > before ? (await scene.server.next()).startLine : '';
  }

  function nameOf({ leg }: UpCall): string {
    return `${leg.dialog?.callId};to-tag=${leg.dialog?.localTag};from-tag=${leg.dialog?.remoteTag}`;
  }

  it.each<[string, typeof inbound]>([
    ['that came in', inbound],
    ['that went out', outbound],
  ])('is delivered to the call %s', async (_name, begin) => {
    const call = await begin();
    expect(await replace(nameOf(call))).toBe('');
    const [leg] = scene.replacing;
    expect(leg?.facts).toMatchObject({ sipCallId: 'new@peer', to: '+14155550100', offer: sdpOffer });
    leg?.answer(fakeAnswer);
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    scene.server.peer({ method: 'ACK', callId: 'new@peer', toTag: 'server-tag' });
    await idle();
    expect(scene.heard).toEqual(['answered', 'acknowledged']);
    call.leg.bye('replaced');
    const bye = await scene.server.next();
    expect(bye.dialogId).toBe(call.dialogId);
    expect(scene.signaling.dialogs).toBe(2);
  });

  it('is rejected as RFC 3891 requires', async () => {
    const call = await inbound();
    const name = nameOf(call);
    expect(await replace('nonsense')).toBe('SIP/2.0 400 Malformed Replaces');
    expect(await replace(`${name},${name}`)).toBe('SIP/2.0 400 Malformed Replaces');
    expect(await replace(name.replace('server-tag', 'other'))).toMatch(/^SIP\/2.0 481/);
    expect(await replace(`${name};early-only`)).toBe('SIP/2.0 486 Busy Here');
    call.leg.bye('done');
    await scene.server.next();
    expect(await replace(name)).toBe('SIP/2.0 603 Decline');
    expect(scene.replacing).toEqual([]);
  });

  it('does not match an unanswered call', async () => {
    scene.server.peer({ method: 'INVITE', body: sdpOffer });
    await idle();
    scene.admitted?.ring();
    await scene.server.next();
    expect(await replace('call-1@peer;to-tag=server-tag;from-tag=peer-tag')).toMatch(/^SIP\/2.0 481/);
  });

  it('from a stranger is forbidden, whether or not the call exists', async () => {
    const call = await inbound();
    const address = '203.0.113.5';
    expect(await replace(nameOf(call), { address })).toBe('SIP/2.0 403 Forbidden');
    expect(await replace('x@y;to-tag=1;from-tag=2', { address })).toBe('SIP/2.0 403 Forbidden');
    expect(await replace('x@y;to-tag=1;from-tag=2', { address, uri: 'sip:+14155550100@x' })).toBe(
      'SIP/2.0 403 Forbidden',
    );
    expect(scene.replacing).toEqual([]);
  });
});

describe('an outgoing INVITE that replaces a dialog', () => {
  it('carries Replaces and Referred-By', async () => {
    const place = { host: 'pbx.example', port: 5061, serverName: 'pbx.example' };
    const invite = {
      sipCallId: 'call-3@edge',
      from: '+14155550100',
      to: 'ann',
      offer: fakeAnswer,
      headers: [],
      variables: {},
      credentials: null,
      replaces: '1@pbx;to-tag=a;from-tag=b',
      referredBy: '<sip:bob@pbx.example>',
    };
    scene.signaling.dial(place, invite, legEvents);
    expect((await scene.server.next()).headers).toMatchObject({
      replaces: '1@pbx;to-tag=a;from-tag=b',
      require: 'replaces',
      'referred-by': '<sip:bob@pbx.example>',
    });
  });
});
