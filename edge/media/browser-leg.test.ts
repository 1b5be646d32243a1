/** Legs of browsers, up to the DTLS handshake; a real browser is in test/system/browser-audio.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { browserOffer } from '../../test/kit/edge/browser-descriptions.ts';
import { audio, sdp } from '../../test/kit/edge/descriptions.ts';
import { echoEndpoint, mediaLine, testOptions } from '../../test/kit/edge/media.ts';
import { checkOnce } from '../../test/kit/fakes/ice-peer.ts';
import { BrowserLost } from '../call/refused.ts';
import { createMedia, type RunningMedia } from './media.ts';
import { workerLimits } from './worker-limits.ts';

const clock = new FakeClock();
const keys: string[] = [];
let media: RunningMedia;

beforeAll(async () => {
  media = await createMedia({
    ...testOptions(34_600),
    clock,
    // The clock jumps by more than a worker may need for an answer.
    workerLimits: { ...workerLimits, hangMs: 3_600_000 },
    keyKnown: (_, key) => void keys.push(key),
  });
});
afterAll(() => media?.close());

/** A leg of a browser, and what it fails with. */
async function browserLeg() {
  let fail = (_: Error) => {};
  const failed = new Promise<Error>((resolve) => {
    fail = resolve;
  });
  let failures = 0;
  const leg = await media.createLeg({
    callId: 'browser',
    codecs: ['Opus', 'PCMU'],
    browser: true,
    failed: (error) => {
      failures++;
      fail(error);
    },
  });
  return { leg, failed, failures: () => failures };
}

const line = (text: string, name: string) =>
  text.match(new RegExp(`^a=${name}:(.*)$`, 'm'))?.[1]?.trim() ?? '';

describe('a leg of a browser', () => {
  test('answers with a port and keys of its own, and keeps both passwords out of what is stored', async () => {
    const { leg } = await browserLeg();
    const answer = await leg.answer(browserOffer());
    expect(mediaLine(answer)).toMatch(/^m=audio 34\d{3} UDP\/TLS\/RTP\/SAVPF 111 110$/);
    expect(line(answer, 'fingerprint')).toMatch(/^sha-256 [0-9A-F]{2}(:[0-9A-F]{2}){31}$/);
    expect(line(answer, 'ice-pwd')).toHaveLength(32);
    expect(keys).toEqual(expect.arrayContaining([line(answer, 'ice-pwd'), 'abcdefghijklmnopqrstuv']));
    expect(leg).toMatchObject({ codec: 'Opus', keys: 'telephone-event', held: false });
    leg.close();
  });

  test('refuses SDES, and takes no port for it', async () => {
    const { leg } = await browserLeg();
    await expect(leg.answer(sdp(audio('0')))).rejects.toMatchObject({
      sipStatus: 488,
      warning: expect.stringContaining('WebRTC required'),
    });
    expect(media.stats().ports.inUse).toBe(0);
    leg.close();
  });

  test('that nobody reaches ends 15 s after audio was due, and no sooner', async () => {
    const { leg, failed, failures } = await browserLeg();
    const answer = await leg.answer(browserOffer());
    clock.advance(60_000);
    leg.attach(echoEndpoint());
    clock.advance(14_999);
    expect(failures()).toBe(0);
    clock.advance(1);
    const error = await failed;
    expect(error).toBeInstanceOf(BrowserLost);
    const port = mediaLine(answer).split(' ')[1];
    expect(error.message).toBe(
      `No ICE check of the browser arrived at UDP port ${port} within 15 s: a firewall may block it.`,
    );
    expect(media.stats()).toMatchObject({ legs: 0, ports: { inUse: 0 } });
  });

  test('that is reached but never shakes hands ends 15 s after the first check', async () => {
    const { leg, failed, failures } = await browserLeg();
    const pending = clock.pending;
    expect(await checkOnce(await leg.answer(browserOffer()))).toBe(0x0101);
    await expect.poll(() => clock.pending, { interval: 10 }).toBe(pending + 1);
    leg.attach(null);
    clock.advance(14_999);
    expect(failures()).toBe(0);
    clock.advance(1);
    expect((await failed).message).toMatch(
      /^The browser reached UDP port \d+, but DTLS did not complete within 15 s\.$/,
    );
  });

  test('releases its port, its timer and what it has in the worker', async () => {
    const before = { objects: await media.workerObjects(), pending: clock.pending };
    const { leg, failures } = await browserLeg();
    await checkOnce(await leg.answer(browserOffer()));
    leg.attach(echoEndpoint());
    expect(clock.pending).toBeGreaterThan(before.pending);
    leg.close();
    expect(media.stats()).toMatchObject({ legs: 0, ports: { inUse: 0 } });
    await expect.poll(() => media.workerObjects(), { interval: 10 }).toEqual(before.objects);
    clock.advance(60_000);
    expect(failures()).toBe(0);
  });
});

describe('a later offer of the browser', () => {
  test('that changes nothing gets the same answer', async () => {
    const { leg } = await browserLeg();
    const answer = await leg.answer(browserOffer());
    expect(await leg.answer(browserOffer())).toBe(answer);
    leg.close();
  });

  test('that restarts ICE gets new credentials for the same port and certificate', async () => {
    const { leg } = await browserLeg();
    const answer = await leg.answer(browserOffer());
    const later = await leg.answer(browserOffer({ lines: { 'ice-ufrag': 'a=ice-ufrag:abcd' } }));
    expect(mediaLine(later)).toBe(mediaLine(answer));
    expect(line(later, 'fingerprint')).toBe(line(answer, 'fingerprint'));
    expect(line(later, 'ice-ufrag')).not.toBe(line(answer, 'ice-ufrag'));
    expect(keys).toContain(line(later, 'ice-pwd'));
    expect(await checkOnce(later)).toBe(0x0101);
    leg.close();
  });

  test('with another certificate gets another port, and the old one is given back', async () => {
    const { leg } = await browserLeg();
    const answer = await leg.answer(browserOffer());
    const fingerprint = `a=fingerprint:sha-256 ${'CD:'.repeat(31)}CD`;
    const later = await leg.answer(browserOffer({ lines: { fingerprint } }));
    expect(mediaLine(later)).not.toBe(mediaLine(answer));
    expect(media.stats().ports.inUse).toBe(2);
    clock.advance(100);
    expect(media.stats().ports.inUse).toBe(1);
    leg.close();
  });

  test('holds the call, and we hold it with an offer of ours', async () => {
    const { leg } = await browserLeg();
    await leg.answer(browserOffer());
    await leg.answer(browserOffer({ direction: 'sendonly' }));
    expect(leg.held).toBe(true);
    leg.hold(true);
    const offer = await leg.offer();
    expect(offer).toContain('a=sendonly\r\n');
    await leg.accept(
      browserOffer({ lines: { setup: 'a=setup:active' }, direction: 'recvonly', formats: '111 110' }),
    );
    expect(leg.held).toBe(false);
    leg.close();
  });

  test('that is refused changes nothing', async () => {
    const { leg } = await browserLeg();
    const answer = await leg.answer(browserOffer());
    await expect(leg.answer(browserOffer({ formats: '0 126' }))).rejects.toMatchObject({ sipStatus: 488 });
    expect(await leg.answer(browserOffer())).toBe(answer);
    leg.close();
  });
});
