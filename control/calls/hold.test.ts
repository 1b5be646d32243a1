import { afterEach, beforeEach, expect, it } from 'vitest';
import { callRecord, connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { startRoutes } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';

const callId = '00000000-0000-4000-8000-000000000001';
const live = {
  id: callId,
  ended_at: null,
  status: 'in-progress',
  termination: null,
  hangup_by: null,
  sip_code: null,
} as const;

const test = emptiedForEach(startRoutes);
let edge: EdgeClient;
beforeEach(async () => {
  edge = await connectEdge(test);
  await edge.next('config');
});
afterEach(() => edge.kill());

async function report(changes: Parameters<typeof callRecord>[1] = {}): Promise<void> {
  edge.send(reportFrame(1, [{ type: 'call', call: callRecord(test.orgId, { ...live, ...changes }) }]));
  await edge.next('ack');
}

it.each([
  ['hold', 'Call put on hold'],
  ['resume', 'Hold ended'],
] as const)('%s is carried out by the edge of the call', async (action, message) => {
  await report();
  const answer = test.call('POST', `/v1/calls/${callId}/${action}`);
  const { id, command } = await edge.next('command');
  expect(command).toEqual({ kind: 'call.hold', call_id: callId, action });
  edge.send({ type: 'result', id, ok: true });
  expect(await answer).toMatchObject({ status: 200, body: { status: 'success', message } });
});

it('is refused for a call that has ended, and for one of nobody', async () => {
  await report({ ended_at: '2030-01-01T00:01:00.000Z', status: 'completed' });
  expect(await test.call('POST', `/v1/calls/${callId}/hold`)).toMatchObject({
    status: 409,
    body: { errors: [{ code: 'CALL_NOT_ACTIVE' }] },
  });
  const other = callId.replace('8000', '8001');
  expect(await test.call('POST', `/v1/calls/${other}/hold`)).toMatchObject({
    status: 404,
    body: { errors: [{ code: 'CALL_NOT_FOUND' }] },
  });
});

const order = { method: 'bridge', announcement: null, accept_key: null };

it.each([
  ['park', { slot: '7' }, { kind: 'call.park', slot: '7', timeout_s: 120, on_timeout: 'agent' }],
  [
    'park',
    { slot: 'desk_1', timeout_s: 30, on_timeout: 'end' },
    { kind: 'call.park', slot: 'desk_1', timeout_s: 30, on_timeout: 'end' },
  ],
  ['retrieve', {}, { kind: 'call.retrieve', by_call_id: null }],
  ['retrieve', { phone_number: '+14155550199' }, { kind: 'call.transfer', target: '+14155550199', ...order }],
])('%s %o is carried out by the edge of the call', async (action, body, command) => {
  await report();
  const answer = test.call('POST', `/v1/calls/${callId}/${action}`, { body });
  const sent = await edge.next('command');
  expect(sent.command).toEqual({ call_id: callId, ...command });
  edge.send({ type: 'result', id: sent.id, ok: true });
  expect(await answer).toMatchObject({ status: 200, body: { status: 'success' } });
});

it.each([
  ['park', {}],
  ['park', { slot: 'a slot' }],
  ['park', { slot: '7', timeout_s: 4 }],
  ['retrieve', { call_id: callId, phone_number: '+14155550199' }],
  ['retrieve', { phone_number: 'park:7' }],
  ['retrieve', { call_id: callId }],
])('%s %o is refused', async (action, body) => {
  await report();
  expect(await test.call('POST', `/v1/calls/${callId}/${action}`, { body })).toMatchObject({
    status: 400,
    body: { errors: [{ code: 'INVALID_PARAMETER' }] },
  });
});

it('is refused between calls of two edges', async () => {
  await report();
  const far = await connectEdge(test, { edge_id: 'far', outbox_id: 'far' });
  const other = callId.replace('8000', '8001');
  far.send(reportFrame(1, [{ type: 'call', call: callRecord(test.orgId, { ...live, id: other }) }]));
  await far.next('ack');
  expect(await test.call('POST', `/v1/calls/${callId}/retrieve`, { body: { call_id: other } })).toMatchObject(
    {
      status: 409,
      body: { errors: [{ code: 'CALLS_APART' }] },
    },
  );
  await far.kill();
});

it.each([
  ['method', { method: 'refer' }],
  ['announcement', { announcement: 'A call for you.' }],
  ['accept_key', { accept_key: '1' }],
])('refuses %s for a transfer to a slot or a conference, which calls nobody', async (field, more) => {
  await report();
  for (const transfer_number of ['park:7', 'conference:sales'])
    expect(
      await test.call('POST', '/v1/calls/active/transfer', {
        body: { call_id: callId, transfer_number, ...more },
      }),
    ).toMatchObject({
      status: 400,
      body: { errors: [{ code: 'INVALID_PARAMETER', details: { path: `/${field}` } }] },
    });
});

it('takes the slot of a parked call as a target of transfers only', async () => {
  await report();
  const answer = test.call('POST', '/v1/calls/active/transfer', {
    body: { call_id: callId, transfer_number: 'park:7' },
  });
  const sent = await edge.next('command');
  expect(sent.command).toMatchObject({ kind: 'call.transfer', target: 'park:7' });
  edge.send({ type: 'result', id: sent.id, ok: true });
  expect(await answer).toMatchObject({ status: 200 });
  expect(
    await test.call('POST', '/v1/calls', { body: { phone_number: 'park:7', task: 'Talk.' } }),
  ).toMatchObject({
    status: 400,
    body: { errors: [{ code: 'INVALID_PARAMETER' }] },
  });
});
