import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  detail,
  initiate,
  order,
  type PortTest,
  pdfText,
  portTestOfFile,
  sign,
  smallPdf,
  startPortTest,
  upload,
} from '../../test/kit/control/porting.ts';
import {
  type CarrierService,
  carrierKey,
  carrierOrderId,
  carrierSignature,
  startCarrier,
  webhookSecret,
} from '../../test/kit/control/porting-carrier.ts';
import { isSigned, orderPauseMs, orderState } from './carrier-rules.ts';
import { orderSubject } from './orders-store.ts';

const number = '+14155550100';
const other = '+14155550101';

let carrier: CarrierService;
beforeAll(async () => {
  carrier = await startCarrier();
});
afterAll(() => carrier.close());
const test: PortTest = portTestOfFile(() =>
  startPortTest(
    {
      PORTING_CARRIER_URL: `${carrier.url}/`,
      PORTING_CARRIER_KEY: carrierKey,
      PORTING_WEBHOOK_SECRET: webhookSecret,
    },
    { random: () => 0.5 },
  ),
);
beforeEach(() => carrier.reset());

const paths = () => carrier.requests.map(({ method, path }) => `${method} ${path}`);
const orderRow = (id: string) =>
  test.control.services.database.db
    .selectFrom('port_orders')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
const stateOf = async (id: string) => (await orderRow(id)).state;
const statusOf = async (id: string) => (await detail(test, id)).status;

async function signed(numbers: readonly string[], more: object = {}): Promise<string> {
  const { id, path } = await initiate(test, order(numbers, more));
  carrier.requests.length = 0;
  expect((await sign(test, path)).status).toBe(200);
  return id;
}

/** Triggers the next query to the carrier. */
async function later(id: string): Promise<void> {
  const { next_attempt_at } = await orderRow(id);
  test.clock.advance(Date.parse(next_attempt_at ?? '') - test.clock.now());
  test.control.services.announcements.announce(orderSubject);
}

function event(body: string, headers: Record<string, string>) {
  return test.control.app.inject({
    method: 'POST',
    url: '/v1/carrier/porting-events',
    headers,
    payload: body,
  });
}

