/** Calls whose edge disappears and does not come back. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import { callRecord, connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { databaseQuiet, takeDatabase } from '../../test/kit/db/test-database.ts';
import { closeLostCalls } from './lost-store.ts';

const id = (last: number) => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`;
const minute = 60_000;
const live = {
  ended_at: null,
  status: 'in-progress',
  sip_code: null,
  sip_reason: null,
  termination: null,
  hangup_by: null,
} as const;

/** Webhooks resolve to no address, so none leaves the machine. */
const start = (env: Readonly<Record<string, string>> = {}) => startControl(env, { resolve: async () => [] });
const shared = emptiedForEach(start);
/** The shared one, or a test's own. */
let test: TestControl;
let edge: EdgeClient;
let seq: number;

beforeEach(() => use(shared));
afterEach(() => edge.kill());

async function use(one: TestControl): Promise<void> {
  test = one;
  await test.call('PATCH', '/v1/org/settings', {
    body: { event_webhook_url: 'https://hooks.example.com/' },
  });
  seq = 1;
  edge = await connectEdge(test);
}
async function report(changes: Partial<CallRecord>): Promise<void> {
  const call = callRecord(test.orgId, { ...live, ...changes });
  edge.send(reportFrame(seq++, [{ type: 'call', call }]));
  await edge.next('ack');
}

const state = async (callId: string) => {
  const { body } = await test.call('GET', `/v1/sip/calls/${callId}`);
  return body.data?.call;
};
const deliveries = () =>
  test.control.services.database.db
    .selectFrom('webhook_deliveries')
    .select(['id', 'type'])
    .orderBy('id')
    .execute();

async function gone(): Promise<void> {
  await edge.kill();
  await expect.poll(() => test.control.services.edges.count).toBe(0);
}

/** Advances the clock and lets the checks that fall due run. */
async function pass(minutes: number): Promise<void> {
  for (let passed = 0; passed < minutes; passed++) {
    test.clock.advance(minute);
    await databaseQuiet(test.control.services.database);
  }
}

describe('calls that their edge no longer has', () => {
  const running = async (lost_reports: number, ...call_ids: string[]) => {
    edge.send(reportFrame(seq++, [{ type: 'running', call_ids, lost_reports }]));
    await edge.next('ack');
  };

  it('end when it says which calls are up, and no others', async () => {
    await report({
      id: id(1),
      started_at: '2029-12-31T23:00:00.000Z',
      answered_at: '2029-12-31T23:00:01.000Z',
    });
    await report({ id: id(2), answered_at: null, status: 'ringing' });
    await report({ id: id(3) });
    const other = await connectEdge(test, { edge_id: 'edge-2', outbox_id: 'outbox-2' });
    const ofOther = callRecord(test.orgId, { ...live, id: id(4) });
    other.send(reportFrame(1, [{ type: 'call', call: ofOther }]));
    await other.next('ack');
    await running(7, id(3));
    expect(await state(id(1))).toMatchObject({
      outcome: 'completed',
      termination: 'end_lost',
      hangup_by: 'error',
      // The edge wrote its last report before then.
      ended_at: '2030-01-01T00:00:00.000Z',
    });
    expect(await state(id(2))).toMatchObject({ outcome: 'canceled', termination: 'end_lost' });
    for (const still of [3, 4]) expect(await state(id(still))).toMatchObject({ outcome: 'in_progress' });
    expect(await deliveries()).toEqual([
      { id: `evt_${id(1)}`, type: 'call.completed' },
      { id: `evt_${id(2)}`, type: 'call.completed' },
    ]);
    await other.kill();
  });

  it('are those of the same frame, too, and a later report of one replaces its end', async () => {
    const bodies = [1, 2].map((last) => ({
      type: 'call' as const,
      call: callRecord(test.orgId, { ...live, id: id(last) }),
    }));
    edge.send(reportFrame(seq, [...bodies, { type: 'running', call_ids: [id(2)], lost_reports: 0 }]));
    await edge.next('ack');
    seq += 3;
    expect(await state(id(1))).toMatchObject({ termination: 'end_lost' });
    expect(await state(id(2))).toMatchObject({ termination: null });
    await report({ id: id(1) });
    expect(await state(id(1))).toMatchObject({ outcome: 'in_progress', termination: null, ended_at: null });
  });

  it('are closed in steps, however many they are', async () => {
    // Two steps. Nothing is told about them: that is other work, which would go on during the next test.
    const count = 900;
    await test.call('PATCH', '/v1/org/settings', { body: { event_webhook_url: null } });
    const rows = Array.from({ length: count }, (_, index) =>
      callRecord(test.orgId, { ...live, id: id(index + 1) }),
    );
    edge.send(
      reportFrame(
        1,
        rows.map((call) => ({ type: 'call', call })),
      ),
    );
    await edge.next('ack');
    seq = count + 1;
    await running(0, ...rows.filter((_, index) => index % 3 === 0).map((call) => call.id));
    const left = await test.control.services.database.db
      .selectFrom('calls')
      .select((eb) => eb.fn.countAll<number>().as('calls'))
      .where('ended_at', 'is', null)
      .executeTakeFirstOrThrow();
    expect(Number(left.calls)).toBe(count / 3);
  });

  it('do not include calls that wait for an edge', async () => {
    await report({ id: id(1) });
    const { db } = test.control.services.database;
    await db.updateTable('calls').set({ sip_call_id: '' }).execute();
    await running(0);
    expect(await state(id(1))).toMatchObject({ outcome: 'in_progress' });
  });
});

