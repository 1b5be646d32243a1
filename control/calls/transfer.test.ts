import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callRecord, connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { startRoutes } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';

const test = emptiedForEach(startRoutes);
let edge: EdgeClient;
let reported = 0;
beforeEach(async () => {
  edge = await connectEdge(test);
  await edge.next('config');
  reported = 0;
  await report({});
});
afterEach(() => edge.kill());

const callId = '00000000-0000-4000-8000-000000000001';
const live = {
  id: callId,
  ended_at: null,
  status: 'in-progress',
  termination: null,
  hangup_by: null,
  sip_code: null,
} as const;

/** The edge reports the running call, with the test's changes. */
async function report(changes: Parameters<typeof callRecord>[1]): Promise<void> {
  const call = callRecord(test.orgId, { ...live, ...changes });
  edge.send(reportFrame(++reported, [{ type: 'call', call }]));
  await edge.next('ack');
}

const transfer = (body: object, key = test.key) =>
  test.call('POST', '/v1/calls/active/transfer', {
    body: { call_id: callId, transfer_number: '+14155550199', ...body },
    key,
  });

describe('POST /v1/calls/active/transfer', () => {
  it("has the call's edge bridge it", async () => {
    const answer = transfer({ transfer_number: '1 (415) 555-0199' });
    const { id, command } = await edge.next('command');
    expect(command).toEqual({
      kind: 'call.transfer',
      call_id: callId,
      target: '+14155550199',
      method: 'bridge',
      announcement: null,
      accept_key: null,
    });
    edge.send({ type: 'result', id, ok: true });
    expect(await answer).toMatchObject({
      status: 200,
      body: { data: { message: 'Transfer started' }, errors: null },
    });
  });

  it('requests REFER, and a warm transfer', async () => {
    const answer = transfer({
      transfer_number: 'sip:desk@pbx.example.com',
      method: 'refer',
      announcement: 'A customer. Press 1.',
      accept_key: '1',
    });
    const { id, command } = await edge.next('command');
    expect(command).toMatchObject({
      target: 'sip:desk@pbx.example.com',
      method: 'refer',
      announcement: 'A customer. Press 1.',
      accept_key: '1',
    });
    edge.send({ type: 'result', id, ok: true });
    expect((await answer).status).toBe(200);
  });

  it.each([
    ['CALL_NOT_ACTIVE', 409],
    ['NO_OUTBOUND_ROUTE', 400],
    ['REFER_NOT_SUPPORTED', 400],
    ['TARGET_NOT_ALLOWED', 400],
  ])('answers %s when the edge returns it', async (code, status) => {
    const answer = transfer({});
    const { id } = await edge.next('command');
    edge.send({ type: 'result', id, ok: false, error: 'It cannot be done.', code });
    expect(await answer).toMatchObject({
      status,
      body: { data: null, errors: [{ code, message: 'It cannot be done.' }] },
    });
  });

  it('is 503 when the edge gives no code, or an unknown one', async () => {
    for (const code of [{}, { code: 'E_STRANGE' }]) {
      const answer = transfer({});
      const { id } = await edge.next('command');
      edge.send({ type: 'result', id, ok: false, error: 'no luck', ...code });
      expect(await answer).toMatchObject({ status: 503, codes: ['SERVICE_UNAVAILABLE'] });
    }
  });

  it.each<[object, string]>([
    [{ transfer_number: 'to nobody' }, 'INVALID_PARAMETER'],
    [{ transfer_number: 'sip:desk@pbx.example.com;transport=tcp' }, 'INVALID_PARAMETER'],
    [{ transfer_number: 'sip:desk@192.168.1.1' }, 'TARGET_NOT_ALLOWED'],
    [{ transfer_number: undefined }, 'INVALID_PARAMETER'],
    [{ method: 'magic' }, 'INVALID_PARAMETER'],
    [{ accept_key: 'A' }, 'INVALID_PARAMETER'],
    [{ accept_key: '12' }, 'INVALID_PARAMETER'],
    [{ announcement: '' }, 'INVALID_PARAMETER'],
    [{ announcement: 'x'.repeat(1001) }, 'INVALID_PARAMETER'],
    [{ call_id: 'abc' }, 'INVALID_PARAMETER'],
    [{ call_id: '00000000-0000-4000-8000-000000000002' }, 'CALL_NOT_FOUND'],
    [{ surprise: 1 }, 'UNKNOWN_PROPERTY'],
  ])('rejects %j with %s', async (body, code) => {
    const answer = await transfer(body);
    expect(answer.codes).toEqual([code]);
    expect(answer.body.data).toBeNull();
  });

  it("rejects an ended call, and another organization's call", async () => {
    expect((await transfer({}, test.foreignKey)).codes).toEqual(['CALL_NOT_FOUND']);
    await report({ ended_at: '2030-01-01T00:00:47.250Z', status: 'completed' });
    expect(await transfer({})).toMatchObject({ status: 409, codes: ['CALL_NOT_ACTIVE'] });
  });

  it("is 503 while the call's edge is away", async () => {
    await edge.kill();
    await expect.poll(() => test.control.services.edges.count).toBe(0);
    expect(await transfer({})).toMatchObject({ status: 503, codes: ['SERVICE_UNAVAILABLE'] });
  });
});

describe('a transferred call', () => {
  it('shows the target, who had answered, and the further leg', async () => {
    await report({
      ended_at: '2030-01-01T00:00:47.250Z',
      status: 'completed',
      hangup_by: 'transfer',
      transferred_to: '+14155550199',
      answered_by: 'human',
    });
    const child = '00000000-0000-4000-8000-000000000009';
    await report({ id: child, parent_id: callId, direction: 'outbound', sip_call_id: 'leg@edge' });
    const { body } = await test.call('GET', `/v1/calls/${callId}`);
    expect(body).toMatchObject({
      transferred_to: '+14155550199',
      answered_by: 'human',
      call_ended_by: 'ASSISTANT',
    });
    const log = await test.call('GET', `/v1/sip/calls/${child}`);
    expect(log.body.data?.call).toMatchObject({ id: child, parent_id: callId });
    const parent = await test.call('GET', `/v1/sip/calls/${callId}`);
    expect(parent.body.data?.call).toMatchObject({ parent_id: null, hangup_by: 'transfer' });
  });

  it('sends one call.completed, and none for the leg to the target', async () => {
    await test.call('PATCH', '/v1/org/settings', {
      body: { event_webhook_url: 'https://hooks.example.com/' },
    });
    const ended = { ended_at: '2030-01-01T00:00:47.250Z', status: 'completed' } as const;
    await report({ id: '00000000-0000-4000-8000-000000000009', parent_id: callId, ...ended });
    await report(ended);
    const events = await test.control.services.database.db
      .selectFrom('webhook_deliveries')
      .select(['type', 'subject_id'])
      .execute();
    expect(events).toEqual([{ type: 'call.completed', subject_id: callId }]);
  });
});
