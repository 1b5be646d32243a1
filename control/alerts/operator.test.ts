/** The operator's disk alert, with a real mail server and webhook: start, escalation, end, no flood of messages. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MailServer, startMailServer } from '../../test/kit/control/alerts.ts';
import { connectEdge, EdgeClient } from '../../test/kit/control/edge-client.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { onDriver } from '../../test/kit/db/driver.ts';
import { databaseQuiet, onSqlite, takeDatabase } from '../../test/kit/db/test-database.ts';
import { endsAfterMs, messageGapMs } from './operator-rules.ts';

interface Post {
  readonly subject: string;
  readonly text: string;
}

let mail: MailServer;
let hook: Server;
let posts: Post[] = [];
let statuses: number[] = [];
let control: TestControl;
let settings: Record<string, string>;
// The clock runs while a message is being sent.
const limits = { alerts: { sendTimeoutMs: 300_000 } };

beforeEach(async () => {
  posts = [];
  statuses = [];
  mail = await startMailServer({ disabledCommands: ['STARTTLS', 'AUTH'] });
  hook = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    posts.push(JSON.parse(Buffer.concat(parts).toString()) as Post);
    response.writeHead(statuses.shift() ?? 200).end();
  });
  await once(hook.listen(0, '127.0.0.1'), 'listening');
  settings = {
    SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    MAIL_FROM: 'Trunkline <trunkline@example.com>',
    METRICS_PUBLIC: 'true',
    OPERATOR_ALERTS: `night@example.com, http://127.0.0.1:${(hook.address() as AddressInfo).port}/secret`,
  };
  control = await startControl(settings, {}, {}, { limits });
});

afterEach(async () => {
  await control.close();
  await mail.close();
  hook.closeAllConnections();
  await once(hook.close(), 'close');
});

/** Lets the checks in this time run, each with what it waits for; by default all. */
async function pass(ms: number, step = 5_000): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    control.clock.advance(step);
    // A check ends with the database's turn, and then sets its timer.
    await databaseQuiet(control.control.services.database);
  }
}
const pragma = (text: string) =>
  onDriver(control.control.services.database.db, (connection) => connection.pragma(text));
const breakDatabase = async () => {
  await pragma('query_only = ON');
  await control.call('POST', '/v1/pathway/create', { body: { name: 'x' } });
};
/** Waits until this many messages have arrived and control knows their results. */
const told = (mails: number, hooks = mails) =>
  expect
    .poll(
      async () => {
        const { text } = await control.call('GET', '/metrics', { key: null });
        const attempts = (channel: string) =>
          [...text.matchAll(new RegExp(`operator_alerts_total\\{channel="${channel}".*\\} (\\d+)`, 'g'))]
            .map(([, count]) => Number(count))
            .reduce((sum, count) => sum + count, 0);
        return [mail.received.length, posts.length, attempts('email'), attempts('webhook')];
      },
      { timeout: 15_000, interval: 100 },
    )
    .toEqual([mails, hooks, mails, hooks]);

