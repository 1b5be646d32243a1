/** A carrier's proxy, Kamailio, as a trunk's primary: calls through it to a phone, before and after it is killed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import type { CallLogEntry } from '#shared/api/sip-calls.ts';
import { tone } from '../kit/fakes/audio.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';
import { TestTrunk } from '../kit/programs/trunk.ts';
import {
  attachTrunk,
  health,
  setFailover,
  startTrunkSystem,
  type TrunkHealth,
  trunkPair,
} from '../kit/programs/trunk-system.ts';
import { Baresip } from './baresip.ts';
import { Kamailio } from './kamailio.ts';

const number = '+14155550156';
const goodProbes = 2;
/** baresip answers calls to this user. */
const user = '+14155550199';
let system: TestSystem;
let carrier: Kamailio;
let port: number;
let secondary: TestTrunk;
let phone: Baresip;
let media: SrtpPeer;
let pathway: string;

beforeAll(async () => {
  system = await startTrunkSystem(
    { TRUNK_PROBE_INTERVAL_S: '1' },
    { edge: { limits: { failover: { failbackAfter: goodProbes } } } },
  );
  const pair = await trunkPair(system);
  port = await freeTcpPort();
  secondary = await TestTrunk.listen(pair);
  phone = await Baresip.start({ certificate: pair, speech: tone(700, 8000 * 60), answers: true });
  carrier = await Kamailio.start({ port, pair, callee: { user, port: phone.tlsPort } });
  media = await SrtpPeer.open();
  pathway = await system.api.pathway(
    'question',
    [
      { id: 'ask', type: 'Default', data: { name: 'Ask', text: 'Will you come?', isStart: true } },
      { id: 'yes', type: 'End Call', data: { name: 'Yes', text: 'See you.' } },
    ],
    [{ id: 'e1', source: 'ask', target: 'yes', data: { label: 'User pressed 1' } }],
  );
  await attachTrunk(system, number, port);
  const endpoint = { host: '127.0.0.1', port: secondary.port, priority: 1 };
  await setFailover(system, number, { enabled: true, endpoints: [endpoint], failback: 'auto' });
  await health(system, number, isActive(0));
});

afterAll(() =>
  releaseAll(
    () => media?.close(),
    () => system?.stop(),
    () => phone?.close(),
    () => carrier?.kill(),
    () => secondary?.close(),
  ),
);

/** @returns the id of the call */
async function place(to: string): Promise<string> {
  const order = { phone_number: to, from: number, pathway_id: pathway, voicemail: { action: 'ignore' } };
  return (await system.api.read(CallQueued, 'POST', '/v1/calls', order)).call_id;
}

const answered = (id: string) => system.api.loggedCall(id, ({ answered_at }) => answered_at !== null);
const ended = (id: string) => system.api.endedCall(id);
const stop = (id: string) => system.api.ok('POST', `/v1/calls/${id}/stop`, {});
/** Requests with that method that the carrier has accepted since its start. */
const taken = (method: string) => carrier.output.split(`took ${method} `).length - 1;

/** The moves of the trunk from endpoint to endpoint, as the edge logs them. */
const movesOfTrunk = (): object[] =>
  system.edge.output
    .split('\n')
    .filter((line) => line.includes('"msg":"trunk moves"'))
    .map((line) => JSON.parse(line));

/** The endpoint of that priority is healthy and the active one. */
function isActive(priority: number): (status: TrunkHealth) => boolean {
  return ({ endpoints }) =>
    endpoints.length === 2 &&
    endpoints.every((one) => one.active === (one.priority === priority)) &&
    endpoints.some((one) => one.active && one.status === 'healthy');
}

/** A call that the secondary answers and that is then ended. */
async function callOverSecondary(to: string): Promise<CallLogEntry> {
  const id = await place(to);
  const call = await secondary.call();
  media.connect(call.invite.body);
  call.answer('200 OK', media.sdp());
  await call.expect('ACK');
  await answered(id);
  await stop(id);
  await call.expect('BYE');
  return ended(id);
}

test('a call survives the carrier; later calls use the secondary until the carrier is back and stable', async () => {
  const first = await place('+14155550157');
  await phone.event('CALL_ESTABLISHED');
  await eventually('the INVITE', () => taken('INVITE') === 1 || null);
  await answered(first);

  await carrier.kill();
  const moved = await callOverSecondary('+14155550158');
  expect(moved).toMatchObject({ outcome: 'completed', hangup_by: 'api', sip_code: 200 });
  expect(moved.failover_attempts).toEqual([
    expect.objectContaining({
      port,
      priority: 0,
      sip_code: null,
      error: expect.stringMatching(/^unreachable: /),
    }),
  ]);
  // No further failed attempt: the dead primary costs no time.
  expect((await callOverSecondary('+14155550159')).failover_attempts).toEqual([
    expect.objectContaining({
      port,
      error: 'unreachable: failed the last probe or call',
    }),
  ]);

  const live = await system.api.loggedCall(first, () => true);
  expect(live).toMatchObject({ ended_at: null });
  await stop(first);
  expect(await ended(first)).toMatchObject({
    outcome: 'completed',
    hangup_by: 'api',
    termination: 'api_stop',
    failover_attempts: [],
    media: { verdict: 'two_way' },
  });

  await phone.command('hangup');
  phone.events.length = 0;
  // A trunk that one failed probe has not moved could be back before the next one.
  await health(system, number, isActive(1));
  await carrier.start();
  await health(system, number, isActive(0));
  // What the programs write may be read later than what control answers.
  expect(await eventually('the move back in the log', () => movesOfTrunk()[1])).toMatchObject({
    cause: 'failback',
    to: 0,
  });
  await eventually('the probes of the carrier', () => taken('OPTIONS') >= goodProbes || null);

  const last = await place('+14155550160');
  await phone.event('CALL_ESTABLISHED');
  await eventually('the INVITE', () => taken('INVITE') === 1 || null);
  await answered(last);
  await phone.command('hangup');
  expect(await ended(last)).toMatchObject({
    outcome: 'completed',
    hangup_by: 'peer',
    failover_attempts: [],
  });
  expect(secondary.waiting).toBe(0);
  await eventually(
    'all calls to be over',
    async () => (await system.api.calls()).every(({ ended_at }) => ended_at !== null) || null,
  );
});