describe('a signed request', () => {
  it('is submitted once, with letter, documents and everything the carrier needs', async () => {
    const document = (await upload(test, smallPdf)).body.data?.document_sid;
    const id = await signed([number, other], { documents: [document], pin: '4711' });
    await expect.poll(() => stateOf(id)).toBe('following');
    expect(paths()).toEqual(['POST /porting/documents', 'POST /porting/documents', 'POST /porting/orders']);
    const [letter, proof, submitted] = carrier.requests;
    expect(letter?.headers).toMatchObject({
      authorization: `Bearer ${carrierKey}`,
      'content-type': 'application/pdf',
    });
    expect(pdfText(test.folder, letter?.body ?? Buffer.alloc(0))).toContain(
      'Signed electronically by Ada Lovelace',
    );
    expect(proof?.body).toEqual(smallPdf);
    expect(submitted?.headers).toMatchObject({ 'idempotency-key': id, 'content-type': 'application/json' });
    expect(JSON.parse(String(submitted?.body))).toEqual({
      reference: id,
      phone_numbers: [number, other],
      requested_date: '2030-01-08',
      customer_type: 'business',
      business_name: 'Acme Inc.',
      authorized_name: 'Ada Lovelace',
      authorized_email: 'ada@example.com',
      account_number: 'AC-1',
      billing_phone_number: null,
      pin: '4711',
      service_address: {
        street: '1 Main St',
        street2: null,
        city: 'San Francisco',
        state: 'CA',
        zip: '94105',
        country: 'US',
      },
      documents: [
        { id: 'file-1', type: 'letter_of_authorization' },
        { id: 'file-2', type: 'proof_of_ownership' },
      ],
    });
    expect(await statusOf(id)).toBe('submitted');
  });

  it('follows the order through its states until the numbers are held', async () => {
    const id = await signed([number, other]);
    await expect.poll(() => stateOf(id)).toBe('following');
    carrier.order = { status: 'FOC received', foc_date: '2030-01-15T00:00:00Z' };
    await later(id);
    await expect.poll(() => statusOf(id)).toBe('in_progress');
    expect((await detail(test, id)).foc_date).toBe('2030-01-15');
    carrier.order = {
      status: 'in-process',
      phone_numbers: [
        { phone_number: '14155550100', status: 'ported' },
        { phone_number: other, status: 'rejected', reason: 'Not on this account' },
      ],
    };
    await later(id);
    await expect.poll(() => stateOf(id)).toBe('done');
    const shown = await detail(test, id);
    expect(shown).toMatchObject({
      status: 'completed',
      reason: 'Not on this account',
      phone_numbers: [
        { number, status: 'completed' },
        { number: other, status: 'failed' },
      ],
    });
    expect(shown.history.map(({ actor }) => actor)).toEqual([
      'customer',
      'signer',
      'system',
      'system',
      'system',
    ]);
    expect((await test.call('GET', '/v1/inbound/14155550100')).body).toMatchObject({ source: 'ported' });
  });

  it('passes through states that a carrier skips', async () => {
    carrier.order = { status: 'completed' };
    const id = await signed([number]);
    await expect.poll(() => statusOf(id)).toBe('completed');
    const { history } = await detail(test, id);
    expect(history.map(({ to_status }) => to_status)).toEqual([
      'waiting_for_signature',
      'submitted',
      'in_progress',
      'completed',
    ]);
  });

  it('stays unchanged when the carrier reports an unknown state', async () => {
    carrier.order = { status: 'pondering' };
    const id = await signed([number]);
    await expect.poll(() => stateOf(id)).toBe('following');
    expect(await statusOf(id)).toBe('submitted');
  });

  it("fails with the carrier's reason when it rejects the order", async () => {
    carrier.answers.push(
      { status: 200, body: { id: 'f' } },
      { status: 422, body: { errors: [{ detail: 'No such account' }] } },
    );
    const id = await signed([number]);
    await expect.poll(() => statusOf(id)).toBe('failed');
    expect(await detail(test, id)).toMatchObject({ reason: 'Rejected by the carrier: No such account' });
    expect(await stateOf(id)).toBe('done');
  });

  it.each<[string, CarrierService['answers'][number]]>([
    ['answers 503', 503],
    ['rejects the key', 401],
    ['closes the connection', 'none'],
    ['answers something else', { status: 200, body: { hello: 1 } }],
    ['redirects', 302],
  ])('is retried when the carrier %s', async (_what, answer) => {
    carrier.answers.push(answer);
    const id = await signed([number]);
    await expect.poll(async () => (await orderRow(id)).attempts).toBe(1);
    expect((await orderRow(id)).next_attempt_at).toBe('2030-01-01T00:00:10.000Z');
    await later(id);
    await expect.poll(() => stateOf(id)).toBe('following');
    expect((await orderRow(id)).attempts).toBe(0);
  });

  it('is not completed while another organization holds the number, and continues afterward', async () => {
    const id = await signed([number]);
    await expect.poll(() => stateOf(id)).toBe('following');
    const attach = { phone_number: number, directions: ['inbound'] };
    await test.call('POST', '/v1/sip/attach', { body: attach, key: test.foreignKey });
    carrier.order = { status: 'completed' };
    await later(id);
    await expect.poll(() => statusOf(id)).toBe('in_progress');
    await test.call('POST', '/v1/sip/detach', { body: attach, key: test.foreignKey });
    await later(id);
    await expect.poll(() => statusOf(id)).toBe('completed');
  });
});

describe('a canceled request', () => {
  it('is canceled at the carrier', async () => {
    const id = await signed([number]);
    await expect.poll(() => stateOf(id)).toBe('following');
    await test.call('DELETE', `/v1/sip/port/${id}`);
    await expect.poll(() => stateOf(id)).toBe('done');
    expect(paths().at(-1)).toBe(`POST /porting/orders/${encodeURIComponent(carrierOrderId)}/cancel`);
  });

  it('is canceled even when the carrier’s response was lost', async () => {
    carrier.answers.push({ status: 200, body: { id: 'f' } }, 'none');
    const id = await signed([number]);
    await expect.poll(async () => (await orderRow(id)).attempts).toBe(1);
    await test.call('DELETE', `/v1/sip/port/${id}`);
    await expect.poll(() => stateOf(id)).toBe('done');
    expect(paths().slice(-2)).toEqual([
      `GET /porting/orders?reference=${id}`,
      `POST /porting/orders/${encodeURIComponent(carrierOrderId)}/cancel`,
    ]);
  });

  it('is done when the carrier has already ended it', async () => {
    const id = await signed([number]);
    await expect.poll(() => stateOf(id)).toBe('following');
    carrier.answers.push(409);
    await test.call('DELETE', `/v1/sip/port/${id}`);
    await expect.poll(() => stateOf(id)).toBe('done');
  });
});

