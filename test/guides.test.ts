/**
 * The commands of docs/guides/ are run as they stand, in the order of the pages, against one control plane with an edge
 * that accepts every order. Where JSON follows a block of commands, the answer has all of it; `…` is anything.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { type ControlApp, createApp } from '../control/app.ts';
import { createApiKey, createEdgeToken, createOrganization } from '../control/organizations/store.ts';
import { readControlConfig } from '../control/settings/config.ts';
import { callRecord, connectEdge, type EdgeClient, reportFrame } from './kit/control/edge-client.ts';
import { listenOnce } from './kit/control/harness.ts';
import { longTest } from './kit/long-test.ts';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'docs', 'guides');
/** In the order of their table. */
const guides = [
  ...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/^\| \[[^\]]+\]\(([\w-]+)\.md\)/gm),
].map(([, name = '']) => name);

interface Block {
  readonly language: string;
  readonly content: string;
}

const blocksIn = (page: string): Block[] =>
  [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', content = '']) => ({
    language,
    content,
  }));
const blocksOf = (name: string) => blocksIn(readFileSync(join(folder, `${name}.md`), 'utf8'));

let control: ControlApp;
let edge: EdgeClient;
let work: string;
let env: Record<string, string>;

beforeAll(async () => {
  const config = readControlConfig({
    DATABASE_URL: ':memory:',
    TRUNKLINE_SECRET_KEY: '11'.repeat(32),
    CONTROL_PORT: '0',
    LOG_LEVEL: 'silent',
  });
  // No name is found: what is not there, such as shop.example.com, must not be asked for.
  const webhooks = { resolve: async () => [] };
  control = await createApp({ config, logger: pino({ level: 'silent' }), checkAnswers: true, webhooks });
  await control.begin();
  const made = await control.services.catalogue.change(async (db, altered) => {
    const orgId = await createOrganization(db, systemClock, control.services.secrets, {
      name: 'Guides',
      region: 'test',
      sipEnabled: true,
    });
    altered.organizations.add(orgId);
    return {
      orgId,
      key: await createApiKey(db, systemClock, { kind: 'customer', orgId }, 'guides'),
      edgeToken: await createEdgeToken(db, systemClock, 'guides'),
    };
  });
  const url = listenOnce(control);
  edge = await connectEdge({ url, edgeToken: made.edgeToken });
  void acceptAll(edge);
  work = mkdtempSync(join(tmpdir(), 'trunkline-guides-'));
  env = {
    PATH: process.env.PATH ?? '',
    HOME: work,
    TRUNKLINE_URL: await url(),
    TRUNKLINE_KEY: made.key,
    // As the walk-through of testing agents and its command name them.
    URL: await url(),
    KEY: made.key,
    TRUNKLINE_API_KEY: made.key,
  };
  await prepareFirstCall(made.orgId);
});
afterAll(async () => {
  await edge.kill();
  await control.close();
  rmSync(work, { recursive: true, force: true });
});

async function acceptAll(client: EdgeClient): Promise<void> {
  for (;;) {
    const frame = await client.next('command').catch(() => null);
    if (!frame) return;
    client.send({ type: 'result', id: frame.id, ok: true });
  }
}

