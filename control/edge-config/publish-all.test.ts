/** What a start publishes: what it finds different, and nothing else. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { toJson } from '../db/index.ts';

const number = '+14155550177';
let control: TestControl;
beforeEach(async () => {
  control = await startRoutes();
  await control.call('POST', '/v1/sip/attach', {
    body: { phone_number: number, directions: [{ type: 'inbound', options: {} }] },
  });
});
afterEach(() => control.close());

const store = () => control.control.services.edgeConfig;
const database = () => control.control.services.database.db;
const items = (kind: 'number' | 'organization') =>
  database().selectFrom('edge_config_items').selectAll().where('kind', '=', kind).orderBy('key').execute();

it('publishes nothing when nothing is different', async () => {
  const before = await items('number');
  let told = 0;
  store().onChange(() => told++);
  await store().publishAll();
  expect([await items('number'), told]).toEqual([before, 0]);
});

it('publishes elements that a former release stored in another form', async () => {
  const [stored] = await items('number');
  const version = await store().version();
  await database()
    .updateTable('edge_config_items')
    .set({ content: toJson({ of: 'a former release' }) })
    .where('key', '=', number)
    .execute();
  await store().publishAll();
  const [published, ...others] = await items('number');
  expect(others).toEqual([]);
  expect(published).toEqual({ ...stored, version: version + 1 });
  expect((await items('organization')).every((item) => item.version <= version)).toBe(true);
});
