/** Starting, sharing and closing media on real workers. */
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { echoEndpoint, mediaLine, testOptions, toneEndpoint, useMedia } from '../../test/kit/edge/media.ts';
import { hears } from '../../test/kit/fakes/hearing.ts';
import { createMedia } from './media.ts';

const options = testOptions(30_200);
const { media, newPeer, newLeg, call, closePeers } = useMedia(options);

describe('an edge that binds all addresses', () => {
  test('announces its public address to peers and carries audio both ways', async () => {
    const wide = await createMedia({
      ...options,
      listenIp: '0.0.0.0',
      publicIp: '127.0.0.1',
      portMin: 31_400,
      portMax: 31_499,
    });
    try {
      const peer = await newPeer();
      const leg = await wide.createLeg({ callId: 'a', codecs: ['PCMU'] });
      const answer = await leg.answer(peer.sdp());
      expect(answer).toContain('c=IN IP4 127.0.0.1');
      expect(answer).not.toContain('0.0.0.0');
      peer.connect(answer);
      leg.attach(echoEndpoint());
      await hears(peer, peer, 500);
    } finally {
      await wide.close();
    }
  });

  test('rejects media addresses that it cannot send to', async () => {
    const peer = await newPeer();
    const leg = await newLeg();
    for (const address of ['239.1.2.3', '2001:db8::1']) {
      const sdp = peer.sdp({ address }).replace(/IP4 2001/g, 'IP6 2001');
      await expect(leg.answer(sdp)).rejects.toMatchObject({
        sipStatus: 488,
        warning: expect.stringContaining(address),
      });
    }
    expect(media().stats().ports.inUse).toBe(0);
  });
});

describe('the end', () => {
  test('of calls of any kind releases ports, worker objects and descriptors', async () => {
    const round = async () => {
      const { peer, leg } = await call(echoEndpoint());
      await peer.play(peer.toneFrames(500, 2));
      const moved = await newPeer();
      await leg.answer(moved.sdp());
      leg.close();
      leg.close();
      const failing = await newLeg();
      await expect(failing.answer(moved.sdp({ address: '999.1.1.1' }))).resolves.toBeTypeOf('string');
      failing.close();
      const cut = await newLeg();
      const pending = cut.answer(moved.sdp());
      cut.close();
      await expect(pending).rejects.toThrow('closed');
      const offering = await newLeg();
      await offering.offer();
      offering.close();
      closePeers();
    };
    await round();
    const objects = await media().workerObjects();
    const descriptors = openDescriptors();
    for (let i = 0; i < 10; i++) await round();
    expect(media().stats()).toMatchObject({ legs: 0, ports: { inUse: 0 }, workers: [{ legs: 0 }] });
    expect(await media().workerObjects()).toEqual(objects);
    expect(openDescriptors()).toEqual(descriptors);
  });

  test('of the free ports is a 503 that says how many are in use, and closing a call frees its pair', async () => {
    const small = await createMedia({ ...options, portMin: 31_600, portMax: 31_601 });
    try {
      const peer = await newPeer();
      const first = await small.createLeg({ callId: 'a', codecs: ['PCMU'] });
      const second = await small.createLeg({ callId: 'b', codecs: ['PCMU'] });
      await first.answer(peer.sdp());
      await expect(second.answer(peer.sdp())).rejects.toMatchObject({
        sipStatus: 503,
        message: expect.stringContaining('1 of 1 pairs are in use'),
      });
      await expect(small.createLeg({ callId: 'c', codecs: ['PCMU'] })).rejects.toMatchObject({
        sipStatus: 503,
      });
      first.close();
      expect(await second.answer(peer.sdp())).toContain('m=audio 31600 ');
    } finally {
      await small.close();
    }
  });

  test('of a worker fails its legs once, releases their ports, and a new worker takes calls', async () => {
    const own = await createMedia({ ...options, portMin: 31_500, portMax: 31_599 });
    try {
      const peer = await newPeer();
      const failures: string[] = [];
      let seen = () => {};
      const failed = new Promise<void>((resolve) => {
        seen = resolve;
      });
      const leg = await own.createLeg({
        callId: 'a',
        codecs: ['PCMU'],
        failed(error) {
          failures.push(error.message);
          seen();
        },
      });
      peer.connect(await leg.answer(peer.sdp()));
      leg.attach(toneEndpoint(440));
      await peer.heard(3);
      const pid = own.stats().workers[0]?.pid ?? 0;
      process.kill(pid, 'SIGKILL');
      await failed;
      expect(failures).toEqual([expect.stringContaining('media worker died')]);
      expect(own.stats()).toMatchObject({ legs: 0, ports: { inUse: 0 }, workerDeaths: 1 });
      await expect(leg.answer(peer.sdp())).rejects.toThrow('media worker died');
      leg.close();
      await expect.poll(() => own.stats().workers.length, { interval: 10 }).toBe(1);
      const next = await own.createLeg({ callId: 'b', codecs: ['PCMU'] });
      peer.connect(await next.answer(peer.sdp()));
      next.attach(toneEndpoint(440));
      await peer.heard(peer.packets + 5);
    } finally {
      await own.close();
    }
  });

  test.each(['read', 'write', 'dtmf'] as const)(
    'of an endpoint that throws in %s ends only its own call',
    async (broken) => {
      const { peer } = await call(toneEndpoint(440));
      const caller = await newPeer();
      const failed = Promise.withResolvers<Error>();
      const leg = await newLeg({ failed: failed.resolve });
      caller.connect(await leg.answer(caller.sdp()));
      leg.attach({
        ...{ sampleRate: 8000, read: () => false, write() {}, dtmf() {} },
        [broken]() {
          throw new Error('broken agent');
        },
      });
      await caller.play(caller.toneFrames(500, 2));
      await caller.press('5');
      expect((await failed.promise).message).toBe('broken agent');
      await peer.heard(peer.packets + 5);
      expect(media().stats().legs).toBe(1);
    },
  );
});

describe('starting', () => {
  test('leaves SIGTERM and SIGINT to the edge, which drains', () => {
    expect(process.listeners('SIGTERM').map(String).join()).not.toContain('closing the worker');
    expect(process.listeners('SIGINT').map(String).join()).not.toContain('closing the worker');
  });

  test('fails when the worker is missing', async () => {
    await expect(createMedia({ ...options, workerBin: '/nowhere/worker' })).rejects.toThrow(
      '/nowhere/worker is missing',
    );
  });

  test('fails with a worker that lacks the mark of our patches', async () => {
    await expect(
      createMedia({ ...options, workerBin: process.execPath, acceptUnmarkedWorker: false }),
    ).rejects.toThrow('is not marked as built');
  });

  test('fails when there is no address to announce to peers', async () => {
    await expect(createMedia({ ...options, listenIp: '0.0.0.0' })).rejects.toThrow('RTP_PUBLIC_IP');
  });

  test('offers only codecs whose libraries are present', async () => {
    expect(media().availableCodecs()).toEqual(expect.arrayContaining(['PCMU', 'PCMA']));
    const leg = await newLeg({ codecs: ['PCMA', 'PCMU'] });
    expect(mediaLine(await leg.offer())).toMatch(/^m=audio \d+ RTP\/SAVP 8 0 101$/);
  });
});

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}
