import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import {
  evaluate,
  minute,
  noRounds,
  number,
  patchAlerts,
  ReportedTrunk,
} from '../../test/kit/control/alerts.ts';
import { startControl } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { pruneOld } from '../retention.ts';

const test = emptiedForEach(() => startControl({}, {}, {}, { limits: noRounds }));

const list = (query = '', key: string | null = test.key) =>
  test.call('GET', `/v1/sip/alerts${query}`, { key });
const kinds = async (query = '') => {
  const { text } = await list(query);
  const { data }: { data: { alerts: { kind: string; state: string }[] } } = JSON.parse(text);
  return data.alerts.map(({ kind, state }) => `${kind} ${state}`);
};

/** Advances minute by minute, with a probe and an evaluation in each. */
async function minutes(trunk: ReportedTrunk, probes: readonly (number | null)[]): Promise<void> {
  for (const ms of probes) {
    await trunk.probe(ms);
    await evaluate(test);
    test.clock.advance(minute);
  }
}

describe('unreachable', () => {
  it("is raised after the threshold's minutes, and resolved by the first healthy probe", async () => {
    const trunk = await ReportedTrunk.start(test);
    await minutes(trunk, [null, null, null, null, null]);
    expect(await kinds()).toEqual([]);
    await minutes(trunk, [null]);
    expect((await list()).body.data?.alerts).toEqual([
      {
        alert_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        kind: 'unreachable',
        state: 'open',
        phone_number: number,
        configuration_id: trunk.id,
        direction: 'outbound',
        endpoint: 'sip:trunk.example.com',
        threshold: 5,
        value: 5,
        watch_id: null,
        window_minutes: null,
        raised_at: '2030-01-01T00:05:00.000Z',
        resolved_at: null,
      },
    ]);
    await minutes(trunk, [40]);
    expect((await list()).body.data?.alerts).toMatchObject([
      { state: 'resolved', resolved_at: '2030-01-01T00:06:00.000Z' },
    ]);
  });

  it('is raised once in 100 evaluations', async () => {
    const trunk = await ReportedTrunk.start(test);
    await minutes(trunk, Array(6).fill(null));
    for (let round = 0; round < 100; round++) {
      await evaluate(test);
      if (round % 10 === 0) {
        test.clock.advance(minute);
        await trunk.probe(null);
      }
    }
    expect(await kinds()).toEqual(['unreachable open']);
  });

  it('starts over after one success', async () => {
    const trunk = await ReportedTrunk.start(test);
    await minutes(trunk, [null, null, null, null, 40, null, null, null, null, null]);
    expect(await kinds()).toEqual([]);
    await minutes(trunk, [null]);
    expect(await kinds()).toEqual(['unreachable open']);
  });

  it('is neither raised nor resolved by a gap in the probes', async () => {
    const trunk = await ReportedTrunk.start(test);
    await trunk.probe(null);
    test.clock.advance(30 * minute);
    await evaluate(test);
    expect(await kinds()).toEqual([]);
    await minutes(trunk, [null, null, null, null, null]);
    expect(await kinds()).toEqual([]);
    await minutes(trunk, [null]);
    test.clock.advance(30 * minute);
    await evaluate(test);
    expect(await kinds()).toEqual(['unreachable open']);
  });

  it('ends without a notice when alerts are disabled or reset, or the record is detached', async () => {
    const { db } = test.control.services.database;
    await test.call('PATCH', '/v1/org/settings', { body: { event_webhook_url: 'https://h.example.com' } });
    const trunk = await ReportedTrunk.start(test);
    await minutes(trunk, Array(6).fill(null));
    await patchAlerts(test, { thresholds: { unreachable_minutes: 3 } });
    expect(await kinds()).toEqual(['unreachable open']);
    await patchAlerts(test, { enabled: false });
    expect(await kinds()).toEqual(['unreachable resolved']);
    await patchAlerts(test, { enabled: true });
    await evaluate(test);
    await patchAlerts(test, null);
    expect(await kinds('?state=open')).toEqual([]);
    await patchAlerts(test, { enabled: true });
    await evaluate(test);
    expect(await kinds('?state=open')).toEqual(['unreachable open']);
    await test.call('POST', '/v1/sip/detach', { body: { phone_number: number, directions: ['outbound'] } });
    await evaluate(test);
    expect(await kinds('?state=open')).toEqual([]);
    const events = await db.selectFrom('webhook_deliveries').select('type').execute();
    expect(events.map(({ type }) => type)).toEqual(Array(3).fill('sip.alert.raised'));
  });

  it('follows a changed threshold', async () => {
    const trunk = await ReportedTrunk.start(test, { thresholds: { unreachable_minutes: 60 } });
    await minutes(trunk, Array(8).fill(null));
    expect(await kinds()).toEqual([]);
    await patchAlerts(test, { thresholds: { unreachable_minutes: 7 } });
    await evaluate(test);
    expect((await list()).body.data?.alerts).toMatchObject([{ threshold: 7, value: 8 }]);
  });
});

