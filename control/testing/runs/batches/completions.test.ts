/** The ends of batches are reported at least once, and are not read again and again. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { openTestDatabase } from '../../../../test/kit/db/test-database.ts';
import { type Database, SecretBox } from '../../../db/index.ts';
import { createOrganization } from '../../../organizations/index.ts';
import { endedAfter, insertBatch } from '../../records/batch-store.ts';
import { BatchCompletions } from './completions.ts';

const clock = new FakeClock(Date.parse('2030-01-01T00:00:00.000Z'));
let database: Database;
let orgId: string;
let reported: string[];
let errors: number;

beforeEach(async () => {
  database = await openTestDatabase();
  const secrets = new SecretBox('11'.repeat(32));
  orgId = await createOrganization(database.db, clock, secrets, {
    name: 'Acme',
    region: 'us',
    sipEnabled: true,
  });
  reported = [];
  errors = 0;
});
afterEach(() => database.close());

function completions(listener: (id: string) => Promise<void> = async (id) => void reported.push(id)) {
  const made = new BatchCompletions({ db: database.db, clock, log: { error: () => errors++ } });
  made.onBatchCompleted(listener);
  return made;
}

const before = (ms: number) => new Date(clock.now() - ms).toISOString();

async function end(id: string, completed_at: string): Promise<void> {
  await insertBatch(database.db, {
    id,
    org_id: orgId,
    pathway_id: null,
    persona_id: null,
    status: 'PASSED',
    trigger_source: 'api',
    version_number: null,
    content_hash: null,
    total_scenarios: 1,
    publish_on_pass: 0,
    published: 0,
    webhook_url: null,
    created_at: completed_at,
    completed_at,
  });
}

it('reports each end once, also those of the last day, and more than a page of them', async () => {
  const ids = Array.from({ length: 1_050 }, (_, index) => `batch ${String(index).padStart(4, '0')}`);
  // All at the same time: the id is what goes on.
  for (const id of ids) await end(id, before(3_600_000));
  await end('too old', before(25 * 3_600_000));
  const ends = completions();
  await ends.check();
  await ends.check();
  expect(reported).toEqual(ids);
});

it('reads only what can be new, and reports an end that is stored up to ten minutes late', async () => {
  await end('early', before(3_600_000));
  const ends = completions();
  await ends.check();
  await end('late', before(9 * 60_000));
  await end('later than that', before(11 * 60_000));
  await ends.check();
  expect(reported).toEqual(['early', 'late']);
  clock.advance(60_000);
  await end('new', before(0));
  await ends.check();
  await ends.check();
  expect(reported).toEqual(['early', 'late', 'new']);
  const read = await endedAfter(database.db, { id: '', completed_at: before(10 * 60_000) }, 500);
  expect(read.map(({ id }) => id)).toEqual(['late', 'new']);
});

it('reports again what a listener failed at, however long that takes', async () => {
  let fails = true;
  const ends = completions(async (id) => {
    if (fails && id === 'b') throw new Error('not now');
    reported.push(id);
  });
  for (const id of ['a', 'b', 'c']) await end(id, before(1_000));
  await ends.check();
  expect([reported, errors]).toEqual([['a'], 1]);
  clock.advance(3_600_000);
  await ends.check();
  fails = false;
  await ends.check();
  expect(reported).toEqual(['a', 'b', 'c']);
});
