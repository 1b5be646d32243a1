/** Audio with a real browser: ICE, DTLS and SRTP of Chromium against a leg, without signaling. */
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { AudioEndpoint, DtmfEvent, LocalLeg, MediaLegOptions } from '../../edge/call/ports/media.ts';
import { BrowserLost } from '../../edge/call/refused.ts';
import { createMedia, type RunningMedia } from '../../edge/media/media.ts';
import { pcmu, testOptions, toneEndpoint } from '../kit/edge/media.ts';
import { frequencyOf } from '../kit/fakes/audio.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import { launchBrowser } from '../kit/programs/console-page.ts';
import { phoneArguments } from '../kit/programs/console-phone.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';

/** No server has it: the test answers itself. */
const pageUrl = 'https://phone.invalid/';
/** Of each step in the browser: finds what hangs, ms. */
const limitMs = 90_000;

let media: RunningMedia;
let browser: Browser;
let page: Page;
const legs: LocalLeg[] = [];

beforeAll(async () => {
  media = await createMedia(testOptions(34_800));
  browser = await launchBrowser(phoneArguments);
});
afterAll(async () => {
  await browser?.close();
  await media?.close();
});

beforeEach(async () => {
  // Without permission for a microphone Chromium has no ICE candidate on loopback.
  const context = await browser.newContext({ permissions: ['microphone'] });
  page = await context.newPage();
  page.setDefaultTimeout(limitMs);
  await page.route(pageUrl, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<title>Phone</title>' }),
  );
  await page.goto(pageUrl);
  await page.addScriptTag({ path: join(import.meta.dirname, '../kit/fakes/browser-phone.js') });
});
afterEach(async () => {
  for (const leg of legs.splice(0)) leg.close();
  await page.context().close();
});

/** Something that the page's telephone does, and what it says. */
function phone<T>(act: string, argument?: unknown): Promise<T> {
  return page.evaluate(`phone.${act}(${argument === undefined ? '' : JSON.stringify(argument)})`);
}

async function newLeg(options: Partial<MediaLegOptions> = {}): Promise<LocalLeg> {
  const leg = await media.createLeg({
    callId: 'browser',
    codecs: ['Opus', 'PCMU'],
    browser: true,
    ...options,
  });
  legs.push(leg);
  return leg;
}

async function offerTo(leg: LocalLeg, options?: object): Promise<void> {
  await phone('take', await leg.answer(await phone<string>('offer', options)));
}

/** Plays a tone, and remembers the pitch of the last second that it heard and the keys. */
function ear(hz: number) {
  const { read } = toneEndpoint(hz, 16_000);
  const heard: number[] = [];
  const keys: DtmfEvent[] = [];
  const endpoint: AudioEndpoint = {
    sampleRate: 16_000,
    read,
    write(frame) {
      for (const sample of frame) heard.push(sample);
      if (heard.length > 16_000) heard.splice(0, heard.length - 16_000);
    },
    dtmf: (key) => void keys.push(key),
  };
  const pitch = () => (heard.length < 16_000 ? null : frequencyOf(Int16Array.from(heard), 16_000));
  return { endpoint, keys, pitch, forget: () => void heard.splice(0) };
}

/** A tone is heard with its own pitch. */
async function hears(
  what: string,
  pitch: () => number | null | Promise<number | null>,
  hz: number,
): Promise<void> {
  await eventually(what, async () => {
    const heard = saw(await pitch());
    return heard !== null && Math.abs(heard / hz - 1) < 0.01 ? heard : null;
  });
}

const inPage = () => phone<number | null>('pitch');
const loudness = () => phone<number>('loudness');

