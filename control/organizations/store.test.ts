import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { type TestDatabase, takeDatabase } from '../../test/kit/db/test-database.ts';
import { type Database, openDatabase } from '../db/open.ts';
import { SecretBox } from '../db/secrets.ts';
import {
  createApiKey,
  createOrganization,
  findApiKey,
  listApiKeys,
  noteKeyUse,
  revokeApiKey,
  setDisabled,
  updateOrganization,
} from './store.ts';

const clock = new FakeClock();
let folder: string;
let database: TestDatabase;
/** The database as the program opens it, and as the command line does. */
let here: Database;
let elsewhere: Database;
let orgId: string;
let key: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keys-'));
  database = await takeDatabase(join(folder, 'control.db'));
  here = await openDatabase(database.address);
  elsewhere = await openDatabase(database.address);
  const organization = { name: 'Acme', region: 'us', sipEnabled: true };
  orgId = await createOrganization(here.db, clock, new SecretBox('ab'.repeat(32)), organization);
  key = await createApiKey(here.db, clock, { kind: 'customer', orgId }, 'first');
});
afterEach(async () => {
  await here.close();
  await elsewhere.close();
  await database.release();
  rmSync(folder, { recursive: true });
});

describe('a key', () => {
  it('is found with its organization, whichever was looked up before', async () => {
    const operator = await createApiKey(here.db, clock, { kind: 'operator' }, 'operator');
    const owners = [];
    for (const one of [key, operator, 'tk_unknown', key]) owners.push(await findApiKey(here.db, clock, one));
    expect(owners).toMatchObject([
      { kind: 'customer', org_id: orgId, sip_enabled: true },
      { kind: 'operator', org_id: null, sip_enabled: false },
      null,
      { kind: 'customer', org_id: orgId },
    ]);
  });

  it('stops working once another process revokes it', async () => {
    const found = await findApiKey(here.db, clock, key);
    await revokeApiKey(elsewhere.db, clock, found?.id ?? '');
    expect(await findApiKey(here.db, clock, key)).toBeNull();
  });

  it("has its organization's current permissions", async () => {
    expect(await findApiKey(here.db, clock, key)).toMatchObject({ sip_enabled: true });
    await updateOrganization(elsewhere.db, orgId, { sip_enabled: 0 });
    expect(await findApiKey(here.db, clock, key)).toMatchObject({ sip_enabled: false });
    await setDisabled(elsewhere.db, clock, orgId, true);
    expect(await findApiKey(here.db, clock, key)).toBeNull();
    await setDisabled(elsewhere.db, clock, orgId, false);
    expect(await findApiKey(here.db, clock, key)).toMatchObject({ org_id: orgId });
  });

  it('has its use recorded once a minute', async () => {
    const uses = [];
    for (const passedMs of [0, 59_999, 1]) {
      clock.advance(passedMs);
      const found = await findApiKey(here.db, clock, key);
      if (found) await noteKeyUse(here.db, clock, found);
      uses.push((await listApiKeys(here.db, orgId)).map((row) => row.last_used_at));
    }
    const now = clock.now();
    const [first, later] = [now - 60_000, now].map((ms) => new Date(ms).toISOString());
    expect(uses).toEqual([[first], [first], [later]]);
  });
});
