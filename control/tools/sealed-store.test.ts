/** What the database's files contain of tools. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';

let folder = '';
let test: TestControl;
const start = () => startControl({ DATABASE_URL: join(folder, 'control.db'), TRUNKLINE_DATA: folder });
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tools-at-rest-'));
  test = await start();
});
afterEach(async () => {
  await test.close();
  rmSync(folder, { recursive: true });
});

const body = {
  url: 'https://crm.example.com/?key=KEY-86420',
  headers: { authorization: 'Bearer KEY-97531' },
};
const tool = {
  name: 'look_up',
  description: 'Looks a customer up',
  integration: 'rest_api',
  action: 'request',
  body,
};

function keysInFiles(): string[] {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const text = files.map(({ name }) => readFileSync(join(folder, name), 'latin1')).join('\n');
  expect(text).toContain('Looks a customer up');
  return [...text.matchAll(/KEY-\d+/g)].map(([found]) => found);
}

async function made(): Promise<string> {
  const { body: answer } = await test.call('POST', '/v2/tools', { body: tool });
  return String(answer.data?.id);
}

it('stored tools contain no readable key of a customer, even after a change', async () => {
  const id = await made();
  await test.call('POST', `/v2/tools/${id}`, { body: { description: 'Looks a customer up by number' } });
  expect((await test.call('GET', `/v2/tools/${id}`)).body.data).toMatchObject({ body });
  expect(keysInFiles()).toEqual([]);
});

it('tools are sealed at the start where an earlier version left plain text, without a trace', async () => {
  const id = await made();
  const { db } = test.control.services.database;
  await db
    .updateTable('tools')
    .set({ body: sql`${JSON.stringify(body)}` })
    .execute();
  expect(new Set(keysInFiles())).toEqual(new Set(['KEY-86420', 'KEY-97531']));
  await test.close();

  const { key } = test;
  test = await start();
  expect(keysInFiles()).toEqual([]);
  expect((await test.call('GET', `/v2/tools/${id}`, { key })).body.data).toMatchObject({ body });
});
