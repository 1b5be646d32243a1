/** A peer answers a REFER or NOTIFY of ours as if it no longer had the dialog: OPTIONS shows whether it has (RFC 5057). */
import { describe, expect, it } from 'vitest';
import { referScene, target, type UpCall } from '../../../test/kit/edge/refers.ts';
import type { Sent } from '../../../test/kit/fakes/drachtio-server.ts';
import type { ReferEvents } from '../../call/ports/refer.ts';

const scene = referScene();
const { inbound, outbound, idle, peer } = scene;

const referEvents: ReferEvents = {
  accepted: () => {},
  progress: () => {},
  done: () => {},
  failed: (status) => void scene.heard.push(`failed ${status}`),
};

const method = ({ startLine }: Sent) => startLine.split(' ')[0];

async function sentRefer({ leg }: UpCall): Promise<Sent> {
  leg.refer({ target: 'sip:ann@pbx.example' }, referEvents);
  return scene.server.next();
}

async function sentNotify(call: UpCall): Promise<Sent> {
  peer(call, 'REFER', target);
  await idle();
  scene.refers[0]?.accept();
  await scene.server.next();
  return scene.server.next();
}

describe.each([
  ['that came in', inbound],
  ['that went out', outbound],
])('in a call %s', (_name, begin) => {
  describe.each([
    ['REFER', sentRefer],
    ['NOTIFY', sentNotify],
  ])('after %s', (name, send) => {
    it.each([481, 408])('was answered %i, the call ends when OPTIONS is, too', async (status) => {
      const request = await send(await begin());
      expect(method(request)).toBe(name);
      scene.server.answer(request, status, 'Gone');
      const options = await scene.server.next();
      expect(method(options)).toBe('OPTIONS');
      scene.server.answer(options, status, 'Gone');
      await idle();
      expect(scene.heard.filter((event) => event.startsWith('lost'))).toEqual(['lost: peer_gone']);
      if (name === 'REFER') expect(scene.heard[0]).toBe(`failed ${status}`);
    });

    it('was answered 481, the call goes on when the peer still has it', async () => {
      const call = await begin();
      scene.server.answer(await send(call), 481, 'Subscription does not exist');
      scene.server.answer(await scene.server.next(), 200, 'OK');
      await idle();
      expect(scene.heard.filter((event) => event.startsWith('lost'))).toEqual([]);
      expect(method(await sentRefer(call))).toBe('REFER');
    });

    it('was rejected otherwise, nothing is asked', async () => {
      const call = await begin();
      const before = scene.server.sent.length;
      scene.server.answer(await send(call), 403, 'Forbidden');
      await idle();
      expect(scene.server.sent.slice(before).map(method)).not.toContain('OPTIONS');
    });
  });

  it('that ends meanwhile nothing is asked, and nothing is lost', async () => {
    const call = await begin();
    const request = await sentRefer(call);
    call.leg.bye('done');
    expect(method(await scene.server.next())).toBe('BYE');
    const before = scene.server.sent.length;
    scene.server.answer(request, 481, 'Gone');
    await idle();
    expect(scene.server.sent).toHaveLength(before);
    expect(scene.heard).not.toContain('lost: peer_gone');
  });
});
