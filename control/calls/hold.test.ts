import { afterEach, beforeEach, expect, it } from 'vitest';
import { callRecord, connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';

const callId = '00000000-0000-4000-8000-000000000001';
const live = {
  id: callId,
  ended_at: null,
  status: 'in-progress',
  termination: null,
  hangup_by: null,
  sip_code: null,
} as const;

let test: TestControl;
let edge: EdgeClient;
beforeEach(async () => {
  test = await startRoutes();
  edge = await connectEdge(test);
  await edge.next('config');
});
afterEach(() =>
  releaseAll(
    () => edge.kill(),
    () => test.close(),
  ),
);

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
