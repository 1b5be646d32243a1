/** Calls that a crash left queued without an edge. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callRecord, connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';
import { closeQueuedCalls } from './queued-store.ts';

const trunk = {
  phone_number: '+14155550100',
  directions: [{ type: 'outbound', sip_endpoint: 'trunk.example.com' }],
};
const order = { phone_number: '+14155550123', task: 'Say hello.', webhook: 'https://hooks.example.com/' };

describe('closing calls that nothing will place', () => {
  let test: TestControl;
  let edge: EdgeClient;
  let id = '';
  beforeEach(async () => {
    const limits = { calls: { queuedMs: 1_000 }, edgeLink: { commandTimeoutMs: 500 } };
    test = await startControl({}, { resolve: async () => [] }, {}, { limits });
    edge = await connectEdge(test);
    await edge.next('config');
    await test.call('POST', '/v1/sip/attach', { body: trunk });
    const placed = test.call('POST', '/v1/calls', { body: order });
    const { id: commandId } = await edge.next('command');
    edge.send({ type: 'result', id: commandId, ok: true });
    id = String((await placed).body.call_id);
  });
  afterEach(() =>
    releaseAll(
      () => edge.kill(),
      () => test.close(),
    ),
  );
  const now = '2030-01-01T01:00:00.000Z';
  const close = (connected: readonly string[], before = now) =>
    closeQueuedCalls(test.control.services.database, connected, before, now, 10);
  const row = () =>
    test.control.services.database.db
      .selectFrom('calls')
      .select(['status', 'outcome', 'termination', 'hangup_by', 'ended_at'])
      .where('id', '=', id)
      .executeTakeFirst();

  it('waits for the timeout, and for an absent edge', async () => {
    expect(await close(['edge-1'], '2029-12-31T23:59:59.999Z')).toEqual({ closed: 0, webhooksQueued: false });
    expect(await close([])).toEqual({ closed: 0, webhooksQueued: false });
    const { db } = test.control.services.database;
    // It has just reconnected and may be about to report.
    await db.updateTable('edges').set({ connected_at: now }).execute();
    expect(await close(['edge-1'])).toEqual({ closed: 0, webhooksQueued: false });
    expect(await row()).toMatchObject({ status: 'queued' });
  });

  it('records why the call ended and sends the webhook, once', async () => {
    expect(await close(['edge-1'])).toEqual({ closed: 1, webhooksQueued: true });
    expect(await row()).toEqual({
      status: 'failed',
      outcome: 'failed',
      termination: 'edge_unavailable',
      hangup_by: 'error',
      ended_at: now,
    });
    expect(await close(['edge-1'])).toEqual({ closed: 0, webhooksQueued: false });
    const { db } = test.control.services.database;
    expect(await db.selectFrom('webhook_deliveries').select('id').execute()).toEqual([{ id: `evt_${id}` }]);
  });

  it('covers edges that are no longer known', async () => {
    await test.control.services.database.db.updateTable('calls').set({ edge_id: 'gone' }).execute();
    expect(await close([])).toEqual({ closed: 1, webhooksQueued: true });
  });

  it('happens in the running program, which counts it', async () => {
    // One look later than the limit, and earlier than the first ping of the link.
    test.clock.advance(5_000);
    await expect.poll(row).toMatchObject({ termination: 'edge_unavailable' });
    const metrics = await test.call('GET', '/metrics', { key: test.operatorKey });
    expect(metrics.text).toContain('trunkline_control_calls_unplaced_total 1');
    await edge.kill();
    edge = await connectEdge(test);
    edge.send(
      reportFrame(1, [
        { type: 'call', call: callRecord(test.orgId, { id, ended_at: null, termination: null }) },
      ]),
    );
    expect((await edge.next('command')).command).toEqual({ kind: 'call.stop', call_id: id });
  });
});
