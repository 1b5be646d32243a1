import { describe, expect, it } from 'vitest';
import { PortInitiated, PortList } from '#shared/api/porting.ts';
import {
  address,
  detail,
  information,
  initiate,
  move,
  order,
  portTestOfFile,
  sign,
  smallPdf,
  upload,
} from '../../test/kit/control/porting.ts';

const number = '+14155550100';
const other = '+14155550101';
const mobile = '+447400123456';
const unknownId = 'port_00000000-0000-4000-8000-000000000000';

const test = portTestOfFile();

const post = (body: object, key = test.key) => test.call('POST', '/v1/sip/port/initiate', { body, key });

describe('every customer endpoint', () => {
  const endpoints: ['GET' | 'POST' | 'DELETE', string][] = [
    ['GET', '/v1/sip/port/check?phone_numbers=14155550100'],
    ['POST', '/v1/sip/port/document'],
    ['POST', '/v1/sip/port/initiate'],
    ['GET', '/v1/sip/port'],
    ['GET', `/v1/sip/port/${unknownId}`],
    ['GET', `/v1/sip/port/${unknownId}/letter`],
    ['DELETE', `/v1/sip/port/${unknownId}`],
  ];
  it.each(endpoints)('%s %s requires a key and the SIP entitlement', async (method, url) => {
    expect((await test.call(method, url, { key: null })).codes).toEqual(['AUTH_FAILURE']);
    expect((await test.call(method, url, { key: test.operatorKey })).codes).toEqual(['AUTH_FAILURE']);
    const plain = await test.call(method, url, { key: test.plainKey });
    expect([plain.status, plain.codes]).toEqual([403, ['SIP_NOT_ENABLED']]);
  });

  it.each(endpoints.slice(4))(
    '%s %s answers 404 for unknown, malformed and foreign ids',
    async (method, url) => {
      const { id } = await initiate(test, order([number]), test.foreignKey);
      for (const one of [unknownId, 'nonsense', id]) {
        const answer = await test.call(method, url.replace(unknownId, one));
        expect([answer.status, answer.codes]).toEqual([404, ['PORT_NOT_FOUND']]);
      }
    },
  );
});

describe('check', () => {
  const check = (query: string) => test.call('GET', `/v1/sip/port/check?${query}`);

  it('reports on each number in the order of the request', async () => {
    const answer = await check(
      `phone_numbers[]=${encodeURIComponent(mobile)}&phone_numbers[]=%2B19005550100&phone_numbers[]=+18005550100`,
    );
    expect(answer.body).toEqual({
      data: {
        results: [
          { phone_number: mobile, portable: true, number_type: 'mobile', pin_required: true, reason: null },
          {
            phone_number: '+19005550100',
            portable: false,
            number_type: 'unknown',
            pin_required: false,
            reason: 'Numbers of this kind (premium rate) are not ported.',
          },
          {
            phone_number: '+18005550100',
            portable: true,
            number_type: 'toll-free',
            pin_required: false,
            reason: null,
          },
        ],
      },
      errors: null,
    });
  });

  it('reports a number that is already active here', async () => {
    await test.call('POST', '/v1/sip/attach', { body: { phone_number: number, directions: ['inbound'] } });
    const answer = await check('phone_numbers=14155550100,14155550101');
    expect(answer.body.data?.results).toMatchObject([
      { portable: false, reason: 'The number is active on this service already.' },
      { portable: true },
    ]);
  });

  it('lists malformed entries, and requires 1 to 50', async () => {
    const answer = await check('phone_numbers=14155550100,xyz');
    expect([answer.status, answer.codes]).toEqual([400, ['INVALID_PHONE_NUMBERS']]);
    expect(answer.body.errors).toMatchObject([{ details: { invalid: ['xyz'] } }]);
    expect((await check('')).codes).toEqual(['INVALID_PARAMETER']);
    const many = Array.from({ length: 51 }, () => 'phone_numbers[]=14155550100').join('&');
    expect((await check(many)).codes).toEqual(['INVALID_PARAMETER']);
  });
});