describe('calls of an absent edge', () => {
  it('stay in progress for 15 minutes, then end at the time the edge was last seen', async () => {
    await report({ id: id(1) });
    await report({ id: id(2), answered_at: null, status: 'ringing' });
    await report({ id: id(3), parent_id: id(1) });
    await gone();
    await pass(15);
    expect(await state(id(1))).toMatchObject({ outcome: 'in_progress' });
    await pass(1);
    await expect.poll(deliveries).toHaveLength(2);
    await expect.poll(() => state(id(3))).toMatchObject({ termination: 'edge_lost' });
    expect(await state(id(1))).toMatchObject({
      outcome: 'completed',
      termination: 'edge_lost',
      hangup_by: 'error',
      ended_at: '2030-01-01T00:00:02.000Z',
    });
    expect(await state(id(2))).toMatchObject({
      outcome: 'canceled',
      termination: 'edge_lost',
      sip_code: null,
    });
    expect((await test.call('GET', `/v1/calls/${id(1)}`)).body.error_message).toContain('last seen at');
    expect(await deliveries()).toEqual([
      { id: `evt_${id(1)}`, type: 'call.completed' },
      { id: `evt_${id(2)}`, type: 'call.completed' },
    ]);
    const metrics = await test.call('GET', '/metrics', { key: test.operatorKey });
    expect(metrics.text).toContain('trunkline_control_calls_lost_total 3');
  });

  it('end at once when it comes back without its outbox, as nothing else would end them', async () => {
    await report({ id: id(1) });
    await gone();
    edge = await connectEdge(test, { outbox_id: 'outbox-2' });
    expect(await state(id(1))).toMatchObject({ outcome: 'completed', termination: 'edge_lost' });
    expect(await deliveries()).toEqual([{ id: `evt_${id(1)}`, type: 'call.completed' }]);
    seq = 1;
    await report({ id: id(2) });
    await gone();
    edge = await connectEdge(test, { outbox_id: 'outbox-2' });
    expect(await state(id(2))).toMatchObject({ outcome: 'in_progress' });
  });

  it('are left alone while their own edge is connected or another one is gone', async () => {
    await report({ id: id(1) });
    const now = '2030-01-01T02:00:00.000Z';
    const close = (connected: string[], before: string) =>
      closeLostCalls(test.control.services.database, connected, before, now, 10);
    expect(await close(['edge-1'], now)).toEqual({ closed: 0, webhooksQueued: false });
    expect(await close(['edge-2'], '2029-12-31T23:59:59.000Z')).toEqual({ closed: 0, webhooksQueued: false });
    expect(await close(['edge-2'], now)).toEqual({ closed: 1, webhooksQueued: true });
    expect(await close(['edge-2'], now)).toEqual({ closed: 0, webhooksQueued: false });
  });

  it('are closed by a control plane that started after the edge had gone', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lost-'));
    const { address, release } = await takeDatabase(join(folder, 'control.db'));
    await edge.kill();
    await use(await start({ DATABASE_URL: address }));
    await report({ id: id(1) });
    await gone();
    await test.close();
    test = await start({ DATABASE_URL: address });
    await pass(16);
    const row = () => test.control.services.database.db.selectFrom('calls').selectAll().executeTakeFirst();
    await expect.poll(row).toMatchObject({ termination: 'edge_lost' });
    await test.close();
    await release();
    rmSync(folder, { recursive: true });
  });

  const endings: readonly [string, (call: Partial<CallRecord>) => Promise<void>][] = [
    [
      'its edge ends',
      (call) =>
        report({
          ...call,
          ...{ id: id(1), ended_at: '2030-01-01T00:01:00.000Z', status: 'completed' },
          ...{ termination: 'caller_hangup', hangup_by: 'peer' },
        }),
    ],
    [
      'control closes because its edge is lost',
      async () => {
        await gone();
        await pass(16);
      },
    ],
  ];
  const kinds: readonly [string, Partial<CallRecord>, number][] = [
    ['a call', {}, 1],
    ['a call of a test run', { test_run_id: id(9) }, 0],
    ['a call whose customer names a test run', { metadata: { test_run_id: id(9) } }, 1],
    ['the leg of a transfer', { parent_id: id(8) }, 0],
  ];
  it.each(
    endings.flatMap(([how, end]) =>
      kinds.map(([what, call, events]) => [what, how, call, end, events] as const),
    ),
  )('%s that %s sends call.completed by one rule', async (_what, _how, call, end, events) => {
    await report({ id: id(1), ...call });
    await end(call);
    const over = async () => (await state(id(1)))?.ended_at !== null;
    await expect.poll(over).toBe(true);
    expect(await deliveries()).toHaveLength(events);
  });

  it('are announced once, even when the edge comes back with them', async () => {
    await report({ id: id(1) });
    await gone();
    await pass(16);
    await expect.poll(() => state(id(1))).toMatchObject({ termination: 'edge_lost' });
    edge = await connectEdge(test);
    await report({ id: id(1) });
    expect(await state(id(1))).toMatchObject({ outcome: 'in_progress', termination: null, ended_at: null });
    await report({
      id: id(1),
      ended_at: '2030-01-01T01:00:00.000Z',
      status: 'completed',
      termination: 'caller_hangup',
      hangup_by: 'peer',
    });
    expect(await state(id(1))).toMatchObject({ termination: 'caller_hangup', hangup_by: 'peer' });
    expect(await deliveries()).toHaveLength(1);
  });

  it('end when the edge returns if they were stopped meanwhile', async () => {
    await report({ id: id(1) });
    await gone();
    await pass(16);
    await expect.poll(() => state(id(1))).toMatchObject({ termination: 'edge_lost' });
    expect((await test.call('POST', `/v1/calls/${id(1)}/stop`)).status).toBe(200);
    edge = await connectEdge(test);
    edge.send(reportFrame(seq++, [{ type: 'call', call: callRecord(test.orgId, { ...live, id: id(1) }) }]));
    expect((await edge.next('command')).command).toEqual({ kind: 'call.stop', call_id: id(1) });
  });
});
