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

it('forgets a removed element when every edge that is linked to a replica knows of the removal', async () => {
  const removed = { kind: 'number' as const, key: '+14155550178', version: 5, content: null };
  await database().insertInto('edge_config_items').values(removed).execute();
  await database()
    .insertInto('edges')
    .values({
      id: 'edge-1',
      outbox_id: 'outbox-1',
      sip_host: 'edge.example.com',
      sip_port: 5061,
      rtp_ip: '198.51.100.7',
      rtp_port_min: 10_000,
      rtp_port_max: 20_000,
      codecs: toJson(['PCMU']),
      software: 'test',
      connected_at: '2030-01-01T00:00:00.000Z',
      last_seen_at: '2030-01-01T00:00:00.000Z',
      region: null,
      weight: 100,
      draining_since: null,
      link_epoch: 1,
      gauges: null,
      replica_id: 'another',
      applied_version: 4,
    })
    .execute();
  const keys = async () => (await items('number')).map(({ key }) => key);
  await store().publishAll();
  expect(await keys()).toEqual([number, removed.key]);
  await database().updateTable('edges').set({ applied_version: 5 }).execute();
  await store().publishAll();
  expect(await keys()).toEqual([number]);
});
