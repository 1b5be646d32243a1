/**
 * The commands of docs/guides/ are run as they stand, in the order of the pages, against one control plane with an edge
 * that accepts every order. Each begins without numbers, so that what it attaches is what its other commands need. Where
 * JSON follows a block of commands, the answer has all of it; `…` is anything. What real calls need is in
 * test/system/guides.test.ts.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { type ControlApp, createApp } from '../control/app.ts';
import { createApiKey, createEdgeToken, createOrganization } from '../control/organizations/store.ts';
import { readControlConfig } from '../control/settings/config.ts';
import { webhookHeaders } from '../control/webhooks/rules.ts';
import { callRecord, connectEdge, type EdgeClient, reportFrame } from './kit/control/edge-client.ts';
import { listenOnce } from './kit/control/harness.ts';
import { blocksIn, differences, differencesFrom, guide, runBlocks } from './kit/guide.ts';
import { longTest } from './kit/long-test.ts';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'docs', 'guides');
/** In the order of their table. */
const guides = [
  ...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/^\| \[[^\]]+\]\(([\w-]+)\.md\)/gm),
].map(([, name = '']) => name);

let control: ControlApp;
let edge: EdgeClient;
let work: string;
let env: Record<string, string>;
/** Answers that were no success, of the guide that runs. */
const refused: string[] = [];

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
  control.app.server.on('request', ({ method, url }, answer) => {
    answer.once('finish', () => {
      if (answer.statusCode >= 400) refused.push(`${method} ${url}: ${answer.statusCode}`);
    });
  });
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

const post = (path: string, body: object) =>
  fetch(`${env.TRUNKLINE_URL}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${env.TRUNKLINE_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** What the first start and `npm run call` leave behind: the demo number, and a call to it. */
async function prepareFirstCall(orgId: string): Promise<void> {
  const answer = await post('/v1/sip/attach', {
    phone_number: '+14155550100',
    directions: [{ type: 'inbound', options: { allowed_ips: ['203.0.113.9'] } }],
  });
  expect(answer.status).toBe(200);
  edge.send(reportFrame(1, [{ type: 'call', call: callRecord(orgId) }]));
  await edge.next('ack');
}

/** Takes every number away, so that a guide which needs one attaches it itself. */
async function detachAll(page: string): Promise<void> {
  for (const [phone_number] of page.matchAll(/\+1\d{10}(?!\d)/g))
    await post('/v1/sip/detach', { phone_number, directions: ['inbound', 'outbound'] });
}

test('the table of guides has every page', () => {
  expect(guides.length).toBeGreaterThan(10);
});

test.each(guides)('the commands of the guide %s work, and answer as it shows', async (name) => {
  const page = guide(name);
  const blocks = blocksIn(page);
  const commands = blocks.filter(({ language }) => language === 'sh');
  expect(commands.length).toBeGreaterThan(1);
  if (name !== 'first-call') await detachAll(page);
  refused.length = 0;
  const outputs = await runBlocks(name, commands, { cwd: work, env });
  expect(differencesFrom(blocks, outputs)).toEqual([]);
  // curl ends well whatever the answer is, and many answers are not shown.
  const shown = blocks.filter(
    ({ language, content }) => language === 'json' && /"status": "error"/.test(content),
  );
  expect(refused, refused.join(', ')).toHaveLength(shown.length);
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
  const outputs = await runBlocks(
    'agent-testing.md',
    blocks.map(({ language, content }) => ({ language, content: content.replaceAll(local, '') })),
    { cwd: root, env, options: '-uo' },
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

test('the programs of the guide webhooks accept what is signed, and nothing else', async () => {
  const programs = blocksIn(guide('webhooks')).filter(({ language }) => language === 'js');
  expect(programs).toHaveLength(2);
  const [genuine, timed] = await Promise.all(
    programs.map(async ({ content }, index) => {
      const file = join(work, `program-${index}.mjs`);
      writeFileSync(file, content);
      return import(file);
    }),
  );
  const body = '{"id":"evt_1","type":"port.status_changed"}';
  const secret = 'ab12';
  const headers = webhookHeaders(
    { id: 'evt_1', type: 'port.status_changed', attempt: 1, body },
    secret,
    99_000,
  );
  const signature = headers['x-webhook-signature'];
  expect(genuine.isGenuine(body, signature, secret)).toBe(true);
  expect(genuine.isGenuine(`${body} `, signature, secret)).toBe(false);
  expect(genuine.isGenuine(body, '', secret)).toBe(false);
  expect(timed.timedSignature(headers['x-webhook-timestamp'], 'evt_1', body, secret)).toBe(
    headers['x-webhook-signature-timed'],
  );
  const [shell] = await runBlocks(
    'webhooks',
    blocksIn(guide('webhooks')).filter(({ content }) => content.startsWith('BODY=')),
    { cwd: work, env: { ...env, SECRET: secret } },
  );
  expect(shell?.trim()).toBe(signature);
});
