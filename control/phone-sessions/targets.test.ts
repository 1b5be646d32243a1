/** Phone sessions that call out over a trunk, or are for an agent instead of a number. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { PhoneSessionMade, PhoneSessionOne } from '#shared/api/phone-sessions.ts';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { readPhoneUsername } from '#shared/phone-session.ts';
import { callRecord, connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { graph } from '../../test/kit/control/pathway-versions.ts';

const number = '+14155550100';
const url = '/v1/phone-sessions';
const sip = { host: 'edge.example.com', port: 5061, wss_port: 5062 };
const nobody = '00000000-0000-4000-8000-000000000000';

let test: TestControl;
let edge: EdgeClient;
let pathway_id = '';
let persona_id = '';

beforeAll(async () => {
  test = await startRoutes();
  const directions = ['inbound', { type: 'outbound', sip_endpoint: 'sip:trunk.example.com' }];
  await test.call('POST', '/v1/sip/attach', { body: { phone_number: number, directions } });
  await test.call('POST', '/v1/sip/attach', {
    body: { phone_number: '+14155550101', directions: ['inbound'] },
  });
  const pathway = await test.call('POST', '/v1/pathway/create', { body: { name: 'Booking' } });
  pathway_id = String(pathway.body.pathway_id);
  const persona = await test.call('POST', '/v1/personas', { body: { name: 'Ann' } });
  persona_id = String(persona.body.data?.id);
});
afterAll(() => test.close());
beforeEach(async () => {
  edge = await connectEdge(test, { sip, revision: edgeProtocol.revision });
  await edge.next('config');
  await speaks(edgeProtocol.revision);
});
afterEach(() => edge.close());

/** Lets the edge say which version it has. */
async function speaks(revision: number): Promise<void> {
  const metrics = { trunkline_edge_engine_up: 1, trunkline_edge_protocol_revision: revision };
  edge.send({ type: 'status', metrics });
  const { edges } = test.control.services;
  await expect.poll(() => edges.all[0]?.metrics.trunkline_edge_protocol_revision).toBe(revision);
}

const post = (order: object) => test.call('POST', url, { body: { caller: 'Ada', ...order } });

/** A session for an agent, which the edge takes, and what it was told. */
async function agentSession(order: object) {
  const answer = post(order);
  const { id, command } = await edge.next('command');
  if (command.kind !== 'phone.agent') throw new Error(`unexpected ${command.kind}`);
  edge.send({ type: 'result', id, ok: true });
  return { command, ...(await answer).read(PhoneSessionMade).data };
}

it('calls out over a trunk of its number', async () => {
  const { data } = (await post({ phone_number: number, to: '+1 (415) 555-0177' })).read(PhoneSessionMade);
  expect(data.phone_session).toMatchObject({ phone_number: number, to: '+14155550177', pathway_id: null });
  expect(data.credentials.uri).toBe(`sip:${number}@edge.example.com`);
  expect(readPhoneUsername(data.credentials.username)).toMatchObject({ number, to: '+14155550177' });
});

it('is for a pathway: its edge is told the agent before the session is given out', async () => {
  const { command, phone_session, credentials } = await agentSession({ pathway_id });
  expect(command).toMatchObject({
    session_id: phone_session.id,
    org_id: test.orgId,
    name: 'Booking',
    agent: { kind: 'pathway', pathway_id, pathway_version: 0 },
    expires_at: Date.parse(phone_session.expires_at),
  });
  expect(phone_session).toMatchObject({ phone_number: null, to: null, pathway_id, pathway_version: 0 });
  expect(credentials.uri).toBe('sip:agent@edge.example.com');
  expect(readPhoneUsername(credentials.username)).toMatchObject({ number: 'agent', agent: true });
});

it('is for a version that nothing else uses: the edges get it', async () => {
  const body = { name: 'One', ...graph };
  expect((await test.call('POST', `/v1/pathway/${pathway_id}/version`, { body })).status).toBe(200);
  const answer = post({ pathway_id, pathway_version: 1 });
  const first = await edge.next('command');
  edge.send({ type: 'result', id: first.id, ok: true });
  const { change } = await edge.next('change');
  expect(change.pathways).toContainEqual(expect.objectContaining({ pathway_id, version: 1 }));
  const again = await edge.next('command');
  expect(again.command).toEqual(first.command);
  edge.send({ type: 'result', id: again.id, ok: true });
  const { data } = (await answer).read(PhoneSessionMade);
  expect(data.phone_session.pathway_version).toBe(1);
});

