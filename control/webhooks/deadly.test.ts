/**
 * Background work that crashes the real program: each start comes up, each attempt is counted, and the last one is
 * final.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import SqliteFile from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { ScenarioAnswer } from '#shared/api/agent-testing/scenarios.ts';
import { PathwayCreated } from '#shared/api/pathways.ts';
import { newDelivery } from '../../test/kit/db/delivery.ts';
import { longTest } from '../../test/kit/long-test.ts';
import { ControlProgram } from '../../test/kit/programs/control-program.ts';
import { noticeSchedule } from '../alerts/notice-rules.ts';
import { loadSecretKey, SecretBox } from '../db/secrets.ts';
import { mostCrashes } from '../db/under-way.ts';
import { portContext } from '../porting/sealed-store.ts';
import { webhookSchedule } from './rules.ts';

/** Unassigned (IANA): nothing listens there, and `fetch` does not block it as it does port 9. */
const deadlyPort = 4;
const hook = join(import.meta.dirname, '..', '..', 'test', 'kit', 'fakes', 'deadly-port.mjs');

/** Its folder is as a first start leaves it; each test begins with a copy. */
const first = new ControlProgram();
let control: ControlProgram;

beforeAll(async () => {
  await first.start();
  await first.end('SIGTERM');
});
afterAll(() => first.remove());
beforeEach(() => {
  control = new ControlProgram({
    DEADLY_PORT: String(deadlyPort),
    SMTP_URL: `smtp://127.0.0.1:${deadlyPort}`,
    MAIL_FROM: 'alerts@example.com',
  });
  cpSync(first.folder, control.folder, { recursive: true });
});
afterEach(() => control.remove());

function database<T>(work: (connection: SqliteFile.Database) => T): T {
  const connection = new SqliteFile(join(control.folder, 'control.db'), { timeout: 10_000 });
  connection.pragma('foreign_keys = off');
  try {
    return work(connection);
  } finally {
    connection.close();
  }
}

const {
  type: _type,
  url: _url,
  subject_id: _subject,
  body: _body,
  last_status: _status,
  ...delivered
} = newDelivery({ now: Date.now });

/** A due row of each queue that may give up. */
const queues = {
  webhook_deliveries: {
    ...newDelivery({ now: Date.now }),
    url: `https://127.0.0.1:${deadlyPort}/`,
  },
  alert_notices: {
    ...delivered,
    alert_id: 'alert',
    channel: 'email',
    event: 'raised',
    recipient: 'night@example.com',
    subject: 'Alert',
    text: 'Alert',
  },
  port_mails: {
    ...delivered,
    request_id: 'request',
    kind: 'status',
    recipient: 'night@example.com',
    subject: 'Port',
    // Sealed when the data folder has a key.
    text: '',
  },
};
type Queue = keyof typeof queues;

/** @param attempts so far */
function insert(queue: Queue, id: string, attempts: number): void {
  const sealed = () =>
    new SecretBox(loadSecretKey(null, control.folder)).seal('Port', portContext('request', 'mail'));
  const row = {
    ...queues[queue],
    id,
    attempts,
    org_id: control.keys.org_id,
    ...(queue === 'alert_notices' && { recipient: `${id}@example.com` }),
    ...(queue === 'port_mails' && { text: sealed() }),
  };
  const names = Object.keys(row);
  const sql = `insert into ${queue} (${names.join(', ')}) values (${names.map((name) => `@${name}`).join(', ')})`;
  database((connection) => connection.prepare(sql).run(row));
}

interface Tried {
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly delivered_at: string | null;
  readonly last_error: string | null;
}

const tried = (queue: Queue) =>
  database((connection) =>
    connection
      .prepare(`select attempts, next_attempt_at, delivered_at, last_error from ${queue} order by id`)
      .all(),
  ) as Tried[];

const underWay = () =>
  database((connection) => connection.prepare('select count(*) from work_under_way').pluck().get());

const start = (way: 'abort' | 'throw', env: Readonly<Record<string, string>> = {}) =>
  control.start({ DEADLY_WAY: way, NODE_OPTIONS: `--import ${hook}`, ...env });

async function healthOf(): Promise<unknown> {
  return (await fetch(`${control.url}/health`)).json();
}

