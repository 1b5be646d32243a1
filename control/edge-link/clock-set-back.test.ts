/** An edge's clock is set back: its later reports still count as newer. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';

const number = '+14155550100';
const wrong = '2030-01-01T01:00:00.000Z';
const right = '2030-01-01T00:00:10.000Z';

let test: TestControl;
let edge: EdgeClient;
let seq = 0;
const ids: Record<string, string> = {};
beforeEach(async () => {
  test = await startRoutes();
  seq = 0;
  await test.call('POST', '/v1/sip/attach', {
    body: {
      phone_number: number,
      directions: [
        {
          type: 'inbound',
          auth_mode: 'register',
          sip_endpoint: 'pbx.example.com',
          register_auth: { username: 'acme', password: 'chosen by the customer' },
        },
        { type: 'outbound', sip_endpoint: 'trunk.example.com' },
      ],
    },
  });
  const { db } = test.control.services.database;
  for (const { id, direction } of await db.selectFrom('sip_configurations').selectAll().execute())
    ids[direction] = id;
  edge = await connectEdge(test);
});
afterEach(() =>
  releaseAll(
    () => edge.kill(),
    () => test.close(),
  ),
);

async function report(at: string, ...bodies: ReportBody[]): Promise<void> {
  edge.send(reportFrame(seq + 1, bodies, at));
  seq += bodies.length;
  await edge.next('ack');
}

const registration = (at: string, state: 'registered' | 'failed'): ReportBody => ({
  type: 'registration',
  trunk_id: ids.inbound ?? '',
  state,
  registrar: 'pbx.example.com:5061',
  at,
  expires_at: null,
  sip_code: 200,
  last_error: null,
});

const health = (at: string, healthy: boolean): ReportBody => ({
  type: 'health',
  probes: [
    {
      trunk_id: ids.outbound ?? '',
      endpoint: { host: 'trunk.example.com', port: 5061, priority: 0 },
      at,
      healthy,
      response_time_ms: healthy ? 40 : null,
      sip_code: healthy ? 200 : null,
      error: healthy ? null : 'refused',
      consecutive_failures: healthy ? 0 : 1,
      active: true,
    },
  ],
});

async function known() {
  const { db } = test.control.services.database;
  const [registered, endpoint, run] = await Promise.all([
    db.selectFrom('registrations').selectAll().executeTakeFirstOrThrow(),
    db.selectFrom('trunk_endpoints').selectAll().executeTakeFirstOrThrow(),
    db.selectFrom('trunk_probe_runs').selectAll().executeTakeFirstOrThrow(),
  ]);
  return { state: registered.state, healthy: endpoint.healthy, failingSince: run.failing_since };
}

it('newer registrations and probes replace those from before the clock change', async () => {
  await report(wrong, registration(wrong, 'registered'), health(wrong, true));
  await report(right, registration(right, 'failed'), health(right, false));
  expect(await known()).toEqual({ state: 'failed', healthy: 0, failingSince: right });
});

it('a failure that began before the clock change does not begin in the future', async () => {
  await report(wrong, registration(wrong, 'failed'), health(wrong, false));
  await report(right, health(right, false));
  const { failingSince } = await known();
  expect(failingSince !== null && failingSince <= right).toBe(true);
});

it('a probe from before the clock change, reported afterward, does not block newer ones', async () => {
  await report(wrong, registration(wrong, 'registered'));
  await report(right, health(wrong, true));
  await report('2030-01-01T00:00:20.000Z', health('2030-01-01T00:00:20.000Z', false));
  expect(await known()).toMatchObject({ healthy: 0, failingSince: '2030-01-01T00:00:20.000Z' });
});

it('the time of the last report survives a control restart, and the clock change is noticed after it', async () => {
  await report(wrong, registration(wrong, 'registered'), health(wrong, true));
  const { db } = test.control.services.database;
  expect(await db.selectFrom('outboxes').select('reported_at').execute()).toEqual([{ reported_at: wrong }]);
});

it('without a clock change, a late report from another edge replaces nothing', async () => {
  await report(wrong, registration(wrong, 'registered'), health(wrong, true));
  const other = await connectEdge(test, { edge_id: 'other', outbox_id: 'other' });
  other.send(reportFrame(1, [registration(right, 'failed'), health(right, false)], right));
  await other.next('ack');
  await other.kill();
  expect(await known()).toEqual({ state: 'registered', healthy: 1, failingSince: null });
});
