import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  initiate,
  order,
  type PortTest,
  sign,
  startPortTest,
  upload,
} from '../../test/kit/control/porting.ts';
import { deletePortsBefore } from './retention-store.ts';

let test: PortTest;
beforeEach(async () => {
  test = await startPortTest();
});
afterEach(() => test.close());

const db = () => test.control.services.database.db;
const later = '2030-01-01T00:00:00.001Z';
const never = '1970-01-01T00:00:00.000Z';
const cancel = (id: string) => test.call('DELETE', `/v1/sip/port/${id}`);
const statusOf = async (id: string) => (await test.call('GET', `/v1/sip/port/${id}`)).status;

it('ended port requests are deleted after their retention time, unsigned ones sooner, and their documents are released', async () => {
  const uploaded = await upload(test, '%PDF-1.4\n%%EOF\n');
  const document_sid = String(uploaded.body.data?.document_sid);
  const unsigned = await initiate(test, order(['+12125550101'], { documents: [document_sid] }));
  const signed = await initiate(test, order(['+12125550102']));
  expect((await sign(test, signed.path)).status).toBe(200);
  const waiting = await initiate(test, order(['+12125550103']));
  for (const { id } of [unsigned, signed]) expect((await cancel(id)).status).toBe(200);

  expect(await deletePortsBefore(db(), never, never)).toBe(0);
  expect((await test.call('DELETE', `/v1/sip/port/document/${document_sid}`)).codes).toEqual([
    'DOCUMENT_IN_USE',
  ]);
  expect(await deletePortsBefore(db(), never, later)).toBe(1);
  expect(await statusOf(unsigned.id)).toBe(404);
  expect(await statusOf(signed.id)).toBe(200);
  expect((await test.call('DELETE', `/v1/sip/port/document/${document_sid}`)).status).toBe(200);

  expect(await deletePortsBefore(db(), later, later)).toBe(1);
  expect(await statusOf(signed.id)).toBe(404);
  expect(await statusOf(waiting.id)).toBe(200);
  for (const table of ['port_numbers', 'port_history', 'port_letters', 'port_mails'] as const) {
    const rows = await db().selectFrom(table).select('request_id').execute();
    expect([table, rows.filter(({ request_id }) => request_id !== waiting.id)]).toEqual([table, []]);
  }
});
