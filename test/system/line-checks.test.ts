/** The line check numbers, over SRTP, measured by an endpoint that shares no code with the edge. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { echoNumber } from '../../control/bootstrap.ts';
import { hears, hearsTone } from '../kit/fakes/hearing.ts';
import { callAndTalk } from '../kit/programs/caller.ts';
import { TestSystem } from '../kit/programs/harness.ts';

/** Every frame of a tone is louder than this. */
const quiet = 500;
let system: TestSystem;

beforeAll(async () => {
  system = await TestSystem.start();
});

afterAll(() => system?.stop());

test('the tone number plays its tone, without packet loss', async () => {
  const caller = await callAndTalk(system, system.tone.number);
  await caller.media.heard(100);
  await hearsTone(caller.media, system.tone.hz);
  await caller.hangup();
  expect(caller.media.stats).toMatchObject({ lost: 0, undecryptable: 0 });
  await caller.close();
  expect(await system.api.endedCall(caller.callId)).toMatchObject({ media: { verdict: 'send_only' } });
});

test('the echo number returns the received audio', async () => {
  const caller = await callAndTalk(system, echoNumber);
  const { media: phone } = caller;
  const frames = await hears(phone, phone, 600);
  // Silence after the last frame of the tone: all frames have arrived.
  await phone.when(() => phone.samples(160).every((sample) => Math.abs(sample) < quiet));
  await caller.hangup();
  await caller.close();
  const { media } = await system.api.endedCall(caller.callId);
  expect(media).toMatchObject({ verdict: 'two_way', packets_lost: 0, packets_received: frames });
});