describe("the operator's alert", () => {
  it.runIf(onSqlite)(
    "notifies by mail and webhook while control's own database is not writable, and once when it recovers",
    async () => {
      await breakDatabase();
      await pass(5_000);
      await told(1);
      expect(mail.received[0]?.to).toEqual(['night@example.com']);
      expect(mail.received[0]?.headers.subject).toBe('Alert: disk not writable, control');
      expect(posts[0]?.text).toContain('control: its database has not been writable since 2030-01-01T00:00:');
      await pass(3_600_000, 60_000);
      expect(mail.received).toHaveLength(1);
      await pragma('query_only = OFF');
      await pass(endsAfterMs + 10_000);
      await told(2);
      expect(posts[1]?.subject).toBe('Resolved: disk writable again, control');
      expect(mail.received[1]?.headers.references).toBe(mail.received[0]?.headers['message-id']);
      const { text } = await control.call('GET', '/metrics', { key: control.operatorKey });
      expect(text).toContain(
        'trunkline_control_operator_alerts_total{channel="email",outcome="delivered"} 2',
      );
    },
  );

  it('reports a storage of recordings that has failed for minutes, and that it works again', async () => {
    const { db } = control.control.services.database;
    const failing_since = new Date(control.clock.now() - 6 * 60_000).toISOString();
    const settings = {
      url: 'https://s3.example',
      bucket: 'calls',
      region: 'r',
      prefix: '',
      path_style: 1,
    } as const;
    const sealed = { access_key_id: 'id', secret: 'sealed' };
    const history = { created_at: failing_since, retired_at: null, last_error: 'away' };
    await db
      .insertInto('recording_storages')
      .values({
        id: 's',
        org_id: null,
        ...settings,
        ...sealed,
        ...history,
        last_error_at: failing_since,
        failing_since,
        paused_until: null,
      })
      .execute();
    await pass(5_000);
    await told(1);
    expect(posts[0]?.subject).toBe('Alert: storage not writable, storage of recordings');
    expect(posts[0]?.text).toContain(
      'storage of recordings: recordings cannot be brought to it since 2030-01-01T',
    );
    expect(posts[0]?.text).toContain('POST /v1/admin/recording-storage/test');
    expect(posts[0]?.text).not.toContain('Free space');
    await db.updateTable('recording_storages').set({ failing_since: null }).execute();
    await pass(endsAfterMs + messageGapMs);
    await told(2);
    expect(posts[1]?.subject).toBe('Resolved: storage writable again, storage of recordings');
  });

  it('reports an edge whose disk is not writable, and again when the edge rejects calls', async () => {
    const url = `${(await control.url()).replace('http', 'ws')}/v1/edge/link`;
    const edge = await EdgeClient.connect(url, control.edgeToken);
    await edge.next('config');
    const says = async (failing: number, refusing: number) => {
      edge.send({
        type: 'status',
        metrics: { trunkline_edge_storage_failing: failing, trunkline_edge_storage_refuses_calls: refusing },
      });
      const { edges } = control.control.services;
      await expect
        .poll(() => [edges.storage.failing.length, edges.storage.refusing.length])
        .toEqual([failing, refusing]);
    };
    await says(1, 0);
    await pass(5_000);
    await told(1);
    expect(posts[0]?.subject).toBe('Alert: disk not writable, edge edge-1');
    await says(1, 1);
    await pass(messageGapMs + 5_000);
    await told(2);
    expect(posts[1]?.text).toContain('it rejects new calls (503)');
    await says(0, 0);
    await pass(messageGapMs + endsAfterMs + 5_000);
    await told(3);
    expect(posts[2]?.text).toContain('edge edge-1: writes succeed again.');
    await edge.close();
  });

  it.runIf(onSqlite)('retries what the webhook did not accept, without a second mail', async () => {
    statuses = [500, 500];
    await breakDatabase();
    await pass(5_000);
    await told(1, 1);
    await pass(20_000);
    await told(1, 2);
    await pass(65_000);
    await told(1, 3);
    await pass(messageGapMs * 3);
    expect([mail.received.length, posts.length]).toEqual([1, 3]);
  });
});

describe.skipIf(onSqlite)('of several control planes', () => {
  it('one notifies, and the one that takes over knows what was sent', async () => {
    const taken = await takeDatabase();
    const shared = { ...settings, DATABASE_URL: taken.address };
    const first = await startControl(shared, {}, {}, { limits });
    const second = await startControl(shared, {}, {}, { limits });
    const both = [first, second];
    const [leading, following] = first.control.services.replica.held.includes('operator alerts')
      ? both
      : both.toReversed();
    if (!leading || !following) throw new Error('there are no control planes');
    const edge = await connectEdge(following);
    await edge.next('config');
    const says = async (failing: number) => {
      edge.send({ type: 'status', metrics: { trunkline_edge_storage_failing: failing } });
      await expect
        .poll(() => {
          following.clock.advance(100);
          return both.map(({ control: { services } }) => services.edges.storage.failing.length);
        })
        .toEqual([failing, failing]);
    };
    const look = async ({ clock, control: { services } }: TestControl, ms: number) => {
      for (let passed = 0; passed < ms; passed += 5_000) {
        clock.advance(5_000);
        await databaseQuiet(services.database);
      }
    };
    await says(1);
    await look(following, 60_000);
    expect([mail.received.length, posts.length]).toEqual([0, 0]);
    await look(leading, 5_000);
    await expect.poll(() => [mail.received.length, posts.length]).toEqual([1, 1]);
    await expect
      .poll(async () => {
        const { text } = await leading.call('GET', '/metrics', { key: leading.operatorKey });
        return text.match(/^trunkline_control_operator_alerts_total\{.*outcome="delivered"\} 1$/gm);
      })
      .toHaveLength(2);
    // What it has sent is known to the other one a moment later.
    await leading.control.services.bus.close();
    await following.control.services.bus.read();
    await leading.close();
    await following.control.services.replica.settled();
    await look(following, messageGapMs);
    expect([mail.received.length, posts.length]).toEqual([1, 1]);
    edge.send({ type: 'status', metrics: { trunkline_edge_storage_failing: 0 } });
    await expect.poll(() => following.control.services.edges.storage.failing.length).toBe(0);
    await look(following, endsAfterMs + 10_000);
    await expect
      .poll(() => posts.map(({ subject }) => subject.split(',')[0]))
      .toEqual(['Alert: disk not writable', 'Resolved: disk writable again']);
    await edge.kill();
    await following.close();
    await taken.release();
  });
});
