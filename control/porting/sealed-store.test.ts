/** What the database's files contain of port requests. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { address, initiate, order, sign } from '../../test/kit/control/porting.ts';
import { openDetails, portContext } from './sealed-store.ts';

let folder = '';
let test: TestControl;
const start = () => startControl({ DATABASE_URL: join(folder, 'control.db'), TRUNKLINE_DATA: folder });
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'port-at-rest-'));
  test = await start();
});
afterEach(async () => {
  await test.close();
  rmSync(folder, { recursive: true });
});

const number = '+12125550190';
const information = {
  customer_type: 'business',
  business_name: 'Babbage Engines',
  first_name: 'Ada',
  last_name: 'Lovelace',
  authorized_representative_email: 'ada@example.com',
  account_number: 'ACCOUNT-86420',
  address: { ...address, street: '1 Difference Street' },
};
const secrets = [
  'Babbage Engines',
  'Lovelace',
  'LOVELACE',
  'ACCOUNT-86420',
  'Difference Street',
  'PIN-97531',
  'a browser',
];

/** The secrets that occur in the database, its log and the files next to it. */
function found(): string[] {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const text = files.map(({ name }) => readFileSync(join(folder, name), 'latin1')).join('\n');
  expect(text).toContain(number);
  return secrets.filter((secret) => text.includes(secret));
}

async function signed(): Promise<{ id: string; shown: unknown }> {
  const { id, path } = await initiate(
    test,
    order([number], { losing_carrier_information: information, pin: 'PIN-97531' }),
  );
  expect((await sign(test, path, { name: 'ADA LOVELACE' })).status).toBe(200);
  const shown = (await test.call('GET', `/v1/sip/port/${id}`)).body.data;
  expect(shown?.port_request).toMatchObject({
    signed_name: 'ADA LOVELACE',
    losing_carrier_information: { account_number: 'ACCOUNT-86420', last_name: 'Lovelace' },
  });
  return { id, shown };
}

it('the files contain no customer, address, account, PIN, signer or letter in plain text', async () => {
  await signed();
  expect(found()).toEqual([]);
});

it('port requests are sealed at the start where an earlier version left plain text, without a trace', async () => {
  const { id, shown } = await signed();
  const { database, secrets: box } = test.control.services;
  const { db } = database;
  const row = await db.selectFrom('port_requests').selectAll().executeTakeFirstOrThrow();
  const letter = await db.selectFrom('port_letters').selectAll().executeTakeFirstOrThrow();
  const clear = {
    details: JSON.stringify(openDetails(box, row)),
    signed_name: 'ADA LOVELACE',
    signer_agent: 'a browser',
    signer_address: '127.0.0.1',
  };
  const { details, ...signer } = clear;
  await db
    .updateTable('port_requests')
    .set({ ...signer, details: sql`${details}` })
    .execute();
  const text = box.open(letter.letter, portContext(id, 'letter_text'));
  await db.updateTable('port_letters').set({ letter: text }).execute();
  await test.close();
  expect(found()).toEqual(secrets.filter((secret) => secret !== 'PIN-97531'));

  const { key } = test;
  test = await start();
  expect((await test.call('GET', `/v1/sip/port/${id}`, { key })).body.data).toEqual(shown);
  expect((await test.call('GET', `/v1/sip/port/${id}/letter`, { key })).status).toBe(200);
  expect(found()).toEqual([]);
  await test.close();
  expect(found()).toEqual([]);
  test = await start();
});
