/** A long transcript is truncated at its end to fit a response, and the response says so. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CallView } from '#shared/api/calls.ts';
import { newId } from '#shared/ids.ts';
import { callRecord } from '../../test/kit/control/edge-client.ts';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { toJson } from '../db/index.ts';
import { completedBody } from './completed-event.ts';
import { callRow } from './rules.ts';
import { insertCall } from './store.ts';

const at = '2030-01-01T00:00:03.000Z';

let test: TestControl;
beforeAll(async () => {
  test = await startRoutes();
});
afterAll(() => test.close());

/**
 * A call with this many transcript lines of 1,000 characters, 100 to a part. Each line has few words: to index the words
 * takes PostgreSQL longer than all the rest.
 */
async function call(lines: number): Promise<string> {
  const { db } = test.control.services.database;
  const row = callRow(callRecord(test.orgId, { id: newId() }), 'edge');
  await insertCall(db, row);
  for (let from = 0; from < lines; from += 100) {
    const entries = Array.from({ length: Math.min(100, lines - from) }, (_, index) => ({
      id: `${from + index}`,
      at,
      user: 'assistant' as const,
      text: `${from + index} ${'é'.repeat(500)}${'"'.repeat(500)}`,
      node_id: null,
      node_name: null,
    }));
    await db
      .insertInto('transcript_parts')
      .values({ call_id: row.id, entries: toJson(entries), received_at: at })
      .execute();
  }
  return row.id;
}

it.each([
  ['complete when it fits', 120, 120],
  ['truncated when it does not', 6_000, null],
])('is %s', async (_, lines, shown) => {
  const id = await call(lines);
  const answer = await test.call('GET', `/v1/calls/${id}`);
  const { status, body, bytes } = answer;
  expect(status).toBe(200);
  const { transcripts } = answer.read(CallView);
  if (shown === null) {
    expect(body.omitted).toEqual(['transcripts']);
    expect(transcripts.length).toBeGreaterThan(1_000);
    expect(transcripts.length).toBeLessThan(lines);
  } else {
    expect(body).not.toHaveProperty('omitted');
    expect(transcripts).toHaveLength(shown);
  }
  expect(transcripts.map(({ text }) => Number.parseInt(text, 10))).toEqual(
    transcripts.map((_, index) => index),
  );
  expect(body.pathway_logs).toHaveLength(transcripts.length);
  expect(bytes.length).toBeLessThan(12 * 1_048_576);
});

it("is truncated to less in the call's webhook", async () => {
  const id = await call(2_000);
  const { db } = test.control.services.database;
  const sent = await completedBody(db, { org_id: test.orgId, subject_id: id, type: 'call.completed' }, 0);
  const { omitted, transcripts } = JSON.parse(sent ?? '');
  expect(omitted).toEqual(['transcripts']);
  expect(transcripts.length).toBeGreaterThan(50);
  expect(Buffer.byteLength(sent ?? '')).toBeLessThan(1_100_000);
});

it('has a line that was reported again with its last words, and none that was withdrawn', async () => {
  const { db } = test.control.services.database;
  const row = callRow(callRecord(test.orgId, { id: newId() }), 'edge');
  await insertCall(db, row);
  const line = (id: string, text: string) => ({
    ...{ id, at, user: 'assistant' as const, text, node_id: null, node_name: null },
  });
  for (const entries of [
    [line('a', 'Good day, this is Ada.'), line('b', 'How can I help you?')],
    [line('a', 'Good day,'), line('b', '')],
    [line('c', 'Yes?')],
  ])
    await db
      .insertInto('transcript_parts')
      .values({ call_id: row.id, entries: toJson(entries), received_at: at })
      .execute();
  const answer = await test.call('GET', `/v1/calls/${row.id}`);
  expect(answer.read(CallView).transcripts.map(({ text }) => text)).toEqual(['Good day,', 'Yes?']);
  expect(answer.read(CallView).concatenated_transcript).toBe('assistant: Good day,\nassistant: Yes?');
});
