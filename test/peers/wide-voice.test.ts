/** Calls to a real phone with more than 8 kHz: it hears a voice that no telephone line of 8 kHz carries. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import type { TestKeyPair } from '../kit/fakes/certificates.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { attachTrunk, startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';
import { Baresip } from './baresip.ts';
import { shareAbove, soundSpan } from './sound.ts';

const user = '+14155550199';
let system: TestSystem;
let pair: TestKeyPair;
let phone: Baresip | null = null;

beforeAll(async () => {
  system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '3600' });
  pair = await trunkPair(system);
});

afterEach(async () => {
  await phone?.close();
  phone = null;
});

afterAll(() => releaseAll(() => system?.stop()));

test.each([
  ['the phone takes', 'Opus', 'opus/48000/2', '+14155550123', true],
  ['the phone takes', 'G.722', 'G722/16000/1', '+14155550125', true],
  ['the phone refuses', 'Opus', 'PCMU', '+14155550124', false],
])('an agent speaks to a phone that is offered a wide codec first, and %s %s', async (...given) => {
  const [, codec, codecs, number, isWide] = given;
  phone = await Baresip.start({ codecs, certificate: pair, answers: true });
  await attachTrunk(system, number, phone.tlsPort);
  const offered = [codec, 'PCMU'];
  const patch = { phone_number: number, direction: 'outbound', codec_config: { codecs: offered } };
  await system.api.ok('PATCH', '/v1/sip/config', patch);
  await system.api.applied(number);
  const text = 'Sixty six sailors said yes. Six ships sail south, says Susan.';
  const pathway_id = await system.api.pathway(
    `speaks ${number}`,
    [{ id: 'end', type: 'End Call', data: { name: 'End', text, isStart: true } }],
    [],
  );
  const order = {
    phone_number: `sip:${user}@127.0.0.1:${phone.tlsPort}`,
    from: number,
    pathway_id,
    voicemail: { action: 'ignore' },
  };
  const { call_id: id } = await system.api.read(CallQueued, 'POST', '/v1/calls', order);
  const callee = phone;
  await eventually('the end of the call', () =>
    saw(callee.events).find(({ type }) => type === 'CALL_CLOSED'),
  );
  expect(await system.api.endedCall(id)).toMatchObject({
    termination: 'agent_hangup',
    codec: isWide ? codec : 'PCMU',
  });
  const { samples, sampleRate } = await callee.heard();
  const span = soundSpan(samples, sampleRate);
  expect(span.seconds).toBeGreaterThan(2);
  if (isWide) expect(shareAbove(span.samples, sampleRate, 4_200)).toBeGreaterThan(0.004);
  else expect(sampleRate).toBe(8000);
});