describe('the carrier’s webhook', () => {
  const body = JSON.stringify({ order_id: carrierOrderId, status: 'completed' });

  it('triggers a query of the order, and is not trusted itself', async () => {
    const id = await signed([number]);
    await expect.poll(() => stateOf(id)).toBe('following');
    const asked = carrier.requests.length;
    const answer = await event(body, carrierSignature(body, test.clock.now()));
    expect([answer.statusCode, answer.json()]).toEqual([200, { data: { received: true }, errors: null }]);
    await expect.poll(() => carrier.requests.length).toBe(asked + 1);
    expect(await statusOf(id)).toBe('submitted');
    carrier.order = { status: 'completed' };
    await event(body, carrierSignature(body, test.clock.now()));
    await expect.poll(() => statusOf(id)).toBe('completed');
  });

  it("is rejected without a signature, with an old one, and with another secret's", async () => {
    const now = test.clock.now();
    for (const headers of [
      { 'content-type': 'application/json' },
      carrierSignature(body, now - 301_000),
      carrierSignature(body, now, 'other'),
      carrierSignature(`${body} `, now),
    ])
      expect((await event(body, headers)).statusCode).toBe(401);
    for (const text of ['{', '{}', '[]', '{"order_id":1}'])
      expect((await event(text, carrierSignature(text, now))).statusCode).toBe(400);
    const unknown = JSON.stringify({ order_id: 'other' });
    expect((await event(unknown, carrierSignature(unknown, now))).statusCode).toBe(200);
  });
});

describe('a check', () => {
  const check = () => test.call('GET', `/v1/sip/port/check?phone_numbers=${encodeURIComponent(number)}`);

  it('asks the carrier, which distinguishes mobile from landline numbers', async () => {
    const mobile = { phone_number: number, portable: true, number_type: 'mobile', pin_required: true };
    carrier.portability = { status: 200, body: { results: [mobile] } };
    expect((await check()).body.data?.results).toEqual([
      { phone_number: number, portable: true, number_type: 'mobile', pin_required: true, reason: null },
    ]);
    const refused = await test.call('POST', '/v1/sip/port/initiate', { body: order([number]) });
    expect(refused.codes).toEqual(['PIN_REQUIRED']);
    const refusal = { phone_number: number, portable: false, reason: 'No agreement' };
    carrier.portability = { status: 200, body: { results: [refusal] } };
    expect((await check()).body.data?.results).toMatchObject([{ portable: false, reason: 'No agreement' }]);
  });

  it('uses the numbering plan when the carrier offers no check, and answers 503 when the carrier is unavailable', async () => {
    expect((await check()).body.data?.results).toMatchObject([{ portable: true, number_type: 'unknown' }]);
    carrier.portability = 500;
    expect((await check()).codes).toEqual(['SERVICE_UNAVAILABLE']);
  });
});

describe('the rules', () => {
  it('read states of an order for all numbers, or for each', () => {
    const answer = {
      id: 'x',
      status: 'Processing',
      foc_date: '2030-13-01',
      phone_numbers: [{ phone_number: other, status: 'CANCELLED', reason: '' }],
    };
    expect(orderState(answer, [number, other])).toEqual({
      id: 'x',
      focDate: null,
      numbers: [
        { number, status: 'in_progress', reason: null },
        { number: other, status: 'failed', reason: null },
      ],
    });
  });

  it('pause longer and longer, up to an hour', () => {
    expect([1, 2, 3, 6, 7, 100].map((attempts) => orderPauseMs(attempts, 0.5))).toEqual([
      10_000, 30_000, 120_000, 3_600_000, 3_600_000, 3_600_000,
    ]);
  });

  it('accept a signature of the last five minutes', () => {
    const headers = carrierSignature('{}', 0);
    const [timestamp, signature] = [headers['x-webhook-timestamp'], headers['x-webhook-signature']];
    const isGood = (now: number) => isSigned('{}', timestamp, signature, webhookSecret, now);
    expect([0, 300_000, 300_001].map(isGood)).toEqual([true, true, false]);
    expect(isSigned('{}', timestamp, 'ab', webhookSecret, 0)).toBe(false);
    expect(isSigned('{}', 'x', signature, webhookSecret, 0)).toBe(false);
  });
});
