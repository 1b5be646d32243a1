/** Phone sessions over HTTP, and what the edges get to check them with. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PhoneSessionList, PhoneSessionMade, PhoneSessionOne } from '#shared/api/phone-sessions.ts';
import type { OrgPhones } from '#shared/edge-protocol/config.ts';
import { phonePassword, readPhoneUsername } from '#shared/phone-session.ts';
import { connectEdge, type EdgeClient } from '../../test/kit/control/edge-client.ts';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';

const number = '+14155550100';
const url = '/v1/phone-sessions';
const order = { phone_number: number, caller: 'Ada' };
const sip = { host: 'edge.example.com', port: 5061, wss_port: 5062 };

let test: TestControl;
let edge: EdgeClient;
let phones: OrgPhones | undefined;

beforeAll(async () => {
  test = await startRoutes();
  await test.call('POST', '/v1/sip/attach', { body: { phone_number: number, directions: ['inbound'] } });
});
afterAll(() => test.close());
beforeEach(async () => {
  const { db } = test.control.services.database;
  await db.deleteFrom('phone_sessions').execute();
  await db.deleteFrom('phone_keys').execute();
  await connect();
});
afterEach(() => edge.close());

async function connect(): Promise<void> {
  edge = await connectEdge(test, { sip });
  const { config } = await edge.next('config');
  phones = config.organizations.find(({ org_id }) => org_id === test.orgId)?.phones;
}

/** Lets time pass. An edge that answers no ping meanwhile would lose its link. */
async function pass(ms: number): Promise<void> {
  await edge.close();
  test.clock.advance(ms);
  await connect();
}

const make = async (changes: object = {}) =>
  (await test.call('POST', url, { body: { ...order, ...changes } })).read(PhoneSessionMade).data;
const list = async (query = '') =>
  (await test.call('GET', `${url}${query}`)).read(PhoneSessionList).data.phone_sessions.map(({ id }) => id);

/** The phones of the organization in the next change. */
async function changed(): Promise<OrgPhones | undefined> {
  const { change } = await edge.next('change');
  return change.organizations.find(({ org_id }) => org_id === test.orgId)?.phones;
}

/** Whether what the edge has shows that the credentials are the organization's. */
function opens({ keys = [] }: Partial<OrgPhones> = {}, made: Awaited<ReturnType<typeof make>>): boolean {
  const { username, password } = made.credentials;
  const claims = readPhoneUsername(username);
  return keys.some(
    ({ generation, key, until = Number.POSITIVE_INFINITY }) =>
      generation === claims?.generation &&
      claims.expires_at <= until &&
      phonePassword(key, username) === password,
  );
}

