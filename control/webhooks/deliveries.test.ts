import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import { callRecord, connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { createAuthority } from '../../test/kit/fakes/certificates.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const authority = createAuthority();
let server: Server;
let port = 0;
/** Status codes of the target's answers, in order; then 200. Null: no answer. */
let answers: (number | null)[] = [];
let received: Received[] = [];
let addresses: Record<string, string[]> = {};

beforeAll(async () => {
  const pair = authority.issue({ names: ['DNS:hooks.example.com', 'DNS:other.example.com', 'IP:127.0.0.1'] });
  server = createServer(pair, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const [status = 200] = answers.splice(0, 1);
      received.push({
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(parts).toString(),
      });
      if (status === null) return;
      response.writeHead(status, { location: '/elsewhere' }).end('thanks');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(() =>
  releaseAll(
    () => server.closeAllConnections(),
    () => server.close(),
    () => once(server, 'close'),
  ),
);

const start = (env: Record<string, string>): Promise<TestControl> =>
  startControl(env, {
    ca: authority.cert,
    // The second attempt is due 10.8 s after the first.
    random: () => 0.9,
    resolve: async (host) => addresses[host] ?? ['127.0.0.1'],
  });
const shared = emptiedForEach(() => start({ ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' }));
/** The shared one, or a test's own with other settings. */
let test: TestControl;
let edge: EdgeClient;
let seq = 1;
beforeEach(async () => {
  answers = [];
  received = [];
  addresses = {};
  await use(shared);
});
afterEach(async () => {
  await edge.kill();
  if (test !== shared) return test.close();
  const { db } = test.control.services.database;
  // Nothing is posted any more once no attempt is under way, so nothing comes during the next test.
  await db.updateTable('webhook_deliveries').set({ next_attempt_at: null }).execute();
  const underWay = db.selectFrom('work_under_way').select('id');
  await expect
    .poll(() => {
      // Of a request that has no answer.
      server.closeAllConnections();
      return underWay.execute();
    })
    .toEqual([]);
});

async function use(one: TestControl): Promise<void> {
  test = one;
  seq = 1;
  await test.call('POST', '/v1/sip/attach', { body: { phone_number: number, directions: ['inbound'] } });
  edge = await connectEdge(test);
}

const number = '+14155550100';
const hook = (path: string, host = 'hooks.example.com') => `https://${host}:${port}${path}`;
const setNumberHook = (webhook: string) => test.call('POST', `/v1/inbound/${number}`, { body: { webhook } });
const setEventHook = (event_webhook_url: string) =>
  test.call('PATCH', '/v1/org/settings', { body: { event_webhook_url } });

async function report(changes: Partial<CallRecord> = {}): Promise<void> {
  edge.send(reportFrame(seq++, [{ type: 'call', call: callRecord(test.orgId, changes) }]));
  await edge.next('ack');
}

const row = () =>
  test.control.services.database.db.selectFrom('webhook_deliveries').selectAll().executeTakeFirst();
/** Waits for the attempt to be stored. */
async function attempted(times: number) {
  await expect.poll(async () => (await row())?.attempts).toBe(times);
  return row();
}

/** Advances to the next attempt. Returns the seconds since the first. */
async function moveToNext(): Promise<number> {
  const delivery = await row();
  const due = Date.parse(delivery?.next_attempt_at ?? '');
  await edge.kill();
  test.clock.advance(due - test.clock.now());
  return (due - Date.parse(delivery?.first_attempt_at ?? '')) / 1000;
}

describe('call.completed', () => {
  it('posts the signed call record, with its transcript, to the URL of the number', async () => {
    await setNumberHook(hook('/calls?a=1'));
    edge.send(
      reportFrame(seq++, [
        {
          type: 'transcript',
          call_id: '00000000-0000-4000-8000-000000000001',
          entries: [
            {
              id: 't',
              at: '2030-01-01T00:00:03.000Z',
              user: 'user',
              text: 'Hi',
              node_id: null,
              node_name: null,
            },
          ],
        },
      ]),
    );
    await report();
    const delivery = await attempted(1);
    const [got] = received;
    const { body } = await test.call('GET', '/v1/calls/00000000-0000-4000-8000-000000000001');
    expect(JSON.parse(got?.body ?? '')).toEqual(body);
    expect(body.concatenated_transcript).toBe('user: Hi');
    const { signing_secret } = (await test.control.services.edgeConfig.snapshot()).organizations.find(
      (organization) => organization.org_id === test.orgId,
    ) ?? { signing_secret: '' };
    expect(got).toMatchObject({
      path: '/calls?a=1',
      headers: {
        'content-type': 'application/json',
        'x-webhook-signature': createHmac('sha256', signing_secret)
          .update(got?.body ?? '')
          .digest('hex'),
        'x-webhook-id': delivery?.id,
        'x-webhook-timestamp': '1893456000',
        'x-webhook-event': 'call.completed',
      },
    });
    expect(delivery).toMatchObject({ last_status: 200, next_attempt_at: null });
    expect(delivery?.id).toMatch(/^evt_[0-9a-f-]{36}$/);
    // Sent again on demand, it is the same event.
    const again = await test.call('POST', `/v1/org/webhook-deliveries/${delivery?.id}/redeliver`);
    expect(again.status).toBe(200);
    await attempted(1);
    expect(received.map(({ body: text, headers }) => [text, headers['x-webhook-id']])).toEqual([
      [got?.body, delivery?.id],
      [got?.body, delivery?.id],
    ]);
  });

  it('goes to the URL of the organization when the number has none, and once per call', async () => {
    await setEventHook(hook('/events'));
    await report({ ended_at: null, status: 'in-progress' });
    expect(await row()).toBeUndefined();
    await report();
    await attempted(1);
    await report();
    expect(received.map(({ path }) => path)).toEqual(['/events']);
    const { db } = test.control.services.database;
    expect(await db.selectFrom('webhook_deliveries').select('id').execute()).toHaveLength(1);
  });

  it('goes to the URL of the call rather than of its number', async () => {
    await test.call('POST', '/v1/sip/attach', {
      body: { phone_number: number, directions: [{ type: 'outbound', sip_endpoint: 'trunk.example.com' }] },
    });
    await setNumberHook(hook('/number'));
    const answer = test.call('POST', '/v1/calls', {
      body: { phone_number: '1001', task: 'x', webhook: hook('/call') },
    });
    const { id } = await edge.next('command');
    edge.send({ type: 'result', id, ok: true });
    const { call_id } = (await answer).body;
    await report({ id: String(call_id), direction: 'outbound' });
    await attempted(1);
    expect(received).toMatchObject([{ path: '/call' }]);
  });

  it('is not sent without a URL, or for test calls', async () => {
    await report();
    await setNumberHook(hook('/calls'));
    await report({ id: 'tc_00000000-0000-4000-8000-000000000002' });
    expect(await row()).toBeUndefined();
  });

  it('is tried five times at most, with one id, and follows no redirect', async () => {
    answers = [500, 302, 404, 503, 500];
    await setNumberHook(hook('/calls'));
    await report();
    const seconds: number[] = [0];
    for (let attempt = 1; attempt < 5; attempt++) {
      await attempted(attempt);
      seconds.push(await moveToNext());
    }
    expect(await attempted(5)).toMatchObject({ next_attempt_at: null, delivered_at: null, last_status: 500 });
    expect(received.map(({ path }) => path)).toEqual(Array(5).fill('/calls'));
    expect(new Set(received.map(({ headers }) => headers['x-webhook-id'])).size).toBe(1);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(seconds).toEqual([0, 10.8, 54, 216, 604.8]);
  });

  it('is delivered by a later attempt, signed with the secret of that time', async () => {
    answers = [500];
    await setNumberHook(hook('/calls'));
    await report();
    await attempted(1);
    const { body } = await test.call('POST', '/v1/org/webhook-secret');
    await moveToNext();
    expect(await attempted(2)).toMatchObject({ last_status: 200, next_attempt_at: null });
    const [, second] = received;
    expect(received.map(({ headers }) => headers['x-webhook-attempt'])).toEqual(['1', '2']);
    expect(second?.headers['x-webhook-signature']).toBe(
      createHmac('sha256', String(body.data?.secret))
        .update(second?.body ?? '')
        .digest('hex'),
    );
  });

  it('is given up at a 410', async () => {
    answers = [410];
    await setNumberHook(hook('/calls'));
    await report();
    expect(await attempted(1)).toMatchObject({ last_status: 410, next_attempt_at: null, delivered_at: null });
  });

  it('times out after 10 s without an answer', async () => {
    answers = [null];
    await setNumberHook(hook('/calls'));
    await report();
    await expect.poll(() => received.length).toBe(1);
    test.clock.advance(10_000);
    expect(await attempted(1)).toMatchObject({ last_status: null, last_error: 'no answer within 10000 ms' });
  });

  it('does not delay other organizations', async () => {
    const { announcements, database } = test.control.services;
    const insert = (org_id: string, path: string, index = 0) =>
      database.db
        .insertInto('webhook_deliveries')
        .values({
          id: `evt_${path}${index}`,
          org_id,
          type: 'test',
          url: hook(path),
          subject_id: '',
          body: '{}',
          created_at: '2030-01-01T00:00:00.000Z',
          first_attempt_at: null,
          attempts: 0,
          next_attempt_at: '2030-01-01T00:00:00.000Z',
          delivered_at: null,
          last_status: null,
          last_error: null,
        })
        .execute();
    answers = Array(8).fill(null);
    for (let index = 0; index < 100; index++) await insert(test.orgId, '/slow', index);
    announcements.announce('webhooks');
    await expect.poll(() => received.length).toBe(8);
    await insert(test.foreignOrgId, '/other');
    announcements.announce('webhooks');
    await expect.poll(() => received.length).toBe(9);
    expect(received.map(({ path }) => path)).toEqual([...Array(8).fill('/slow'), '/other']);
  });

  it('contacts no name with a private address, and nothing that is not listening', async () => {
    addresses = { 'hooks.example.com': ['127.0.0.1', '10.0.0.1'] };
    await setNumberHook(hook('/calls'));
    await report();
    expect((await attempted(1))?.last_error).toMatch(
      /^hooks\.example\.com is not an allowed target: 10\.0\.0\.1/,
    );
    expect(received).toEqual([]);
  });

  it('contacts no loopback address unless the deployment allows it', async () => {
    await edge.kill();
    await use(await start({}));
    await setNumberHook(hook('/calls'));
    await report();
    expect((await attempted(1))?.last_error).toContain('127.0.0.1 is a loopback address');
    expect(received).toEqual([]);
  });

  it('rejects a certificate for another name', async () => {
    await setNumberHook(hook('/calls', 'wrong.example.com'));
    await report();
    expect((await attempted(1))?.last_error).toContain('wrong.example.com');
    expect(received).toEqual([]);
  });
});
