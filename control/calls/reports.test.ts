/** Reports that share a transaction leave what they would leave one after another. */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { callRecord } from '../../test/kit/control/edge-client.ts';
import { openTestDatabase } from '../../test/kit/db/test-database.ts';
import { type Database, type OrganizationRow, toJson } from '../db/index.ts';
import { createReportStore } from '../report-writers.ts';
import { callRow } from './rules.ts';

/** One stores all reports in one transaction, the other each in its own. */
let [together, apart]: Database[] = [];
beforeEach(async () => {
  [together, apart] = [await openTestDatabase(), await openTestDatabase()];
});
afterEach(async () => {
  await together?.close();
  await apart?.close();
});

const ids = ['a', 'b', 'lost', 'tc_test'];
const kind = fc.constantFrom('ringing', 'up', 'ended', 'transcript', 'trace');
const step = fc.record({
  kind,
  id: fc.constantFrom(...ids),
  org: fc.constantFrom('o', 'o', 'o', 'p'),
  n: fc.nat(9),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

it('with several reports of a call, with calls of two organizations, and with calls that must end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const bodies = steps.map(bodyOf);
      const results = [];
      for (const [database, frames] of [
        [together, [bodies]],
        [apart, bodies.map((body) => [body])],
      ] as const) {
        if (!database) throw new Error('no database');
        await prepare(database);
        const store = createReportStore(database, { ...systemClock, now: () => 0 });
        const unwanted = new Set<string>();
        let seq = 1;
        for (const frame of frames) {
          const reports = frame.map((body) => ({ seq: seq++, at: '2030-01-01T00:00:00.000Z', body }));
          const stored = await store.store({ edgeId: 'edge', outboxId: 'outbox' }, reports);
          expect(stored).toMatchObject({ acknowledged: seq - 1, stored: frame.length, rejected: [] });
          for (const id of stored.unwanted) unwanted.add(id);
        }
        results.push({ unwanted: [...unwanted].sort(), ...(await contents(database)) });
      }
      expect(results[0]).toEqual(results[1]);
    }),
    { numRuns: 40 },
  );
});

function bodyOf({ kind, id, org, n }: Step): ReportBody {
  const entry = {
    id: 'e',
    at: '2030-01-01T00:00:00.000Z',
    user: 'user',
    text: `${n}`,
    node_id: null,
    node_name: null,
  } as const;
  if (kind === 'transcript') return { type: 'transcript', call_id: id, entries: [entry] };
  if (kind === 'trace') return { type: 'trace', call_id: id, messages: [], truncated: n > 5 };
  const call = callRecord(org, { id, from: `+1415555010${n}`, metadata: { n }, number: n > 4 ? '+1' : '+2' });
  if (kind === 'ended') return { type: 'call', call };
  const open = { ended_at: null, termination: null, hangup_by: null, media: null, sip_code: null };
  return { type: 'call', call: { ...call, ...open, status: kind === 'up' ? 'in-progress' : 'ringing' } };
}

async function prepare({ db }: Database): Promise<void> {
  for (const table of ['calls', 'transcript_parts', 'trace_parts', 'outboxes', 'webhook_deliveries'] as const)
    await db.deleteFrom(table).execute();
  await db.deleteFrom('organizations').execute();
  await db
    .insertInto('organizations')
    .values(['o', 'p'].map((id) => organization(id, `https://${id}.example.com/`)))
    .execute();
  // Control closed it, and a client has stopped it since.
  const lost = callRow(callRecord('o', { id: 'lost' }), 'edge');
  await db
    .insertInto('calls')
    .values({ ...lost, termination: 'edge_lost', hangup_by: 'api', webhook: 'https://call.example.com/' })
    .execute();
}

function organization(id: string, event_webhook_url: string): OrganizationRow {
  const lists = { alert_emails: toJson<string[]>([]), alert_sms_numbers: toJson<string[]>([]) };
  const limits = {
    call_limits: null,
    call_ceiling: null,
    recording: null,
    realtime: null,
    pronunciations: null,
    key_terms: null,
    model_prices: null,
    supervision_tone: 1,
    wide_sources: 0,
    disabled_at: null,
  } as const;
  const facts = { name: id, region: 'r', sip_enabled: 1, signing_secret: '', created_at: '' } as const;
  return { id, event_webhook_url, ...facts, ...lists, ...limits };
}

async function contents({ db }: Database) {
  return {
    calls: await db.selectFrom('calls').selectAll().orderBy('id').execute(),
    transcripts: await db
      .selectFrom('transcript_parts')
      .select(['call_id', 'entries'])
      .orderBy('id')
      .execute(),
    traces: await db.selectFrom('trace_parts').select(['call_id', 'truncated']).orderBy('id').execute(),
    webhooks: await db.selectFrom('webhook_deliveries').selectAll().orderBy('id').execute(),
    marks: await db.selectFrom('outboxes').selectAll().execute(),
  };
}