describe('a phone session', () => {
  it('has credentials that the edge verifies without asking control', async () => {
    const made = await make({ calls: 3, expires_in_seconds: 60, purpose: 'Help page' });
    const { phone_session, credentials } = made;
    const created = test.clock.now();
    expect(phone_session).toMatchObject({
      phone_number: number,
      caller: 'Ada',
      purpose: 'Help page',
      calls: 3,
      edge_id: 'edge-1',
      state: 'open',
      expires_at: new Date(created + 60_000).toISOString(),
      revoked_at: null,
    });
    expect(readPhoneUsername(credentials.username)).toEqual({
      id: phone_session.id,
      org_id: test.orgId,
      edge_id: 'edge-1',
      number,
      caller: 'Ada',
      issued_at: created,
      expires_at: created + 60_000,
      calls: 3,
      generation: 0,
    });
    expect(credentials).toMatchObject({
      realm: 'trunkline',
      url: 'wss://edge.example.com:5062/',
      uri: `sip:${number}@edge.example.com`,
    });
    expect(opens(phones, made)).toBe(true);
    // Nothing is pushed for it.
    expect(edge.untaken.map(({ type }) => type)).not.toContain('change');
    const read = await test.call('GET', `${url}/${phone_session.id}`);
    expect(read.read(PhoneSessionOne).data.phone_session).toEqual(phone_session);
    expect(JSON.stringify(read.body)).not.toContain(credentials.password);
  });

  it('is for one call and 5 minutes unless it says otherwise', async () => {
    const { calls, created_at, expires_at } = (await make()).phone_session;
    expect([calls, Date.parse(expires_at) - Date.parse(created_at)]).toEqual([1, 300_000]);
  });

  it('is listed until a day after its end, newest first', async () => {
    const { id: first } = (await make({ expires_in_seconds: 30 })).phone_session;
    await pass(30_000);
    const { id: second } = (await make()).phone_session;
    expect(await list()).toEqual([second, first]);
    expect(await list('?state=open')).toEqual([second]);
    expect(await list('?state=ended')).toEqual([first]);
  });

  it('is revoked: the edges get its id until it expires', async () => {
    const [one, two] = [(await make()).phone_session, (await make()).phone_session];
    const answer = await test.call('DELETE', `${url}/${one.id}`);
    expect(answer.read(PhoneSessionOne).data.phone_session.state).toBe('revoked');
    expect((await changed())?.revoked).toEqual([one.id]);
    expect((await test.call('DELETE', `${url}/${one.id}`)).codes).toEqual(['PHONE_SESSION_ENDED']);
    await pass(290_000);
    const three = (await make()).phone_session;
    await pass(10_000);
    expect((await test.call('DELETE', `${url}/${two.id}`)).codes).toEqual(['PHONE_SESSION_ENDED']);
    await test.call('DELETE', `${url}/${three.id}`);
    expect((await changed())?.revoked).toEqual([three.id]);
  });

  it.each<[string, object, string]>([
    ['a number of nobody', { phone_number: '+14155550199' }, 'NUMBER_NOT_FOUND'],
    ['no caller', { caller: '' }, 'INVALID_PARAMETER'],
    ['more than an hour', { expires_in_seconds: 3601 }, 'INVALID_PARAMETER'],
    ['more than 100 calls', { calls: 101 }, 'INVALID_PARAMETER'],
  ])('is rejected with %s', async (_, changes, code) => {
    expect((await test.call('POST', url, { body: { ...order, ...changes } })).codes).toEqual([code]);
  });

  it('is rejected while no edge takes calls of browsers', async () => {
    await edge.close();
    edge = await connectEdge(test);
    const answer = await test.call('POST', url, { body: order });
    expect([answer.codes, answer.errors[0]?.message]).toEqual([
      ['SERVICE_UNAVAILABLE'],
      'No edge takes calls of browsers: none with SIP_WSS_PORT is ready.',
    ]);
  });

  it('is rejected when the organization has 1,000 that have not expired', async () => {
    const { db } = test.control.services.database;
    const made = (await make()).phone_session;
    const row = await db.selectFrom('phone_sessions').selectAll().executeTakeFirstOrThrow();
    const rows = Array.from({ length: 999 }, (_, index) => ({ ...row, id: `${made.id}-${index}` }));
    await db.insertInto('phone_sessions').values(rows).execute();
    expect((await test.call('POST', url, { body: order })).codes).toEqual(['QUOTA_EXCEEDED']);
    await pass(300_000);
    expect((await test.call('POST', url, { body: order })).status).toBe(200);
  });

  it('is unknown to another organization', async () => {
    const { id } = (await make()).phone_session;
    for (const method of ['GET', 'DELETE'] as const) {
      const answer = await test.call(method, `${url}/${id}`, { key: test.foreignKey });
      expect(answer.codes).toEqual(['PHONE_SESSION_NOT_FOUND']);
    }
    expect((await test.call('POST', url, { body: order, key: test.foreignKey })).codes).toEqual([
      'NUMBER_NOT_FOUND',
    ]);
  });

  it('is made with a new key after a day, which the edges have before', async () => {
    const day = 24 * 60 * 60 * 1000;
    await make();
    await pass(day);
    const last = await make({ expires_in_seconds: 3600 });
    await changed();
    await pass(59_999);
    expect(phones?.keys.map(({ generation }) => generation)).toEqual([1, 0]);
    const latest = await make({ expires_in_seconds: 3600 });
    test.clock.advance(1);
    const next = await make();
    const made = [last, latest, next];
    expect(made.map((one) => readPhoneUsername(one.credentials.username)?.generation)).toEqual([0, 0, 1]);
    expect(made.map((one) => opens(phones, one))).toEqual([true, true, true]);
  });
});
