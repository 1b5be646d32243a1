/** What the end of a connection costs when calls of other connections are being set up. */
import { expect, it, vi } from 'vitest';
import { RoomyMap } from '#shared/roomy-map.ts';
import { TestPeer } from '../../test/kit/edge/sip-peer.ts';
import { stackScene } from '../../test/kit/edge/stack.ts';

const scene = stackScene();
const inbound = (count: number) => expect.poll(() => scene.stack.metrics().transport_inbound).toBe(count);

it('a connection that needs nothing ends without a look at the calls of others', async () => {
  scene.peer.send(scene.lines('INVITE', 1));
  await scene.app.next();
  const other = await TestPeer.connect(scene.addresses.tls.port, scene.certificates.ca);
  await inbound(2);
  const searches = vi.spyOn(RoomyMap.prototype, 'values');
  other.close();
  await inbound(1);
  expect(searches).not.toHaveBeenCalled();
  searches.mockRestore();
});