it.each([
  ['webhook_deliveries', 'abort', webhookSchedule.length],
  ['webhook_deliveries', 'throw', webhookSchedule.length],
  ['alert_notices', 'abort', noticeSchedule.length],
  ['port_mails', 'abort', noticeSchedule.length],
] as const)(
  'work of %s that crashes the program (%s) never blocks a start, counts as an attempt each time, and is given up after %i',
  async (queue, way, most) => {
    // The last two attempts that the limit allows, of two rows, because each start takes a second of CPU.
    insert(queue, 'evt_1', most - 2);
    insert(queue, 'evt_2', most - 1);
    // It comes up, says so, and only then crashes on the due work.
    await start(way);
    await control.ended();
    expect(underWay()).toBe(2);
    // It comes up, counts the attempts, and stays up.
    await start(way);
    expect(await healthOf()).toMatchObject({ checks: { database: 'ok' } });
    await expect.poll(underWay).toBe(0);
    const failed = { delivered_at: null, last_error: 'the service ended during the attempt' };
    expect(tried(queue)).toEqual([
      { ...failed, attempts: most - 1, next_attempt_at: expect.any(String) },
      { ...failed, attempts: most, next_attempt_at: null },
    ]);
    expect(await healthOf()).toMatchObject({ checks: { database: 'ok' } });
    await control.end('SIGTERM');
  },
  600_000,
);

/** Creates a pathway and its scenario. Returns their ids. */
async function tested(node: object, assertion: object): Promise<{ pathway_id: string; scenario_id: string }> {
  const { pathway_id } = await control.api.read(PathwayCreated, 'POST', '/v1/pathway/create', {
    name: 'Deadly',
  });
  const nodes = [
    node,
    { id: 'done', type: 'End Call', data: { name: 'Done', text: 'Goodbye.' } },
    { id: 'other', type: 'End Call', data: { name: 'Other', text: 'Sorry.' } },
  ];
  const edges = [{ source: 'first', target: 'done', data: { label: 'success' } }];
  await control.api.ok('POST', `/v1/pathway/${pathway_id}`, { nodes, edges });
  const { id } = await control.api.read(ScenarioAnswer, 'POST', '/v1/agent-testing/scenarios', {
    pathway_id,
    name: 'Deadly',
    scenario_type: 'REPLAY',
    input_messages: [{ role: 'user', content: 'Hello' }],
    assertions: [assertion],
  });
  return { pathway_id, scenario_id: id };
}
const found = <Row>(sql: string) => database((connection) => connection.prepare<[], Row>(sql).get());

it('a test run that crashes the program never blocks a start, counts as an attempt each time, and is given up after three', async () => {
  await start('abort');
  const url = `http://127.0.0.1:${deadlyPort}/`;
  const node = { id: 'first', type: 'Webhook', data: { name: 'First', isStart: true, method: 'GET', url } };
  const assertion = { type: 'NODE_REACHED', config: { node_id: 'done' } };
  const { scenario_id } = await tested(node, assertion);
  // The program may crash before answering.
  await control.api.ok('POST', `/v1/agent-testing/scenarios/${scenario_id}/run`, {}).catch(() => undefined);
  const run = () => found('select status, attempts from test_runs');
  for (const death of [1, 3]) {
    await control.ended();
    expect(run()).toEqual({ status: 'RUNNING', attempts: death });
    // As if the second crash had been.
    if (death === 1) database((connection) => connection.exec('update test_runs set attempts = 2'));
    await start('abort');
  }
  await expect.poll(run, { timeout: 120_000 }).toEqual({ status: 'ERROR', attempts: 4 });
  expect(found('select error_message as told from test_run_records')).toEqual({
    told: 'The run was broken off 3 times and is not tried again.',
  });
  expect(await healthOf()).toMatchObject({ checks: { database: 'ok' } });
  await control.end('SIGTERM');
}, 900_000);

longTest(
  'a tornado step that crashes the program never blocks a start, and ends its session after five',
  async () => {
    // A model does the planning, and is called when a scenario has failed.
    const judge = { LLM_TEST_BASE_URL: `http://127.0.0.1:${deadlyPort}`, LLM_JUDGE_MODEL: 'judge' };
    await start('abort', judge);
    const node = { id: 'first', type: 'Default', data: { name: 'First', isStart: true, text: 'Hello.' } };
    const { pathway_id } = await tested(node, { type: 'NODE_REACHED', config: { node_id: 'other' } });
    await control.api.ok('POST', '/v1/agent-testing/tornado/start', { pathway_id }).catch(() => undefined);
    const tries = () => found("select tries from work_under_way where queue = 'tornado step'");
    for (const death of [1, mostCrashes]) {
      await control.ended();
      expect(tries()).toEqual({ tries: death });
      // As if all but the last had been.
      if (death === 1)
        database((connection) =>
          connection.prepare('update work_under_way set tries = ?').run(mostCrashes - 1),
        );
      await start('abort', judge);
    }
    const session = () => found('select status, error_message as told from test_tornado_sessions');
    await expect
      .poll(session, { timeout: 120_000 })
      .toEqual({ status: 'ERROR', told: 'The service ended again and again during a step.' });
    await expect.poll(tries).toBeUndefined();
    expect(await healthOf()).toMatchObject({ checks: { database: 'ok' } });
    await control.end('SIGTERM');
  },
  900_000,
);