describe('failure_rate', () => {
  it('is raised at the percentage with five calls, and resolved after two normal evaluations', async () => {
    const trunk = await ReportedTrunk.start(test);
    await trunk.calls(3, 1);
    await evaluate(test);
    expect(await kinds()).toEqual([]);
    await trunk.calls(1, 0);
    await evaluate(test);
    expect((await list()).body.data?.alerts).toMatchObject([
      { kind: 'failure_rate', threshold: 20, value: 20, window_minutes: 30, state: 'open' },
    ]);
    await trunk.calls(1, 0);
    await evaluate(test);
    expect(await kinds()).toEqual(['failure_rate open']);
    await evaluate(test);
    expect(await kinds()).toEqual(['failure_rate resolved']);
  });

  it.each([
    [10 * minute - 1, ['failure_rate open']],
    [10 * minute, []],
  ])('over a window of 10 minutes, %d ms after the calls, is %j', async (ms, expected) => {
    const trunk = await ReportedTrunk.start(test, { thresholds: { failure_rate_window_minutes: 10 } });
    await trunk.calls(0, 5);
    test.clock.advance(ms);
    await evaluate(test);
    expect(await kinds()).toEqual(expected);
  });

  it('of an inbound record counts the calls of that record', async () => {
    const trunk = await ReportedTrunk.start(test);
    const { body } = await patchAlerts(test, { enabled: true }, 'inbound');
    await trunk.calls(0, 5, String(body.data?.id));
    await evaluate(test);
    expect((await list()).body.data?.alerts).toMatchObject([
      { kind: 'failure_rate', direction: 'inbound', endpoint: null, value: 100 },
    ]);
  });
});

describe('certificate_expiring', () => {
  it('is raised before the certificate of an endpoint expires, and resolved by a new one', async () => {
    const trunk = await ReportedTrunk.start(test);
    const certificate = (expires_at: string) => ({
      subject: 'CN=trunk.example.com',
      issuer: 'CN=Test',
      names: ['trunk.example.com'],
      valid_from: '2029-06-01T00:00:00.000Z',
      expires_at,
      seen_at: '2030-01-01T00:00:00.000Z',
    });
    await trunk.probe(30, certificate('2030-01-15T00:00:00.001Z'));
    await evaluate(test);
    expect(await kinds()).toEqual([]);
    // A report without one changes nothing.
    await minutes(trunk, [30, 30]);
    expect((await list('?kind=certificate_expiring')).body.data?.alerts).toMatchObject([
      { kind: 'certificate_expiring', endpoint: 'sip:trunk.example.com', threshold: 14, value: 14 },
    ]);
    await trunk.probe(30, certificate('2030-04-01T00:00:00.000Z'));
    await evaluate(test);
    expect(await kinds()).toEqual(['certificate_expiring resolved']);
  });
});

describe('response_time', () => {
  it('is raised when the mean of five probes exceeds it, and resolved after two normal evaluations in a row', async () => {
    const trunk = await ReportedTrunk.start(test);
    await minutes(trunk, [900, 900, 900, 900]);
    expect(await kinds()).toEqual([]);
    await minutes(trunk, [900]);
    expect((await list()).body.data?.alerts).toMatchObject([
      { kind: 'response_time', threshold: 500, value: 900 },
    ]);
    // The means are 720, 540, 360 and 680: one normal evaluation, undone by the next. Then 500 and 500.
    await minutes(trunk, [0, 0, 0, 2500]);
    expect(await kinds()).toEqual(['response_time open']);
    await minutes(trunk, [0]);
    expect(await kinds()).toEqual(['response_time open']);
    await minutes(trunk, [0]);
    expect(await kinds()).toEqual(['response_time resolved']);
  });
});

