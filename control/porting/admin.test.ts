import { describe, expect, it } from 'vitest';
import {
  detail,
  initiate,
  move,
  order,
  portTestOfFile,
  sign,
  smallPdf,
  upload,
} from '../../test/kit/control/porting.ts';
import { changeMail } from './notice-rules.ts';

const number = '+14155550100';
const other = '+14155550101';
const unknownId = 'port_00000000-0000-4000-8000-000000000000';

const test = portTestOfFile();

const get = (path: string, key = test.operatorKey) => test.call('GET', path, { key });

async function signed(numbers: readonly string[]): Promise<string> {
  const { id, path } = await initiate(test, order(numbers));
  expect((await sign(test, path)).status).toBe(200);
  return id;
}

describe('every operator endpoint', () => {
  it.each<['GET' | 'POST', string]>([
    ['GET', '/v1/admin/ports'],
    ['GET', `/v1/admin/ports/${unknownId}`],
    ['GET', `/v1/admin/ports/${unknownId}/letter`],
    ['GET', `/v1/admin/ports/${unknownId}/documents/doc_x`],
    ['POST', `/v1/admin/ports/${unknownId}/status`],
  ])('%s %s requires an operator key', async (method, url) => {
    const customer = await test.call(method, url);
    expect([customer.status, customer.codes]).toEqual([403, ['OPERATOR_KEY_REQUIRED']]);
    expect((await test.call(method, url, { key: null })).status).toBe(401);
    if (url === '/v1/admin/ports') return;
    const answer = await test.call(method, url, {
      key: test.operatorKey,
      ...(method === 'POST' && { body: { status: 'submitted' } }),
    });
    expect([answer.status, answer.codes]).toEqual([404, ['PORT_NOT_FOUND']]);
  });
});

describe('the list', () => {
  it('has the requests of all organizations, newest first, and the total', async () => {
    const own = await initiate(test, order([number]));
    const foreign = await initiate(test, order([other]), test.foreignKey);
    const all = await get('/v1/admin/ports?limit=1');
    expect(all.body.data).toMatchObject({
      port_requests: [{ id: foreign.id, org_id: test.foreignOrgId }],
      total_count: 2,
    });
    const ofOwn = await get(`/v1/admin/ports?org_id=${test.orgId}`);
    expect(ofOwn.body.data).toMatchObject({
      port_requests: [{ id: own.id, org_id: test.orgId }],
      total_count: 1,
    });
    expect((await get('/v1/admin/ports?status=submitted')).body.data).toMatchObject({ total_count: 0 });
    expect((await get('/v1/admin/ports?org_id=x')).codes).toEqual(['INVALID_PARAMETER']);
    const nobody = await get('/v1/admin/ports?org_id=00000000-0000-4000-8000-000000000000');
    expect(nobody.body.data).toEqual({ port_requests: [], total_count: 0 });
  });
});

describe('moving', () => {
  it('passes through the states, number by number, with date and reason', async () => {
    const id = await signed([number, other]);
    const first = await move(test, id, {
      status: 'in_progress',
      phone_numbers: ['1 415 555 0100'],
      foc_date: '2030-01-10',
    });
    expect(first.body.data?.port_request).toMatchObject({
      org_id: test.orgId,
      status: 'submitted',
      foc_date: '2030-01-10',
      expected_completion: { earliest: '2030-01-10', latest: '2030-01-10' },
    });
    await move(test, id, { status: 'in_progress' });
    await move(test, id, { status: 'completed', phone_numbers: [number] });
    const last = await move(test, id, { status: 'failed', reason: 'wrong PIN' });
    expect(last.body.data?.port_request).toMatchObject({
      status: 'completed',
      reason: 'wrong PIN',
      phone_numbers: [
        { number, status: 'completed' },
        { number: other, status: 'failed' },
      ],
    });
    const { history } = await detail(test, id);
    expect(history.slice(2)).toMatchObject([
      { from_status: 'submitted', to_status: 'in_progress', actor: 'operator', phone_numbers: [number] },
      { from_status: 'submitted', to_status: 'in_progress', phone_numbers: [other] },
      { from_status: 'in_progress', to_status: 'completed', phone_numbers: [number] },
      { from_status: 'in_progress', to_status: 'failed', reason: 'wrong PIN', phone_numbers: [other] },
    ]);
  });

  it('changes nothing when repeated', async () => {
    const id = await signed([number]);
    for (const status of ['submitted', 'in_progress', 'in_progress', 'completed', 'completed'])
      expect((await move(test, id, { status })).status).toBe(200);
    expect((await detail(test, id)).history).toHaveLength(4);
  });

  it('is rejected against the table, and changes nothing', async () => {
    const { id, path } = await initiate(test, order([number, other]));
    const early = await move(test, id, { status: 'submitted' });
    expect([early.status, early.codes]).toEqual([409, ['INVALID_TRANSITION']]);
    expect(early.body.errors).toMatchObject([
      { details: { phone_number: number, from: 'waiting_for_signature', to: 'submitted' } },
    ]);
    await sign(test, path);
    await move(test, id, { status: 'in_progress', phone_numbers: [number] });
    const mixed = await move(test, id, { status: 'completed' });
    expect(mixed.body.errors).toMatchObject([
      { code: 'INVALID_TRANSITION', details: { phone_number: other, from: 'submitted', to: 'completed' } },
    ]);
    expect((await detail(test, id)).phone_numbers).toMatchObject([
      { status: 'in_progress' },
      { status: 'submitted' },
    ]);
    await move(test, id, { status: 'canceled', reason: 'x' });
    expect((await move(test, id, { status: 'in_progress' })).codes).toEqual(['INVALID_TRANSITION']);
  });

  it('requires a reason, a date that exists, and numbers of the request', async () => {
    const id = await signed([number]);
    for (const status of ['failed', 'canceled'])
      expect((await move(test, id, { status })).body.errors).toMatchObject([
        { code: 'INVALID_PARAMETER', details: { path: '/reason' } },
      ]);
    expect((await move(test, id, { status: 'in_progress', foc_date: '2030-02-30' })).codes).toEqual([
      'INVALID_PARAMETER',
    ]);
    expect((await move(test, id, { status: 'waiting_for_signature' })).codes).toEqual(['INVALID_PARAMETER']);
    for (const phone_numbers of [[other], ['x']])
      expect((await move(test, id, { status: 'in_progress', phone_numbers })).codes).toEqual([
        'INVALID_PHONE_NUMBERS',
      ]);
  });
});

