/** One port from the check to active numbers, with real PDF, mail over SMTP and webhook over HTTPS. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MailServer, startMailServer } from '../../test/kit/control/alerts.ts';
import {
  detail,
  initiate,
  move,
  order,
  type PortTest,
  pdfText,
  portTestOfFile,
  sign,
  smallPdf,
  startPortTest,
  upload,
} from '../../test/kit/control/porting.ts';
import { createAuthority } from '../../test/kit/fakes/certificates.ts';
import type { Json } from '../../test/kit/http/answer.ts';

const number = '+14155550100';
const other = '+14155550101';
const authority = createAuthority();
const folder = mkdtempSync(join(tmpdir(), 'ports-'));
const ca = join(folder, 'ca.pem');
writeFileSync(ca, authority.cert);

interface Posted {
  readonly signature: unknown;
  readonly type: unknown;
  readonly body: string;
}

let hooks: Server;
let posted: Posted[] = [];
let mail: MailServer;

beforeAll(async () => {
  hooks = createServer(authority.issue({ names: ['DNS:hooks.example.com'] }), async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const { headers } = request;
    const body = Buffer.concat(parts).toString();
    posted.push({ signature: headers['x-webhook-signature'], type: headers['x-webhook-event'], body });
    response.end();
  });
  await once(hooks.listen(0, '127.0.0.1'), 'listening');
  mail = await startMailServer({ ...authority.issue({ names: ['DNS:localhost'] }), authOptional: true });
});
afterAll(async () => {
  await mail.close();
  hooks.closeAllConnections();
  await once(hooks.close(), 'close');
  rmSync(folder, { recursive: true });
});

const test: PortTest = portTestOfFile(() =>
  startPortTest(
    {
      ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      SMTP_URL: `smtp://localhost:${mail.port}?ca=${ca}`,
      MAIL_FROM: 'Ports <ports@example.net>',
    },
    {
      ca: authority.cert,
      resolve: async () => ['127.0.0.1'],
      random: () => 0.5,
    },
  ),
);
beforeEach(() => {
  posted = [];
  mail.received.length = 0;
  mail.answers.length = 0;
});

async function listen(): Promise<string> {
  const url = `https://hooks.example.com:${(hooks.address() as AddressInfo).port}/ports`;
  await test.call('PATCH', '/v1/org/settings', { body: { event_webhook_url: url } });
  const { body } = await test.call('POST', '/v1/org/webhook-secret');
  return String(body.data?.secret);
}

const undelivered = () =>
  test.control.services.database.db
    .selectFrom('port_mails')
    .select('recipient')
    .where('delivered_at', 'is', null)
    .execute();
const events = () => posted.map(({ body }): Json => JSON.parse(body));

describe('a port', () => {
  it('goes from the check to active numbers, with all notifications', async () => {
    const secret = await listen();

    const checked = await test.call(
      'GET',
      `/v1/sip/port/check?phone_numbers=${number.slice(1)},${other.slice(1)}`,
    );
    expect(checked.body.data?.results).toMatchObject([{ portable: true }, { portable: true }]);

    const document = (await upload(test, smallPdf)).body.data?.document_sid;
    const { id, path, url } = await initiate(test, order([number, other], { documents: [document] }));
    await expect.poll(() => mail.received.length).toBe(1);
    const [asked] = mail.received;
    expect(asked).toMatchObject({
      to: ['ada@example.com'],
      from: 'ports@example.net',
      headers: { subject: 'Please sign: letter of authorization for 2 numbers' },
    });
    for (const text of [url, number, other, 'Own asked to port', 'valid until 2030-01-31'])
      expect(asked?.text).toContain(text);
    expect(posted).toEqual([]);

    // Until control knows that the mail was accepted, advancing time would time out the attempt.
    await expect.poll(undelivered).toEqual([]);
    test.clock.advance(24 * 60 * 60 * 1000);
    expect((await sign(test, path)).status).toBe(200);
    await expect.poll(() => mail.received.length).toBe(3);
    await move(test, id, { status: 'in_progress', foc_date: '2030-01-11' });
    await move(test, id, { status: 'completed', phone_numbers: [number] });
    await move(test, id, { status: 'completed' });
    await expect.poll(() => mail.received.length).toBe(7);
    await expect.poll(() => posted.length).toBe(3);

    const byState = new Map(events().map((event) => [String(event.data?.to_status), event]));
    expect([...byState.keys()].sort()).toEqual(['completed', 'in_progress', 'submitted']);
    expect(byState.get('completed')).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'port.status_changed',
      created_at: '2030-01-02T00:00:00.000Z',
      org_id: test.orgId,
      data: {
        port_request_id: id,
        from_status: 'in_progress',
        to_status: 'completed',
        reason: null,
        phone_numbers: [
          { number, status: 'completed' },
          { number: other, status: 'completed' },
        ],
      },
    });
    for (const { body, signature, type } of posted) {
      expect(type).toBe('port.status_changed');
      expect(signature).toBe(createHmac('sha256', secret).update(body).digest('hex'));
    }

    const told = mail.received.slice(1).map(({ headers, to }) => `${to[0]}: ${headers.subject}`);
    expect(told.sort()).toEqual(
      ['boss@example.com', 'ops@example.com'].flatMap((to) => [
        `${to}: Port of 2 numbers: completed`,
        `${to}: Port of 2 numbers: in progress`,
        `${to}: Port of 2 numbers: submitted`,
      ]),
    );
    const submitted = mail.received.find(({ headers }) => headers.subject?.endsWith('submitted'));
    expect(submitted?.text).toContain('Expected completion: 2030-01-11 to 2030-01-23');
    const progress = mail.received.find(({ headers }) => headers.subject?.endsWith('in progress'));
    expect(progress?.text).toContain('Date confirmed by the losing carrier: 2030-01-11');

    const letter = await test.call('GET', `/v1/admin/ports/${id}/letter`, { key: test.operatorKey });
    const text = pdfText(test.folder, letter.bytes);
    for (const line of [
      number,
      other,
      'Acme Inc.',
      'Signed electronically by Ada Lovelace',
      '2030-01-02T00:00:00.000Z',
    ])
      expect(text).toContain(line);

    const { body } = await test.call('GET', '/v1/inbound');
    expect(body.inbound_numbers).toMatchObject([
      { phone_number: number, source: 'ported' },
      { phone_number: other, source: 'ported' },
    ]);
    const again = await test.call('GET', `/v1/sip/port/check?phone_numbers=${number.slice(1)}`);
    expect(again.body.data?.results).toMatchObject([{ portable: false }]);
    const log = await test.control.services.database.db
      .selectFrom('audit_entries')
      .select(['action', 'actor_kind'])
      .where('subject_id', '=', id)
      .orderBy('at')
      .execute();
    expect(log.map(({ action, actor_kind }) => `${actor_kind} ${action}`).sort()).toEqual([
      'api_key initiate',
      'operator completed',
      'operator completed',
      'operator in_progress',
      'system submitted',
    ]);
  });

  it('reports the reason when it fails, and removes a link that was not yet mailed', async () => {
    await listen();
    mail.answers.push(451, 451, 451, 451);
    const { id } = await initiate(test, order([number]));
    const { db } = test.control.services.database;
    const link = () =>
      db.selectFrom('port_mails').selectAll().where('kind', '=', 'signature').executeTakeFirstOrThrow();
    await expect.poll(async () => (await link()).attempts).toBe(1);
    mail.answers.length = 0;
    await move(test, id, { status: 'failed', reason: 'The account is closed.\nReally' });
    await expect.poll(() => mail.received.length).toBe(2);
    expect(mail.received[0]?.text).toContain('Reason: The account is closed. Really\n');
    await expect.poll(() => posted.length).toBe(1);
    expect(events()[0]?.data).toMatchObject({
      to_status: 'failed',
      reason: 'The account is closed.\nReally',
    });
    expect(await link()).toMatchObject({ next_attempt_at: null, delivered_at: null });
  });

  it('retries its mail when the mail server comes back, with the same Message-ID', async () => {
    mail.answers.push(451);
    await initiate(test, order([number]));
    const { db } = test.control.services.database;
    const row = () => db.selectFrom('port_mails').selectAll().executeTakeFirstOrThrow();
    await expect.poll(async () => (await row()).attempts).toBe(1);
    const waiting = await row();
    expect(waiting).toMatchObject({ next_attempt_at: '2030-01-01T00:00:15.000Z' });
    expect(waiting.last_error).not.toContain('ada@');
    test.clock.advance(15_000);
    test.control.services.announcements.announce('port_mails');
    await expect.poll(() => mail.received.length).toBe(1);
    expect(mail.received[0]?.headers['message-id']).toBe(`<port.${waiting.id}@example.net>`);
  });
});

it("a move that leaves the request's state unchanged sends no notification", async () => {
  await listen();
  const { id, path } = await initiate(test, order([number, other]));
  await sign(test, path);
  await expect.poll(() => posted.length).toBe(1);
  await expect.poll(() => mail.received.length).toBe(3);
  await move(test, id, { status: 'in_progress', phone_numbers: [number] });
  const { db } = test.control.services.database;
  const count = async (table: 'port_mails' | 'webhook_deliveries') =>
    (await db.selectFrom(table).select('id').execute()).length;
  expect([await count('port_mails'), await count('webhook_deliveries')]).toEqual([3, 1]);
  expect((await detail(test, id)).status).toBe('submitted');
});
