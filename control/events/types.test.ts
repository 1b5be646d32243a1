/** Each type of events: recorded with what it tells of. Those of calls: events.test.ts. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { queuedTestCall } from '#shared/edge-protocol/reports.ts';
import { number as alertNumber } from '../../test/kit/control/alerts.ts';
import { connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { FollowedEvents, type ReceivedEvent } from '../../test/kit/control/events.ts';
import { initiate, move, order, portTestOfFile } from '../../test/kit/control/porting.ts';
import { base, Scenarios } from '../../test/kit/control/scenarios.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';
import { raiseAlert, resolveAlert, withdrawAlerts } from '../alerts/store.ts';
import { unknownYet } from '../checks/rules.ts';
import { insertDiscovery, insertTestCall } from '../checks/store.ts';
import { toJson } from '../db/index.ts';
import { findConfigurations } from '../trunks/index.ts';

const test = portTestOfFile();
let edge: EdgeClient;
let reader: FollowedEvents;
let seq = 1;
const number = alertNumber;

beforeEach(async () => {
  seq = 1;
  await test.call('POST', '/v1/sip/attach', {
    body: {
      phone_number: number,
      directions: ['inbound', { type: 'outbound', sip_endpoint: 'trunk.example.com' }],
    },
  });
  edge = await connectEdge(test);
  reader = await FollowedEvents.open(test);
});
afterEach(() =>
  releaseAll(
    () => reader.leave(),
    () => edge.kill(),
  ),
);

async function report(...bodies: Parameters<typeof reportFrame>[1]): Promise<void> {
  edge.send(reportFrame(seq, bodies, now()));
  seq += bodies.length;
  while ((await edge.next('ack')).seq < seq - 1);
}
const now = () => new Date(test.clock.now()).toISOString();
const trunk = async () => {
  const rows = await findConfigurations(test.control.services.database.db, test.orgId, number);
  const outbound = rows.find(({ direction }) => direction === 'outbound');
  if (!outbound) throw new Error('the number has no outbound trunk');
  return outbound;
};
const told = (events: readonly ReceivedEvent[]) =>
  events.map(({ event, data }) => ({ event, subject: data.subject, data: data.data }));

it('a probe and a move of a trunk', async () => {
  const { id: trunk_id } = await trunk();
  const endpoint = { host: 'trunk.example.com', port: 5061, priority: 0 };
  const probe = {
    trunk_id,
    endpoint,
    at: now(),
    healthy: false,
    response_time_ms: null,
    sip_code: null,
    error: 'refused',
    consecutive_failures: 3,
    active: true,
  };
  await report({ type: 'health', probes: [probe], moves: [{ trunk_id, active_priority: 0 }] });
  const subject = { trunk_id, number };
  const { trunk_id: _, ...result } = probe;
  expect(told(await reader.take(2))).toEqual([
    { event: 'trunk.health', subject, data: { probe: result } },
    { event: 'trunk.moved', subject, data: { active: endpoint } },
  ]);
});

it('a registration that has changed, and not one that was only renewed', async () => {
  const { id: trunk_id } = await trunk();
  const state = {
    type: 'registration',
    trunk_id,
    registrar: 'trunk.example.com:5061',
    expires_at: null,
    sip_code: 403,
    last_error: 'Forbidden',
  } as const;
  await report({ ...state, state: 'failed', at: now(), changed: true });
  await report({ ...state, state: 'failed', at: now(), changed: false });
  await report({ ...state, state: 'ended', at: now() });
  const events = await reader.take(2);
  expect(told(events)).toMatchObject([
    {
      event: 'registration.changed',
      subject: { trunk_id, number },
      data: { registration: { state: 'failed', last_error: 'Forbidden', edge_id: 'edge-1' } },
    },
    { event: 'registration.changed', data: { registration: { state: 'ended' } } },
  ]);
});

it('an alert that is raised, resolved, or withdrawn', async () => {
  const { clock, database } = test.control.services;
  const row = await trunk();
  const reading = {
    kind: 'unreachable',
    state: 'over',
    value: 5,
    threshold: 3,
    windowMinutes: null,
  } as const;
  const raise = () => raiseAlert(database.db, clock, row, reading);
  await raise();
  const alert = await database.db.selectFrom('alerts').selectAll().executeTakeFirstOrThrow();
  await resolveAlert(
    database.db,
    clock,
    row,
    { ...alert, kind: reading.kind },
    { ...reading, state: 'under' },
  );
  await raise();
  await withdrawAlerts(database.db, now(), row.id);
  const events = await reader.take(4);
  expect(events.map(({ event }) => event)).toEqual([
    'alert.raised',
    'alert.resolved',
    'alert.raised',
    'alert.resolved',
  ]);
  expect(told(events)[0]).toMatchObject({
    subject: { alert_id: alert.id, number, trunk_id: row.id },
    data: { alert: { kind: 'unreachable', value: 5, resolved_at: null } },
  });
});

it('a discovery and a test call, step by step', async () => {
  const { db } = test.control.services.database;
  const at = now();
  const rows = {
    id: 'disc_1',
    org_id: test.orgId,
    host: 'a.example.com',
    started_at: at,
    completed_at: null,
  };
  await insertDiscovery(db, { ...rows, result: toJson(unknownYet) });
  const ofCall = { id: 'tc_1', org_id: test.orgId, created_at: at, updated_at: at };
  await insertTestCall(db, { ...ofCall, state: toJson(queuedTestCall) });
  const ringing = { ...queuedTestCall, status: 'ringing' } as const;
  const busy = { ...queuedTestCall, status: 'busy', result: 'busy', sip_code: 486 } as const;
  await report(
    { type: 'discovery', discovery_id: 'disc_1', result: unknownYet },
    { type: 'discovery', discovery_id: 'disc_1', result: { ...unknownYet, status: 'completed' } },
    { type: 'test_call', test_call_id: 'tc_1', ...ringing },
    { type: 'test_call', test_call_id: 'tc_1', ...busy },
  );
  expect(told(await reader.take(5))).toMatchObject([
    {
      event: 'test_call.updated',
      subject: { test_call_id: 'tc_1' },
      data: { test_call: { status: 'queued' } },
    },
    {
      event: 'discovery.updated',
      subject: { discovery_id: 'disc_1' },
      data: { discovery: { status: 'running', host: 'a.example.com' } },
    },
    { event: 'discovery.ended', data: { discovery: { status: 'completed' } } },
    { event: 'test_call.updated', data: { test_call: { status: 'ringing' } } },
    { event: 'test_call.ended', data: { test_call: { call_id: 'tc_1', sip_code: 486 } } },
  ]);
});

it('a test run from its order to its end', async () => {
  const scenarios = await Scenarios.of(test);
  const { body } = await scenarios.create();
  const scenario = String(body.data?.scenario?.id ?? body.data?.id);
  const started = await test.call('POST', `${base}/scenarios/${scenario}/run`, { body: {} });
  const events = await reader.until('the end of the run', () =>
    reader.types.includes('test_run.ended') ? reader.received.slice(1) : null,
  );
  const run_id = started.body.data?.run_id;
  expect(new Set(events.map(({ data }) => data.subject?.test_run_id))).toEqual(new Set([run_id]));
  const statuses = events.map(({ data }) => (data.data as { run: { status: string } }).run.status);
  expect(statuses.slice(0, 2)).toEqual(['PENDING', 'RUNNING']);
  expect(events.map(({ event }) => event)).toEqual([
    'test_run.updated',
    'test_run.updated',
    'test_run.ended',
  ]);
});

it('a port request and its moves', async () => {
  const { id } = await initiate(test, order(['+14155550111']));
  await move(test, id, { status: 'canceled', reason: 'No more' });
  expect(told(await reader.take(2))).toMatchObject([
    {
      event: 'port.updated',
      subject: { port_id: id },
      data: { port: { status: 'waiting_for_signature', phone_numbers: [{ number: '+14155550111' }] } },
    },
    { event: 'port.updated', subject: { port_id: id }, data: { port: { status: 'canceled' } } },
  ]);
});
