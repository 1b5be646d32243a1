import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyCharacter } from '../../test/kit/any-character.ts';
import {
  information,
  initiate,
  multipartBody,
  multipartType,
  order,
  type PortTest,
  sign,
  startPortTest,
} from '../../test/kit/control/porting.ts';
import { rounds } from '../../test/kit/long-test.ts';

let test: PortTest;
let id = '';
let path = '';
beforeAll(async () => {
  test = await startPortTest();
  ({ id, path } = await initiate(test, order(['+14155550199'])));
  expect((await sign(test, path)).status).toBe(200);
});
afterAll(() => test.close());

const json = fc.jsonValue({ maxDepth: 3 });
const text = fc.string({ unit: anyCharacter });
/** A valid object with some members replaced by arbitrary values. */
const spoiled = (good: object) =>
  fc
    .dictionary(fc.oneof(fc.constantFrom(...Object.keys(good)), fc.string()), fc.oneof(json, text), {
      maxKeys: 3,
    })
    .map((wrong) => ({ ...good, ...wrong }));

async function isAnswered(method: 'GET' | 'POST' | 'DELETE', url: string, body: unknown, key: string | null) {
  const answer = await test.call(method, url, {
    key,
    ...(body !== undefined && {
      body: JSON.stringify(body) ?? '',
      headers: { 'content-type': 'application/json' },
    }),
  });
  expect([200, 400, 404, 409, 410, 413, 429]).toContain(answer.status);
  test.clock.advance(10_000);
}

describe('any input gets a response from the contract', () => {
  const good = order(['+14155550100'], { documents: [], pin: '1', target_port_date: '2040-01-01' });
  const bodies: readonly (readonly [string, fc.Arbitrary<unknown>, () => string, () => string | null])[] = [
    ['initiate', spoiled(good), () => '/v1/sip/port/initiate', () => test.key],
    [
      'the carrier information',
      spoiled(information).map((all) => ({ ...good, losing_carrier_information: all })),
      () => '/v1/sip/port/initiate',
      () => test.key,
    ],
    ['anything to initiate', json, () => '/v1/sip/port/initiate', () => test.key],
    ['signing', spoiled({ name: 'Ada', consent: true }), () => path, () => null],
    [
      'moving',
      spoiled({ status: 'failed', reason: 'x' }),
      () => `/v1/admin/ports/${id}/status`,
      () => test.operatorKey,
    ],
    ['anything to moving', json, () => `/v1/admin/ports/${id}/status`, () => test.operatorKey],
  ];
  it.each(bodies)('%s', async (_name, body, url, key) => {
    await fc.assert(
      fc.asyncProperty(body, (value) => isAnswered('POST', url(), value, key())),
      { numRuns: rounds(40) },
    );
  });

  it('paths and queries', async () => {
    const base = fc.constantFrom(
      '/v1/sip/port/',
      '/v1/sip/port/check?phone_numbers=',
      '/v1/sip/port/check?phone_numbers[]=',
      '/v1/sip/port?status=',
      '/v1/sip/port/sign/',
    );
    await fc.assert(
      fc.asyncProperty(base, text, (start, end) =>
        isAnswered('GET', start + encodeURIComponent(end.toWellFormed()), undefined, test.key),
      ),
      { numRuns: rounds(60) },
    );
  });

  it('uploads', async () => {
    const part = fc.record({
      name: fc.constantFrom('file', 'x'),
      content: fc.string(),
      fileName: fc.string({ unit: fc.constantFrom(...'a."/\\') }),
    });
    const whole = fc.array(part, { maxLength: 3 }).map((parts) => multipartBody(parts));
    const broken = fc.tuple(whole, fc.nat(400)).map(([bytes, length]) => bytes.subarray(0, length));
    await fc.assert(
      fc.asyncProperty(fc.oneof(whole, broken, fc.uint8Array().map(Buffer.from)), async (body) => {
        const headers = { 'content-type': multipartType };
        const { status } = await test.call('POST', '/v1/sip/port/document', {
          body: Buffer.from(body),
          headers,
        });
        expect([400, 415]).toContain(status);
      }),
      { numRuns: rounds(60) },
    );
  });
});