it('hears and is heard with Opus, presses keys, restarts ICE, and is held', async () => {
  const leg = await newLeg();
  const agent = ear(1000);
  await offerTo(leg);
  leg.attach(agent.endpoint);
  expect(leg.codec).toBe('Opus');
  await hears('the browser hears the agent', inPage, 1000);
  await hears('the agent hears the browser', agent.pitch, 440);

  await phone('press', '5#');
  await eventually('two keys', () => saw(agent.keys)[1]);
  expect(agent.keys.map(({ digit }) => digit)).toEqual(['5', '#']);
  // A sixth of it if the clock of the events were mistaken.
  for (const { durationMs } of agent.keys) expect(durationMs).toBeGreaterThanOrEqual(80);

  await offerTo(leg, { iceRestart: true });
  agent.forget();
  await hears('the agent hears the browser after an ICE restart', agent.pitch, 440);
  await hears('the browser hears the agent after it', inPage, 1000);
  const before = await loudness();

  leg.hold(true);
  await leg.accept(await phone<string>('answer', await leg.offer()));
  leg.hold(false);
  await phone('direct', 'sendonly');
  await offerTo(leg);
  expect(leg.held).toBe(true);
  await eventually('silence while the browser holds', async () =>
    saw(await inPage()) === null ? true : null,
  );
  await phone('direct', 'sendrecv');
  await offerTo(leg);
  await hears('the browser hears the agent after its hold', inPage, 1000);
  await eventually('it is as loud as before', async () =>
    Math.abs(saw(await loudness()) / before - 1) < 0.2 ? true : null,
  );
  expect(leg.report()).toMatchObject({ verdict: 'two_way' });
});

it('is bridged to a SIP peer inside the worker, and hears its agent again afterwards', async () => {
  const leg = await newLeg({ codecs: ['PCMU'] });
  const agent = ear(1000);
  await offerTo(leg);
  leg.attach(agent.endpoint);
  await hears('the browser hears the agent', inPage, 1000);

  const peer = await SrtpPeer.open();
  const trunk = await media.createLeg({ callId: 'trunk', codecs: ['PCMU'], beside: leg });
  legs.push(trunk);
  try {
    peer.connect(await trunk.answer(peer.sdp(pcmu.sdp)));
    const bridge = await media.bridge(leg, trunk, { transcode: false });
    expect(bridge.mode).toBe('relayed');
    let talks = true;
    const talking = (async () => {
      while (talks) await peer.play(peer.toneFrames(700, 10));
    })();
    await hears('the browser hears the SIP peer', inPage, 700);
    await hears('the SIP peer hears the browser', () => frequencyOf(peer.samples(8000)), 440);
    await phone('press', '7');
    await eventually('the key at the SIP peer', () => saw(peer.events)[0]);
    expect(peer.events[0]).toMatchObject({ digit: '7' });
    talks = false;
    await talking;
    bridge.close();
    agent.forget();
    await hears('the browser hears the agent after the bridge', inPage, 1000);
    await hears('the agent hears the browser after it', agent.pitch, 440);
  } finally {
    peer.close();
  }
});

it('whose certificate is not that of its SDP ends the leg, and is not heard', async () => {
  const failed = Promise.withResolvers<Error>();
  const leg = await newLeg({ failed: failed.resolve });
  const offer = await phone<string>('offer');
  const foreign = offer.replace(/^a=fingerprint:sha-256 .*$/m, `a=fingerprint:sha-256 ${'AB:'.repeat(31)}AB`);
  expect(foreign).not.toBe(offer);
  await phone('take', await leg.answer(foreign));
  leg.attach(toneEndpoint(1000));
  const error = await failed.promise;
  expect(error).toBeInstanceOf(BrowserLost);
  expect(error.message).toBe(
    'The DTLS handshake with the browser failed, or its certificate is not that of its SDP.',
  );
});

it('that closes its connection without a BYE ends the leg', async () => {
  const lost = await new Promise<Error>((resolve, reject) => {
    const run = async () => {
      const leg = await newLeg({ failed: resolve });
      await offerTo(leg);
      leg.attach(toneEndpoint(1000));
      await hears('the browser hears the agent', inPage, 1000);
      await phone('close');
    };
    run().catch(reject);
  });
  expect(lost).toBeInstanceOf(BrowserLost);
  expect(lost.message).toBe('The browser closed its connection without a BYE.');
  expect(media.stats()).toMatchObject({ legs: 0, ports: { inUse: 0 } });
});