describe('GET /v1/sip/alerts', () => {
  it('is filtered, and paged newest first', async () => {
    const trunk = await ReportedTrunk.start(test);
    await trunk.calls(0, 5);
    await minutes(trunk, [...Array(6).fill(null), 40]);
    expect(await kinds()).toEqual(['unreachable resolved', 'failure_rate open']);
    expect(await kinds('?state=open')).toEqual(['failure_rate open']);
    expect(await kinds('?state=resolved')).toEqual(['unreachable resolved']);
    expect(await kinds('?kind=failure_rate')).toEqual(['failure_rate open']);
    expect(await kinds(`?phone_number=${encodeURIComponent(number)}`)).toHaveLength(2);
    expect(await kinds(`?phone_number=${encodeURIComponent('+14155550999')}`)).toEqual([]);
    const first = await list('?limit=1');
    const id = String(first.body.data?.alerts?.[0]?.alert_id);
    expect(await kinds(`?before=${id}`)).toEqual(['failure_rate open']);
    expect((await list('', test.foreignKey)).body.data?.alerts).toEqual([]);
    expect((await list(`?before=${id}`, test.foreignKey)).codes).toEqual(['INVALID_CURSOR']);
  });

  it.each([
    ['?limit=0', 'INVALID_PARAMETER'],
    ['?state=closed', 'INVALID_PARAMETER'],
    ['?kind=other', 'INVALID_PARAMETER'],
    ['?phone_number=1', 'INVALID_PARAMETER'],
    ['?before=x', 'INVALID_PARAMETER'],
    ['?before=00000000-0000-4000-8000-000000000000', 'INVALID_CURSOR'],
  ])('answers %s with %s', async (query, code) => {
    expect((await list(query)).codes).toEqual([code]);
  });

  it('requires a key and SIP', async () => {
    expect((await list('', null)).status).toBe(401);
    expect((await list('', test.plainKey)).codes).toEqual(['SIP_NOT_ENABLED']);
  });
});

it('deletes resolved alerts after 90 days and finished notices after 7; keeps open ones', async () => {
  const { db } = test.control.services.database;
  const day = 24 * 60 * minute;
  await test.call('PATCH', '/v1/org/settings', { body: { alert_emails: ['ops@example.com'] } });
  const trunk = await ReportedTrunk.start(test, { channels: { email: true } });
  await trunk.calls(0, 5);
  await minutes(trunk, [...Array(6).fill(null), 40]);
  const delivered = async () =>
    (await db.selectFrom('alert_notices').select('delivered_at').execute()).every((row) => row.delivered_at);
  await expect.poll(delivered).toBe(true);
  // A separate clock, so that the program's hourly round does not come first.
  const forget = (days: number) =>
    pruneOld(db, new FakeClock(test.clock.now() + days * day), {
      ...test.control.services.config,
      retention: { ...test.control.services.config.retention, calls: 365, traces: 365 },
    });
  expect(await forget(8)).toMatchObject({ alerts: 0, alertNotices: 3 });
  expect(await db.selectFrom('trunk_probe_runs').selectAll().execute()).toEqual([]);
  expect(await forget(91)).toMatchObject({ alerts: 1 });
  expect(await kinds()).toEqual(['failure_rate open']);
});

describe('rounds', () => {
  it('run every minute, not at the start, and are measured', async () => {
    const other = await startControl();
    const trunk = await ReportedTrunk.start(other);
    await trunk.calls(0, 5);
    const metric = async (name: string) => {
      const { text } = await other.call('GET', '/metrics', { key: other.operatorKey });
      return text.split('\n').find((line) => line.startsWith(name)) ?? null;
    };
    other.clock.advance(minute - 1);
    expect(await metric('trunkline_control_alerts_open{kind="failure_rate"}')).toBeNull();
    other.clock.advance(1);
    await expect
      .poll(() => metric('trunkline_control_alerts_open{kind="failure_rate"}'))
      .toBe('trunkline_control_alerts_open{kind="failure_rate"} 1');
    expect(await metric('trunkline_control_alert_evaluation_seconds_count')).toBe(
      'trunkline_control_alert_evaluation_seconds_count 1',
    );
    await other.close();
    expect(other.clock.pending).toBe(0);
  });
});
