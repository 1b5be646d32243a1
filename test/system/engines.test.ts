/** An edge with an engine that it did not start, like a drachtio-server: calls in both directions, engine loss. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import { Phone } from '../../scripts/call/phone.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import { EngineProgram } from '../kit/programs/engine-program.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { TestTrunk } from '../kit/programs/trunk.ts';
import { attachTrunk, byePathway, health, startTrunkSystem } from '../kit/programs/trunk-system.ts';

const from = '+14155550190';
let engine: EngineProgram;
let system: TestSystem;
let trunk: TestTrunk;
let pathway: string;

beforeAll(async () => {
  engine = await EngineProgram.create();
  await engine.start();
  system = await startTrunkSystem({
    DRACHTIO_HOST: `127.0.0.1:${engine.appPort}`,
    DRACHTIO_SECRET: engine.secret,
    HEP_HOST: `127.0.0.1:${engine.hepPort}`,
    SIP_TLS_PORT: String(engine.sipPort),
    TRUNK_PROBE_INTERVAL_S: '1',
  });
  trunk = await TestTrunk.listen(engine.trunkPair);
  pathway = await byePathway(system);
  await attachTrunk(system, from, trunk.port);
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => trunk?.close(),
    () => engine?.remove(),
  ),
);

/** Calls the tone number, hears it, hangs up. @returns the Call-ID */
async function callIn(): Promise<string> {
  const phone = await Phone.connect({ host: '127.0.0.1', port: engine.sipPort, ca: engine.ca });
  const media = await SrtpPeer.open();
  try {
    const response = await phone.invite(system.tone.number, media.sdp());
    expect(response.status).toBe(200);
    media.connect(response.body);
    phone.ack(response);
    await media.heard(25);
    expect((await phone.request('BYE')).status).toBe(200);
    return phone.callId;
  } finally {
    media.close();
    await phone.close();
  }
}

/** Places a call that the trunk answers, and that the agent ends. @returns its id */
async function callOut(to: string): Promise<string> {
  const order = { phone_number: to, from, pathway_id: pathway };
  const { call_id } = await system.api.read(CallQueued, 'POST', '/v1/calls', order);
  const media = await SrtpPeer.open();
  try {
    const call = await trunk.call();
    media.connect(call.invite.body);
    call.answer('200 OK', media.sdp());
    await call.expect('ACK');
    await call.expect('BYE');
    return call_id;
  } finally {
    media.close();
  }
}

test('starts no embedded engine', () => {
  expect(system.embeddedEngines()).toEqual([]);
});

test('accepts a call, with a trace from the copies of the engine', async () => {
  const callId = await callIn();
  expect(await system.api.endedCall(callId)).toMatchObject({ direction: 'inbound', outcome: 'completed' });
  const messages = await eventually('the whole trace', async () => {
    const all = await system.api.trace(callId).catch(() => []);
    return all.filter(({ start_line }) => start_line === 'SIP/2.0 200 OK').length === 2 ? all : null;
  });
  expect(messages[0]).toMatchObject({ direction: 'received', transport: 'tls' });
});

test('places a call', async () => {
  const id = await callOut('+14155550191');
  expect(await system.api.endedCall(id)).toMatchObject({ direction: 'outbound', outcome: 'completed' });
});

test('reconnects when the engine is back; its absence affects no trunk', async () => {
  await health(system, from, ({ status }) => status === 'healthy');
  const logged = (text: string) => system.edge.output.split(text).length - 1;
  const connected = logged('SIP engine connected');
  await engine.kill();
  await eventually('the edge to notice', () => (logged('SIP engine is not connected') > 0 ? true : null));
  const order = { phone_number: '+14155550192', from, pathway_id: pathway };
  const { call_id } = await system.api.read(CallQueued, 'POST', '/v1/calls', order);
  expect(await system.api.endedCall(call_id)).toMatchObject({ termination: 'engine_lost' });

  // As many probe rounds as would fall into the absence, measured at the test's own trunk.
  const probes = trunk.probes;
  await engine.start();
  await eventually('the edge to connect', () => (logged('SIP engine connected') > connected ? true : null));
  await eventually('the rounds to go on', () => (trunk.probes >= probes + 2 ? true : null));
  const status = await health(system, from, ({ endpoints }) => endpoints.length === 1);
  expect(status).toMatchObject({
    status: 'healthy',
    uptime_percentage: 100,
    endpoints: [{ consecutive_failures: 0, active: true }],
  });

  expect(await system.api.endedCall(await callIn())).toMatchObject({ outcome: 'completed' });
  expect(await system.api.endedCall(await callOut('+14155550193'))).toMatchObject({ outcome: 'completed' });
});