/** What the first start and `npm run call` leave behind: the demo number, and a call to it. */
async function prepareFirstCall(orgId: string): Promise<void> {
  const answer = await fetch(`${env.TRUNKLINE_URL}/v1/sip/attach`, {
    method: 'POST',
    headers: { authorization: `Bearer ${env.TRUNKLINE_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      phone_number: '+14155550100',
      directions: [{ type: 'inbound', options: { allowed_ips: ['203.0.113.9'] } }],
    }),
  });
  expect(answer.status).toBe(200);
  edge.send(reportFrame(1, [{ type: 'call', call: callRecord(orgId) }]));
  await edge.next('ack');
}

const mark = '\u001e';

/** A variable that was read from an answer without it: the commands after it did nothing. */
const nothingMissing = `if set | grep -E '^[A-Z_]+=(null|)$' | grep -v '^BEFORE='; then exit 9; fi`;

/** Runs the blocks of a guide in one shell. @returns what each has written */
async function run(
  name: string,
  blocks: readonly Block[],
  { cwd = work, options = '-euo' } = {},
): Promise<string[]> {
  const script = [...blocks.map(({ content }) => `${content}\nprintf '${mark}'`), nothingMissing].join('\n');
  const child = spawn('bash', [options, 'pipefail', '-c', script], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, errors, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  expect({ name, status, errors, out: status === 0 ? '' : out }).toEqual({
    name,
    status: 0,
    errors: '',
    out: '',
  });
  return out.split(mark);
}

/** The last JSON value of the output. */
function lastJson(output: string): unknown {
  const starts = [...output.matchAll(/(?:^|\n|(?<=\}))(?=[[{"])/g)].map(({ index }) => index);
  for (const start of starts.reverse()) {
    try {
      return JSON.parse(output.slice(start));
    } catch {
      // It begins further ahead.
    }
  }
  throw new Error(`no JSON at the end of: ${output}`);
}

/** Where an answer differs from what the page shows; empty: it does not. */
function differences(shown: unknown, real: unknown, path = ''): string[] {
  if (shown === '…') return real === undefined ? [`${path}: missing`] : [];
  if (Array.isArray(shown)) {
    if (!Array.isArray(real) || real.length < shown.length || (shown.length === 0 && real.length > 0))
      return [`${path}: ${JSON.stringify(real)}`];
    return shown.flatMap((one, index) => differences(one, real[index], `${path}/${index}`));
  }
  if (typeof shown === 'object' && shown !== null) {
    if (typeof real !== 'object' || real === null) return [`${path}: ${JSON.stringify(real)}`];
    return Object.entries(shown).flatMap(([key, value]) =>
      differences(value, Object.entries(real).find(([name]) => name === key)?.[1], `${path}/${key}`),
    );
  }
  return shown === real ? [] : [`${path}: ${JSON.stringify(real)}`];
}

test('the table of guides has every page', () => {
  expect(guides.length).toBeGreaterThan(10);
});

test.each(guides)('the commands of the guide %s work, and answer as it shows', async (name) => {
  const blocks = blocksOf(name);
  const commands = blocks.filter(({ language }) => language === 'sh');
  expect(commands.length).toBeGreaterThan(1);
  const outputs = await run(name, commands);
  const wrong = blocks.flatMap(({ language, content }, index) => {
    const before = blocks[index - 1];
    if (language !== 'json' || before?.language !== 'sh') return [];
    const output = outputs[commands.indexOf(before)] ?? '';
    return differences(JSON.parse(content), lastJson(output)).map((one) => `${before.content} ${one}`);
  });
  expect(wrong).toEqual([]);
});

/** What a page shows after a block of commands, as it writes output: indented. */
function shownAfter(page: string, content: string): string | null {
  const [, after = ''] = page.split(`\`\`\`sh\n${content}\`\`\`\n\n`);
  const lines = after.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('    '));
  return end <= 0 ? null : lines.slice(0, end).join('\n');
}

/** Ids and times differ from run to run. */
const alike = (output: string) =>
  output
    .trim()
    .replaceAll(/^ +/gm, '')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<uuid>')
    .replaceAll(/ +[0-9]+\.[0-9]$/gm, '');

longTest('the walk-through of testing agents works, and shows what its page shows', async () => {
  const file = join(root, 'docs', 'agent-testing.md');
  const page = readFileSync(file, 'utf8');
  // Where the key comes from on a machine of one's own.
  const local = /^export (?:KEY|URL)=.*\n/gm;
  const blocks = blocksIn(page).filter(({ language }) => language === 'sh');
  const outputs = await run(
    'agent-testing.md',
    blocks.map(({ language, content }) => ({ language, content: content.replaceAll(local, '') })),
    { cwd: root, options: '-uo' },
  );
  const shown = blocks.map(({ content }) => shownAfter(page, content));
  expect(shown.filter((one) => one !== null).length).toBeGreaterThan(4);
  const real = shown.map((one, index) => (one === null ? null : alike(outputs[index] ?? '')));
  expect(real).toEqual(shown.map((one) => (one === null ? null : alike(one))));
});

test('an answer that differs from the page is found', () => {
  expect(differences({ a: '…', b: [1], c: null }, { a: 1, b: [1, 2], c: null })).toEqual([]);
  expect(differences({ a: '…', b: [1], c: null }, { b: [2], c: 0 })).toHaveLength(3);
});