describe('initiate', () => {
  it('accepts a request and shows it in canonical names', async () => {
    const document = (await upload(test, smallPdf)).body.data?.document_sid;
    const answer = await post(
      order([number, '1 415 555 0101', number], {
        target_port_date: '2030-01-31',
        documents: [document],
        pin: '4711',
      }),
    );
    expect(answer.status).toBe(200);
    const { data } = answer.read(PortInitiated);
    expect(data).toEqual({
      port_request_id: expect.stringMatching(/^port_[0-9a-f-]{36}$/),
      status: 'waiting_for_signature',
      signature_url: expect.stringMatching(
        /^https:\/\/voice\.example\.com\/v1\/sip\/port\/sign\/[A-Za-z0-9_-]{43}$/,
      ),
      phone_numbers: [number, other],
    });
    const shown = await detail(test, data.port_request_id);
    expect(shown).toEqual({
      id: data.port_request_id,
      status: 'waiting_for_signature',
      phone_numbers: [
        { number, status: 'waiting_for_signature' },
        { number: other, status: 'waiting_for_signature' },
      ],
      authorized_rep_email: 'ada@example.com',
      notification_emails: ['ops@example.com', 'boss@example.com'],
      target_port_date: '2030-01-31',
      foc_date: null,
      expected_completion: { earliest: '2030-01-31', latest: '2030-01-31' },
      reason: null,
      signature_url: data.signature_url,
      created_at: '2030-01-01T00:00:00.000Z',
      updated_at: '2030-01-01T00:00:00.000Z',
      losing_carrier_information: {
        ...information,
        account_telephone_number: null,
        address: { ...address, street2: null, country: 'US' },
      },
      pin: '********',
      documents: [document],
      signed_at: null,
      signed_name: null,
      history: [
        {
          at: '2030-01-01T00:00:00.000Z',
          from_status: null,
          to_status: 'waiting_for_signature',
          actor: 'customer',
          reason: null,
          phone_numbers: [number, other],
        },
      ],
    });
  });

  it('keeps neither the token nor the PIN readable in the database', async () => {
    const { id, url } = await initiate(test, order([number], { pin: 'secret-pin' }));
    const { db } = test.control.services.database;
    const rows = [
      await db.selectFrom('port_requests').selectAll().execute(),
      await db.selectFrom('port_mails').selectAll().execute(),
    ];
    const text = JSON.stringify(rows);
    expect(text).toContain(id);
    expect(text).not.toContain('secret-pin');
    expect(text).not.toContain(url.slice(-43));
  });

  it('reports all errors in date, PIN, documents and numbers at once', async () => {
    const foreign = (await upload(test, smallPdf, { key: test.foreignKey })).body.data?.document_sid;
    const answer = await post(
      order([mobile, '+19005550100'], {
        target_port_date: '2030-01-07',
        documents: ['doc_nonsense', foreign],
      }),
    );
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toMatchObject([
      { code: 'TARGET_PORT_DATE_TOO_EARLY', details: { earliest: '2030-01-08' } },
      { code: 'PIN_REQUIRED', details: { phone_numbers: [mobile] } },
      { code: 'DOCUMENT_NOT_FOUND', details: { documents: ['doc_nonsense', foreign] } },
      { code: 'NOT_PORTABLE', details: { phone_numbers: ['+19005550100'] } },
    ]);
  });

  it('rejects malformed numbers, unknown properties and a number that is active here', async () => {
    const malformed = await post(order([number, 'abc']));
    expect([malformed.status, malformed.codes]).toEqual([400, ['INVALID_PHONE_NUMBERS']]);
    expect((await post(order([number], { phone: 1 }))).codes).toEqual(['UNKNOWN_PROPERTY']);
    expect((await post({})).codes).toEqual(['INVALID_PARAMETER', 'INVALID_PARAMETER']);
    await test.call('POST', '/v1/sip/attach', {
      body: { phone_number: number, directions: ['inbound'] },
      key: test.foreignKey,
    });
    expect((await post(order([number]))).codes).toEqual(['NOT_PORTABLE']);
  });

  it('rejects a number that is in a request of any organization, until that has ended', async () => {
    const { id } = await initiate(test, order([number, other]), test.foreignKey);
    const answer = await post(order([other, '+14155550102']));
    expect([answer.status, answer.codes]).toEqual([409, ['PORT_ALREADY_IN_PROGRESS']]);
    expect(answer.body.errors).toMatchObject([{ details: { phone_numbers: [other] } }]);
    await test.call('DELETE', `/v1/sip/port/${id}`, { key: test.foreignKey });
    expect((await post(order([other, '+14155550102']))).status).toBe(200);
  });

  it('gives a number to one of two concurrent requests', async () => {
    const answers = await Promise.all([post(order([number])), post(order([number]), test.foreignKey)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('runs once for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'k' };
    const again = () => test.call('POST', '/v1/sip/port/initiate', { body: order([number]), headers });
    const [first, second] = [await again(), await again()];
    expect([first.status, second.body]).toEqual([200, first.body]);
  });
});

describe('the list', () => {
  const list = (query = '') => test.call('GET', `/v1/sip/port${query}`);

  it('is newest first, by status, paged, and of the own organization', async () => {
    const ids: string[] = [];
    for (const last of ['00', '01', '02']) ids.push((await initiate(test, order([`+141555501${last}`]))).id);
    await initiate(test, order(['+14155550103']), test.foreignKey);
    const idsOf = async (query?: string) => {
      const { data } = (await list(query)).read(PortList);
      return data.port_requests.map(({ id }) => id);
    };
    expect(await idsOf()).toEqual([...ids].reverse());
    expect(await idsOf('?limit=1&offset=1')).toEqual([ids[1]]);
    await test.call('DELETE', `/v1/sip/port/${ids[0]}`);
    expect(await idsOf('?status=canceled')).toEqual([ids[0]]);
    expect(await idsOf('?status=completed')).toEqual([]);
  });

  it('rejects an invalid status or page', async () => {
    for (const query of ['?status=x', '?limit=0', '?limit=501', '?offset=-1'])
      expect((await list(query)).codes).toEqual(['INVALID_PARAMETER']);
  });
});

describe('canceling', () => {
  const cancel = (id: string) => test.call('DELETE', `/v1/sip/port/${id}`);

  it('ends a request in any open state, and may be repeated', async () => {
    const { id, path } = await initiate(test, order([number]));
    await sign(test, path);
    await move(test, id, { status: 'in_progress' });
    for (let time = 0; time < 2; time++)
      expect((await cancel(id)).body).toEqual({ data: { canceled: true }, errors: null });
    const shown = await detail(test, id);
    expect(shown.status).toBe('canceled');
    expect(shown.signature_url).toBeNull();
    expect(shown.expected_completion).toBeNull();
    expect(
      shown.history.map(({ actor, from_status, to_status }) => `${actor}: ${from_status} ${to_status}`),
    ).toEqual([
      'customer: null waiting_for_signature',
      'signer: waiting_for_signature submitted',
      'operator: submitted in_progress',
      'customer: in_progress canceled',
    ]);
  });

  it('leaves completed numbers completed', async () => {
    const { id, path } = await initiate(test, order([number, other]));
    await sign(test, path);
    await move(test, id, { status: 'in_progress' });
    await move(test, id, { status: 'completed', phone_numbers: [number] });
    expect((await cancel(id)).status).toBe(200);
    expect((await detail(test, id)).phone_numbers).toEqual([
      { number, status: 'completed' },
      { number: other, status: 'canceled' },
    ]);
    const again = await cancel(id);
    expect([again.status, again.codes]).toEqual([409, ['PORT_NOT_CANCELABLE']]);
    expect(again.body.errors).toMatchObject([{ details: { status: 'completed' } }]);
  });

  it('is rejected for a failed request', async () => {
    const { id } = await initiate(test, order([number]));
    await move(test, id, { status: 'failed', reason: 'wrong account' });
    expect((await cancel(id)).body.errors).toMatchObject([
      { code: 'PORT_NOT_CANCELABLE', details: { status: 'failed' } },
    ]);
  });
});