it('is for a persona', async () => {
  const { command, phone_session } = await agentSession({ persona_id });
  expect(command).toMatchObject({ name: 'Ann', agent: { kind: 'persona', persona_id } });
  expect(phone_session).toMatchObject({ phone_number: null, persona_id, pathway_id: null });
});

it('is not created when its edge does not take the agent', async () => {
  const answer = post({ persona_id, caller: 'Eve' });
  const { id } = await edge.next('command');
  edge.send({ type: 'result', id, ok: false, code: 'QUOTA_EXCEEDED', error: 'Too many.' });
  expect((await answer).codes).toEqual(['QUOTA_EXCEEDED']);
  expect(JSON.stringify((await test.call('GET', url)).body)).not.toContain('Eve');
});

it.each<[string, object, string]>([
  ['a number and a persona', { phone_number: number, persona_id: nobody }, 'AGENT_SOURCE_CONFLICT'],
  ['nobody to call', {}, 'AGENT_SOURCE_CONFLICT'],
  ['a party without a number', { persona_id: nobody, to: '+14155550177' }, 'INVALID_PARAMETER'],
  ['a version without a pathway', { phone_number: number, pathway_version: 1 }, 'INVALID_PARAMETER'],
  ['a number that calls nobody', { phone_number: '+14155550101', to: '+14155550177' }, 'NO_OUTBOUND_ROUTE'],
  ['a party that is none', { phone_number: number, to: 'Ada!' }, 'INVALID_PARAMETER'],
  ['a parked call', { phone_number: number, to: 'park:7' }, 'INVALID_PARAMETER'],
  ['a party in a private network', { phone_number: number, to: 'sip:a@10.0.0.1' }, 'TARGET_NOT_ALLOWED'],
  ['a pathway of nobody', { pathway_id: nobody }, 'PATHWAY_NOT_FOUND'],
  ['a persona of nobody', { persona_id: nobody }, 'PERSONA_NOT_FOUND'],
])('is rejected with %s', async (_, order, code) => {
  expect((await post(order)).codes).toEqual([code]);
});

it('is rejected with an unknown version, and with the pathway of another organization', async () => {
  expect((await post({ pathway_id, pathway_version: 9 })).codes).toEqual(['VERSION_NOT_FOUND']);
  const body = { caller: 'Ada', pathway_id };
  const foreign = await test.call('POST', url, { body, key: test.foreignKey });
  expect(foreign.codes).toEqual(['PATHWAY_NOT_FOUND']);
});

it('is rejected while all edges are of a version that would call the agent of the number instead', async () => {
  await speaks(edgeProtocol.phonesCallMore - 1);
  const answer = await post({ phone_number: number, to: '+14155550177' });
  expect([answer.codes, answer.errors[0]?.message]).toEqual([
    ['SERVICE_UNAVAILABLE'],
    'The edges that take calls of browsers are of an earlier version.',
  ]);
  expect((await post({ phone_number: number })).status).toBe(200);
});

it('counts its calls, each once', async () => {
  const { id } = (await post({ phone_number: number, calls: 3 })).read(PhoneSessionMade).data.phone_session;
  const running = { ended_at: null, termination: null, hangup_by: null, media: null, sip_code: null };
  const variables = { phone_session_id: id };
  const of = (call: string, changes = {}) =>
    callRecord(test.orgId, { id: call, sip_call_id: call, variables, ...changes });
  const frames = [
    [of('00000000-0000-4000-8000-0000000000c1', { ...running, status: 'in-progress' })],
    [of('00000000-0000-4000-8000-0000000000c1'), of('00000000-0000-4000-8000-0000000000c2')],
  ];
  for (const [index, calls] of frames.entries()) {
    edge.send(
      reportFrame(
        index + 1,
        calls.map((call) => ({ type: 'call', call })),
      ),
    );
    await edge.next('ack');
  }
  const { phone_session } = (await test.call('GET', `${url}/${id}`)).read(PhoneSessionOne).data;
  expect(phone_session.calls_made).toBe(2);
});
