import { expect, test } from 'vitest';
import { FakeMedia } from '../test/kit/fakes/fake-media.ts';
import { nearbyMedia } from './nearby-media.ts';

const sdp = (address: string) =>
  [
    'v=0',
    `o=- 1 1 IN IP4 ${address}`,
    's=-',
    `c=IN IP4 ${address}`,
    't=0 0',
    'm=audio 4000 RTP/SAVP 0',
    '',
  ].join('\r\n');

test('both ends of a call on this machine put the listening address in SDP', async () => {
  const far = new FakeMedia();
  const seen: string[] = [];
  const media = nearbyMedia(
    {
      createLeg: async (options) => {
        const leg = await far.createLeg(options);
        leg.offer = async () => sdp('203.0.113.9');
        leg.answer = async (offer) => {
          seen.push(offer);
          return sdp('203.0.113.9');
        };
        leg.accept = async (answer) => {
          seen.push(answer);
        };
        return leg;
      },
      openRoom: () => far.openRoom(),
      supervise: (...legs) => far.supervise(...legs),
      bridge: (...legs) => far.bridge(...legs),
    },
    '203.0.113.9',
    '127.0.0.1',
  );
  const leg = await media.createLeg({ callId: 'c1', codecs: ['PCMU'] });
  leg.withdraw();
  expect(far.last.withdrawn).toBe(1);
  expect(await leg.offer()).toBe(sdp('127.0.0.1'));
  expect(await leg.answer(sdp('203.0.113.9'))).toBe(sdp('127.0.0.1'));
  await leg.accept(sdp('198.51.100.4'));
  expect(seen).toEqual([sdp('127.0.0.1'), sdp('198.51.100.4')]);
});

test('media is unchanged when SDP has that address anyway', () => {
  const media = new FakeMedia();
  expect(nearbyMedia(media, '192.0.2.7', '192.0.2.7')).toBe(media);
});
