import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { SipNumbers } from '../../test/kit/control/sip-numbers.ts';

let test: TestControl;
let sip: SipNumbers;
beforeEach(async () => {
  test = await startRoutes();
  sip = new SipNumbers(test);
});
afterEach(() => test.close());

describe('a mapped header of outbound calls', () => {
  it('gets a warning when it depends on a variable that not every call has', async () => {
    const header = (key: string, value: string, more: object = {}) => ({
      type: 'custom',
      key,
      value,
      ...more,
    });
    const items = [
      header('customer', 'X-Customer'),
      header('call_id', 'X-Call'),
      header('X-Fixed', 'always', { passthrough: true }),
    ];
    const { body } = await test.call('POST', '/v1/sip/attach', {
      body: {
        phone_number: '+14155550100',
        directions: [
          {
            type: 'outbound',
            sip_endpoint: 'trunk.example.com',
            headers: { direction: 'outbound', headers: items },
          },
        ],
      },
    });
    const warnings = [expect.stringMatching(/X-Customer .*variable "customer"/)];
    expect(body.data?.warnings).toEqual(warnings);
    const update = async (headers: object[]) => {
      const updates = { type: 'outbound', headers: { direction: 'outbound', headers } };
      return test.call('POST', '/v1/sip/update', { body: { phone_number: '+14155550100', updates } });
    };
    expect((await update(items)).body.data?.warnings).toEqual(warnings);
    expect((await update(items.slice(1))).body.data).not.toHaveProperty('warnings');
  });
});

describe('names of mapped headers', () => {
  it('are rejected all at once', async () => {
    const custom = (value: string) => ({ type: 'custom', key: 'v', value });
    const headers = {
      direction: 'outbound',
      headers: [custom('bad name'), custom('X-Good'), custom('Via')],
    };
    const answer = await sip.attach({
      directions: [{ type: 'outbound', sip_endpoint: 'a.example.com', headers }],
    });
    expect(answer.body.errors).toMatchObject([
      { details: { path: '/directions/0/headers/headers/0/value' } },
      { details: { path: '/directions/0/headers/headers/2/value' } },
    ]);
  });
});
