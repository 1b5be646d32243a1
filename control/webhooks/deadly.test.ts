/** Background work that ends the real program: each start comes up, each try is counted, and the last one is the last. */
import { join } from 'node:path';
import SqliteFile from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ControlProgram } from '../../test/system/control-program.ts';
import { noticeSchedule } from '../alerts/notice-rules.ts';
import { newDelivery } from '../db/testing/delivery.ts';
import { webhookSchedule } from './rules.ts';

/** Discard (RFC 863): nobody listens, and nothing gets there. */
const deadlyPort = 9;
const hook = join(import.meta.dirname, '..', '..', 'test', 'fakes', 'deadly-port.mjs');

let control: ControlProgram;

beforeEach(async () => {
  control = new ControlProgram({
    DEADLY_PORT: String(deadlyPort),
    SMTP_URL: `smtp://127.0.0.1:${deadlyPort}`,
    MAIL_FROM: 'alerts@example.com',
  });
  await control.start();
  await control.end('SIGTERM');
}, 60_000);
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

/** One due row of each queue that may give up. */
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
};
type Queue = keyof typeof queues;

function insert(queue: Queue): void {
  const row = { ...queues[queue], org_id: control.keys.org_id };
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
    connection.prepare(`select attempts, next_attempt_at, delivered_at, last_error from ${queue}`).get(),
  ) as Tried;

const underWay = () =>
  database((connection) => connection.prepare('select count(*) from work_under_way').pluck().get());

/** Its time has come, whatever the schedule says, after so many tries. */
const makeDue = (queue: Queue, attempts: number) =>
  database((connection) =>
    connection
      .prepare(`update ${queue} set next_attempt_at = ?, attempts = ?`)
      .run(new Date().toISOString(), attempts),
  );

const start = (way: 'abort' | 'throw') =>
  control.start({ DEADLY_WAY: way, NODE_OPTIONS: `--import ${hook}` });

async function healthOf(): Promise<unknown> {
  return (await fetch(`${control.url}/health`)).json();
}

it.each([
  ['webhook_deliveries', 'abort', webhookSchedule.length],
  ['webhook_deliveries', 'throw', webhookSchedule.length],
  ['alert_notices', 'abort', noticeSchedule.length],
] as const)(
  'work of %s that ends the program (%s) never keeps it from coming up, counts as a try each time, and is given up after %i',
  async (queue, way, most) => {
    insert(queue);
    // The first death, and those on both sides of the limit: each costs two starts of the program.
    for (const death of [1, most - 1, most]) {
      makeDue(queue, death - 1);
      // It comes up, says so, and only then dies of the work that is due.
      await start(way);
      await control.ended();
      expect(underWay()).toBe(1);
      // It comes up, counts the try, and stays.
      await start(way);
      expect(await healthOf()).toMatchObject({ checks: { database: 'ok' } });
      await expect.poll(() => tried(queue).attempts, { timeout: 30_000 }).toBe(death);
      await expect.poll(underWay, { timeout: 30_000 }).toBe(0);
      expect(tried(queue)).toMatchObject({
        delivered_at: null,
        last_error: 'the service ended during the attempt',
      });
      if (death < most) {
        expect(tried(queue).next_attempt_at).toEqual(expect.any(String));
        await control.end('SIGTERM');
      }
    }
    expect(tried(queue)).toMatchObject({ attempts: most, next_attempt_at: null });
    expect(await healthOf()).toMatchObject({ checks: { database: 'ok' } });
    await control.end('SIGTERM');
  },
  600_000,
);
