/** The search over transcripts: the same words are found on both databases. */
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { FoundLines } from '#shared/api/calls.ts';
import { newTimedId } from '#shared/ids.ts';
import { callRecord } from '../../test/kit/control/edge-client.ts';
import { routesOfFile } from '../../test/kit/control/routes-of-file.ts';
import { findParts, fromJson, toJson } from '../db/index.ts';
import { callRow } from './rules.ts';
import { readPhrases } from './search-rules.ts';
import { deleteCallsBefore, insertCall } from './store.ts';

const at = '2030-01-01T00:00:03.000Z';

const test = routesOfFile({ RATE_LIMIT_PER_MINUTE: '100000' });
let count = 0;

const db = () => test.control.services.database.db;

/** A call of the organization in which these lines were said, each reported on its own. Returns its id. */
async function callWith(lines: readonly string[], orgId = test.orgId): Promise<string> {
  const id = newTimedId(Date.parse(at) + ++count);
  await insertCall(db(), callRow(callRecord(orgId, { id }), 'edge'));
  for (const [index, text] of lines.entries()) {
    const entry = { id: `line-${index}`, at, user: 'user' as const, text, node_id: null, node_name: null };
    await db()
      .insertInto('transcript_parts')
      .values({ call_id: id, entries: toJson([entry]), received_at: at })
      .execute();
  }
  return id;
}

async function search(query: string, rest: Record<string, string> = {}) {
  const answer = await test.call('GET', `/v1/calls/transcripts?${new URLSearchParams({ query, ...rest })}`);
  expect(answer.status).toBe(200);
  return answer.read(FoundLines).data.lines;
}

/** The newest lines that the database finds, without the limits of the API. */
async function stored(query: string): Promise<string[]> {
  const parts = await findParts(db(), test.orgId, readPhrases(query), Number.MAX_SAFE_INTEGER, 20);
  return parts.flatMap(({ entries }) => fromJson(entries).map(({ text }) => text));
}

const textsOf = async (query: string) => (await search(query)).map(({ text }) => text);

describe('GET /v1/calls/transcripts', () => {
  it('shows the line and its call', async () => {
    const id = await callWith(['Hello.', 'I want a refund, please!']);
    expect(await search('REFUND')).toEqual([
      {
        id: `${id}:line-1`,
        call_id: id,
        created_at: at,
        user: 'user',
        text: 'I want a refund, please!',
        direction: 'inbound',
        from: '+14155550123',
        to: '+14155550100',
        started_at: '2030-01-01T00:00:00.000Z',
      },
    ]);
  });

  it.each([
    ['every word, in any order', 'account cancel', ['Please cancel my account number 42.']],
    ['words in quotes one after the other', '"account number"', ['Please cancel my account number 42.']],
    ['no words in quotes that are apart', '"account 42"', []],
    ['the beginning of a word', 'canc*', ['Please cancel my account number 42.']],
    ['no beginning of a word without asterisk', 'canc', []],
    ['a number as it is written', '415-555-0100', ['Call +1 (415) 555-0100 or mail to ada@example.com.']],
    [
      'an address as it is written',
      'ada@example.com',
      ['Call +1 (415) 555-0100 or mail to ada@example.com.'],
    ],
    ['letters beyond ASCII', 'ÜBERWEISUNG für', ['Die Überweisung ist für José.']],
    ['a letter with its accent only', 'jose', []],
    ['another script', 'счёт', ['Мой СЧЁТ не пришёл.']],
    ['words of the query language as words', 'NOT near', ['Not near the AND gate.']],
    ['nothing for a word that nobody said', 'elephant', []],
  ])('finds %s', async (_, query, texts) => {
    await callWith([
      'Please cancel my account number 42.',
      'Call +1 (415) 555-0100 or mail to ada@example.com.',
      'Die Überweisung ist für José.',
      'Мой СЧЁТ не пришёл.',
      'Not near the AND gate.',
    ]);
    expect(await textsOf(query)).toEqual(texts);
  });

  it('finds only calls of the organization, whatever words are said', async () => {
    const own = `o${Buffer.from(test.orgId).toString('hex')}`;
    await callWith([`refund ${own}`], 'another');
    expect(await search('refund')).toEqual([]);
    expect(await search(own)).toEqual([]);
    await callWith(['refund']);
    expect(await search('refund')).toHaveLength(1);
  });

  it('shows the last line first, page by page, each once', async () => {
    const said = Array.from({ length: 7 }, (_, index) => `refund ${index}`);
    await callWith(said.slice(0, 4));
    await callWith(said.slice(4));
    const seen: string[] = [];
    for (let before: string | undefined; ; ) {
      const page = await search('refund', { limit: '3', ...(before !== undefined && { before }) });
      seen.push(...page.map(({ text }) => text));
      before = page.at(-1)?.id;
      if (page.length < 3) break;
    }
    expect(seen).toEqual(said.toReversed());
  });

  it('rejects a cursor that is not its own, and a query without a word or with too many', async () => {
    const foreign = await callWith(['refund'], 'another');
    const own = await callWith(['refund']);
    const rejected = async (query: Record<string, string>) => {
      const answer = await test.call('GET', `/v1/calls/transcripts?${new URLSearchParams(query)}`);
      return [answer.status, answer.codes, answer.body.errors?.[0]?.details?.path];
    };
    for (const before of [`${foreign}:line-0`, `${own}:line-1`, own, 'x'])
      expect(await rejected({ query: 'refund', before })).toEqual([400, ['INVALID_CURSOR'], '?before']);
    for (const query of ['?!', '" "', 'a b c d e f g h i j k'])
      expect(await rejected({ query })).toEqual([400, ['INVALID_PARAMETER'], '?query']);
    expect((await rejected({}))[0]).toBe(400);
  });

  it('forgets a transcript with its call', async () => {
    await callWith(['refund']);
    // On PostgreSQL with all of its month.
    await deleteCallsBefore(db(), '2030-02-01T00:00:00.000Z');
    await callWith(['nothing else']);
    expect(await search('refund')).toEqual([]);
  });

  it('ignores parts that are no JSON', async () => {
    await callWith([]);
    await sql`insert into transcript_parts (call_id, entries, received_at) values ('x', 'refund', ${at})`.execute(
      db(),
    );
    expect(await search('refund')).toEqual([]);
  });

  it('finds what was said by any of its words, and fails for no query', async () => {
    const word = fc.stringMatching(/^[a-zA-Z0-9éÜя]{1,12}$/);
    const separator = fc.constantFrom(' ', ', ', '-', '...', '@', ' "', '\n', "'", ':*', '\\', '%', '_');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(word, separator), { minLength: 1, maxLength: 8 }),
        fc.string(),
        async (parts, noise) => {
          const text = parts.flat().join('');
          await callWith([text]);
          const [first] = parts;
          expect(await stored(`"${(first?.[0] ?? '').toLowerCase()}"`)).toContain(text);
          if (readPhrases(noise).length > 0) await stored(noise);
        },
      ),
      { numRuns: 40 },
    );
  });
});