describe('a request whose numbers end differently', () => {
  it('is reported with how many completed and failed, and why, even without a reason at the end', async () => {
    await test.call('PATCH', '/v1/org/settings', {
      body: { event_webhook_url: 'https://hooks.example.com/all' },
    });
    const id = await signed([number, other]);
    await move(test, id, { status: 'in_progress' });
    await move(test, id, { status: 'failed', phone_numbers: [number], reason: 'Wrong account number' });
    await move(test, id, { status: 'completed' });
    const { db } = test.control.services.database;
    const mails = await db.selectFrom('port_mails').select('subject').execute();
    expect(mails.map(({ subject }) => subject)).toContain('Port of 2 numbers: 1 completed, 1 failed');
    const mail = changeMail({
      requestId: id,
      organization: 'Acme',
      from: 'in_progress',
      to: 'completed',
      reason: 'Wrong account number',
      reasons: new Map([[number, 'Wrong account number']]),
      numbers: [
        { number, status: 'failed' },
        { number: other, status: 'completed' },
      ],
      focDate: null,
      expected: null,
    });
    expect(mail.text).toContain('has ended: 1 completed, 1 failed.');
    expect(mail.text).toContain('Reason: Wrong account number');
    const events = await db
      .selectFrom('webhook_deliveries')
      .selectAll()
      .where('subject_id', '=', id)
      .execute();
    const data = events.map(({ body }) => JSON.parse(body ?? '{}').data);
    expect(data.find(({ to_status }) => to_status === 'completed')).toMatchObject({
      reason: 'Wrong account number',
      phone_numbers: [
        { number, status: 'failed' },
        { number: other, status: 'completed' },
      ],
    });
  });
});

describe('a completed number', () => {
  async function inProgress(): Promise<string> {
    const id = await signed([number]);
    await move(test, id, { status: 'in_progress' });
    return id;
  }

  it('is an inbound number of the organization, and is published to the edges', async () => {
    const id = await inProgress();
    const before = await test.control.services.edgeConfig.version();
    await move(test, id, { status: 'completed' });
    const held = await test.call('GET', '/v1/inbound/14155550100');
    expect(held.body).toMatchObject({ phone_number: number, source: 'ported' });
    expect(await test.control.services.edgeConfig.version()).toBeGreaterThan(before);
  });

  it('stays one when SIP is attached and detached again', async () => {
    await move(test, await inProgress(), { status: 'completed' });
    await test.call('POST', '/v1/sip/attach', { body: { phone_number: number, directions: ['inbound'] } });
    const detached = await test.call('POST', '/v1/sip/detach', {
      body: { phone_number: number, directions: ['inbound'] },
    });
    expect(detached.body.data).toMatchObject({ detached: [number] });
    expect((await test.call('GET', '/v1/inbound/14155550100')).body).toMatchObject({ source: 'ported' });
  });

  it("keeps the organization's earlier SIP settings", async () => {
    const id = await inProgress();
    await test.call('POST', '/v1/sip/attach', { body: { phone_number: number, directions: ['inbound'] } });
    await test.call('POST', '/v1/inbound/14155550100', { body: { prompt: 'Be kind.' } });
    await move(test, id, { status: 'completed' });
    expect((await test.call('GET', '/v1/inbound/14155550100')).body).toMatchObject({
      source: 'ported',
      prompt: 'Be kind.',
    });
  });

  it('is rejected while another organization holds it', async () => {
    const id = await inProgress();
    await test.call('POST', '/v1/sip/attach', {
      body: { phone_number: number, directions: ['inbound'] },
      key: test.foreignKey,
    });
    const answer = await move(test, id, { status: 'completed' });
    expect([answer.status, answer.codes]).toEqual([409, ['NUMBER_IN_USE']]);
    expect((await detail(test, id)).status).toBe('in_progress');
  });
});

describe('what an operator sends to the carrier', () => {
  it('is available as downloads: the letter and the documents', async () => {
    const document = String((await upload(test, smallPdf)).body.data?.document_sid);
    const { id } = await initiate(test, order([number], { documents: [document] }));
    const letter = await get(`/v1/admin/ports/${id}/letter`);
    expect(letter.bytes.subarray(0, 5).toString()).toBe('%PDF-');
    const words = await get(`/v1/admin/ports/${id}/letter?format=text`);
    expect([words.headers['content-type'], words.text]).toEqual([
      'text/plain; charset=utf-8',
      expect.stringContaining(`Request ${id}\n`),
    ]);
    const file = await get(`/v1/admin/ports/${id}/documents/${document}`);
    expect(file.bytes).toEqual(smallPdf);
    expect(file.headers).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename="${document}.pdf"`,
      'content-security-policy': "default-src 'none'; sandbox",
    });
    expect((await get(`/v1/admin/ports/${id}`)).body.data?.port_request).toMatchObject({
      documents: [document],
    });
  });
});
