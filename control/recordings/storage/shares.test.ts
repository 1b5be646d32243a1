/** No storage takes the places of the work on storages from the others. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import { Shares } from './shares.ts';

let test: TestControl;
let shares: Shares;
beforeAll(async () => {
  test = await startControl({}, {}, {}, { begin: false });
});
afterAll(() => test.close());

const db = () => test.control.services.database.db;
const at = (ms: number) => new Date(test.clock.now() + ms).toISOString();
let order = 0;

beforeEach(async () => {
  shares = new Shares();
  order = 0;
  await db().deleteFrom('recording_objects').execute();
  await db().deleteFrom('recording_storages').execute();
});

async function storage(id: string, org_id: string | null, failing_since: string | null = null) {
  const settings = { url: 'https://x', bucket: 'b', region: 'r', prefix: '', path_style: 1 } as const;
  const state = { created_at: at(0), retired_at: null, last_error: null, last_error_at: null };
  await db()
    .insertInto('recording_storages')
    .values({
      ...settings,
      ...state,
      id,
      org_id,
      access_key_id: 'a',
      secret: 's',
      failing_since,
      paused_until: null,
    })
    .execute();
}

/** One that is due, after those before. */
async function object(storage_id: string, org_id: string) {
  const id = `${storage_id}-${order++}`;
  const rest = { state: 'moving', size: 1, upload_id: null, attempts: 0 } as const;
  const row = { ...rest, id, org_id, storage_id, next_attempt_at: at(order - 1_000) };
  await db().insertInto('recording_objects').values(row).execute();
  return row;
}

/** Storages of the objects that begin one after the other, until there are no more or eight. */
async function begins(): Promise<string[]> {
  const running: string[] = [];
  const storages: string[] = [];
  for (;;) {
    const without = { ids: running, organizations: [] };
    const found = await shares.due(db(), at(0), without, 8 - running.length);
    if (found.length === 0) return storages;
    running.push(...found.map(({ id }) => id));
    storages.push(...found.map(({ storage_id }) => storage_id));
  }
}

describe('the places of the work on storages', () => {
  it("are left in part to the operator's storage", async () => {
    await storage('operator', null);
    for (let i = 0; i < 5; i++) {
      await storage(`own-${i}`, `org-${i}`);
      for (let n = 0; n < 2; n++) await object(`own-${i}`, `org-${i}`);
    }
    for (let n = 0; n < 3; n++) await object('operator', 'org-x');
    const places = await begins();
    expect(places.slice(0, 6)).toEqual(['own-0', 'own-0', 'own-1', 'own-1', 'own-2', 'own-2']);
    expect(places.slice(6)).toEqual(['operator', 'operator']);
  });

  it('are left in part to fast storages, for ten minutes after a slow attempt', async () => {
    for (let i = 0; i < 3; i++) {
      await storage(`slow-${i}`, `org-${i}`);
      for (let n = 0; n < 2; n++) {
        const one = await object(`slow-${i}`, `org-${i}`);
        shares.took(one, test.clock.now(), n === 0 ? 5_002 : 10);
      }
    }
    await storage('fast', 'org-f');
    for (let n = 0; n < 2; n++) {
      const one = await object('fast', 'org-f');
      shares.took({ ...one, size: 60_000_000 }, test.clock.now(), 64_000);
    }
    expect(await begins()).toEqual(['slow-0', 'slow-0', 'slow-1', 'slow-1', 'fast', 'fast']);
    test.clock.advance(600_001);
    expect(await begins()).toEqual(['slow-0', 'slow-0', 'slow-1', 'slow-1', 'slow-2', 'slow-2']);
  });

  it('are one for a storage that fails', async () => {
    await storage('failing', null, at(0));
    await storage('well', 'org-w');
    for (let n = 0; n < 12; n++) await object('failing', `org-${n}`);
    for (let n = 0; n < 2; n++) await object('well', 'org-w');
    expect((await begins()).sort()).toEqual(['failing', 'well', 'well']);
  });
});
