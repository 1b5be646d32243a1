/** The administrator's commands that pages of docs/ show after a prompt are run, and print what the pages show. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlApp, createApp } from '../control/app.ts';
import { readControlConfig } from '../control/settings/config.ts';
import { connectEdge, type EdgeClient } from './kit/control/edge-client.ts';
import { listenOnce } from './kit/control/harness.ts';
import { writeEmptyFile } from './kit/db/empty-file.ts';
import { documentedCommands } from './kit/documented-commands.ts';
import { AdminProgram } from './kit/programs/admin-program.ts';
import { promptedCommands, type ShownCommand } from './kit/shown-commands.ts';

const start = /^(?:npm run (?:-s |--silent )?admin -- |trunkline admin )/;
const shown = readdirSync(join(import.meta.dirname, '..', 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .flatMap((page) =>
    promptedCommands(page)
      .filter(({ line }) => start.test(line))
      .map((command) => [page, command.line, command] as const),
  )
  // It needs the request of a customer; control/admin/ports.test.ts runs it.
  .filter(([, line]) => !line.includes('port pin'));

/** As the pages name them. */
const edgeIds = ['0b6a51ef-7d6e-4d3c-8c7e-6f0c1f3f4d52', '9c0f3c1a-52b7-4a0a-9d0e-2f7b7c1f0e11'];
const orgOfPage = '5f0c6a1e-8f7e-4b0e-9d6a-0f9f3f1f2a11';

let folder: string;
let control: ControlApp;
let edges: readonly EdgeClient[];
let program: AdminProgram;
let orgId: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-admin-'));
  const config = readControlConfig({ TRUNKLINE_DATA: folder, CONTROL_PORT: '0', LOG_LEVEL: 'silent' });
  await writeEmptyFile(config.database);
  control = await createApp({ config, logger: pino({ level: 'silent' }), checkAnswers: true });
  await control.begin();
  program = new AdminProgram();
  orgId = await run(['org', 'create', 'Of the pages', '--sip']);
  const url = listenOnce(control);
  edges = await Promise.all(
    edgeIds.map(async (edge_id) =>
      connectEdge(
        { url, edgeToken: await run(['key', 'create', '--edge']) },
        { edge_id, outbox_id: edge_id },
      ),
    ),
  );
});
afterAll(async () => {
  await program.end();
  for (const edge of edges) await edge.kill();
  await control.close();
  rmSync(folder, { recursive: true });
});

async function run(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await program.run(folder, args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout.trim();
}

/** The command's own words, with the organization and the edge of this test. */
function wordsOf({ line }: ShownCommand): readonly string[] {
  const text = line
    .replace(start, 'admin ')
    .replaceAll(/<org(?: id)?>/g, orgId)
    .replaceAll(orgOfPage, orgId)
    .replaceAll('$EDGE', edgeIds[1] ?? '');
  return documentedCommands('', `    ${text}`)[0]?.words.slice(1) ?? [];
}

/** What a page shows as a pattern: other ids, keys and counts are as good. */
function patternOf(line: string): RegExp {
  const escaped = line.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(
    `^${escaped
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '[0-9a-f-]{36}')
      .replaceAll(/(tk_|et_)?[0-9A-Za-z]*…/g, '$1\\S+')
      .replaceAll(/\b\d{4,}\b/g, '\\d+')}$`,
  );
}

/** Up to the one where the page ends. */
const columns = (line = '') =>
  line
    .split('│')
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '' && cell !== '…');

test.each(shown)('%s: %s', async (_page, line, command) => {
  if (line.includes('edge remove')) await forgetEdges();
  const said = (await run(wordsOf(command))).split('\n');
  // A table of several columns is as wide as its values.
  if (command.output[0]?.startsWith('┌')) {
    const wanted = columns(command.output[1]);
    expect(columns(said[1]).slice(0, wanted.length)).toEqual(wanted);
  } else {
    expect(said.length).toBeGreaterThanOrEqual(command.output.length);
    for (const [at, one] of command.output.entries()) expect(said[at]).toMatch(patternOf(one));
  }
});

/** An edge is removed when it was away for half a minute. */
async function forgetEdges(): Promise<void> {
  for (const edge of edges) await edge.kill();
  const { db } = control.services.database;
  await db.updateTable('edges').set({ last_seen_at: '2020-01-01T00:00:00.000Z' }).execute();
}

test('there are many of them', () => {
  expect(shown.length).toBeGreaterThan(10);
});
