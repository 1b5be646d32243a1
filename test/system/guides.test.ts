/** Guides with real programs: what their commands set up is what answers, and places, real calls. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Block, blocksIn, differencesFrom, guide, runBlocks } from '../kit/guide.ts';
import { callAndTalk, pickUp } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { TestTrunk } from '../kit/programs/trunk.ts';
import { startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';
import { runShown, shownCommand } from '../kit/shown-commands.ts';

const root = join(import.meta.dirname, '..', '..');
/** That of the first start. */
const number = '+14155550100';

let system: TestSystem;
let trunk: TestTrunk;
let work: string;
let env: Record<string, string>;

beforeAll(async () => {
  system = await startTrunkSystem();
  trunk = await TestTrunk.listen(await trunkPair(system));
  work = await mkdtemp(join(tmpdir(), 'trunkline-guided-'));
  env = {
    PATH: process.env.PATH ?? '',
    HOME: work,
    TRUNKLINE_DATA: system.folder,
    TRUNKLINE_URL: system.api.url,
    TRUNKLINE_KEY: system.bootstrap.api_key,
  };
});

afterAll(async () => {
  await system?.stop();
  await trunk?.close();
  await rm(work, { recursive: true, force: true });
});

const isCommand = ({ language }: Block) => language === 'sh';

/** The blocks of a page, with an indented line of commands as one. */
const withIndented = (page: string) => blocksIn(page.replaceAll(/^ {4}(npm run .*)$/gm, '```sh\n$1\n```'));

/** Calls the number, and hears the agent. @returns its first sentence */
async function firstSentence(): Promise<string | undefined> {
  await system.api.applied(number);
  const caller = await callAndTalk(system, number);
  try {
    const { id } = await system.api.loggedCall(caller.callId, () => true);
    return await eventually('the first sentence of the agent', async () => {
      const { transcripts } = await system.api.detail(id);
      return transcripts.find(({ user }) => user === 'assistant')?.text;
    });
  } finally {
    await caller.hangup();
    await caller.close();
  }
}

test('the first call: its commands, with the call at its place', async () => {
  const blocks = withIndented(guide('first-call'));
  const commands = blocks.filter(isCommand);
  expect(commands.some(({ content }) => content.startsWith('npm run call'))).toBe(true);
  const quiet = commands.map(({ language, content }) => ({
    language,
    // What npm and the log say beside the answers.
    content: content.replace('npm run call', `npm run --silent call 2> ${join(work, 'said.txt')}`),
  }));
  const outputs = await runBlocks('first-call', quiet, { cwd: root, env });
  expect(differencesFrom(blocks, outputs)).toEqual([]);
  expect(outputs.at(-2)).toContain('Acme, good morning.');
});

test('an inbound agent: the number takes calls by what the guide attaches, and answers as it says', async () => {
  await system.api.ok('POST', '/v1/sip/detach', { phone_number: number, directions: ['inbound'] });
  await eventually('the number to be gone', async () => {
    const caller = await pickUp(system);
    try {
      const response = await caller.phone.invite(number, caller.media.sdp());
      if (response.status !== 200) return response.status === 404 || null;
      caller.phone.ack(response);
      await caller.hangup();
      return null;
    } finally {
      await caller.close();
    }
  });

  const blocks = blocksIn(guide('inbound-agents')).filter(isCommand);
  const words = blocks.findIndex(({ content }) => content.includes('"first_sentence"'));
  await runBlocks('inbound-agents', blocks.slice(0, words + 1), { cwd: work, env });
  expect(await firstSentence()).toBe('Acme, good morning.');

  const [api] = blocks;
  const rest = blocks.slice(words + 1);
  expect(rest.some(({ content }) => content.includes('{{company}}, good morning.'))).toBe(true);
  await runBlocks('inbound-agents', [...(api ? [api] : []), ...rest], { cwd: work, env });
  expect(await firstSentence()).toBe('Acme, good morning.');
});

test('outbound calls: the edge calls by what the guide attaches, and stops when it is told', async () => {
  const isRinging = join(work, 'ringing');
  const page = guide('outbound-calls');
  expect(page).toContain('"sip_endpoint":"trunk.example.com"');
  const blocks = blocksIn(page.replace('trunk.example.com', `127.0.0.1:${trunk.port}`)).filter(isCommand);
  const stop = blocks.findIndex(({ content }) => content.includes('/stop"'));
  expect(stop).toBeGreaterThan(1);
  const waits = { language: 'sh', content: `until [ -e ${isRinging} ]; do sleep 0.2; done` };
  const running = runBlocks('outbound-calls', [...blocks.slice(0, stop), waits, ...blocks.slice(stop)], {
    cwd: work,
    env,
  });
  const call = await trunk.call();
  expect(call.invite.startLine).toMatch(/^INVITE sips?:\+14155550123@/);
  expect(call.invite.header('from')).toContain('+14155550120');
  call.answer('180 Ringing');
  await writeFile(isRinging, '');
  await call.expect('CANCEL');
  expect((await running).at(-2)).toContain('"termination"');
  expect(await system.api.endedCall(call.id)).toMatchObject({ outcome: 'canceled', from: '+14155550120' });
});

test('the certificate of the first start has the names, as docs/engines.md looks at it', async () => {
  const { line, output } = shownCommand('engines.md', 'openssl');
  const said = await runShown(line.replace('/var/lib/trunkline', system.folder), {});
  const [heading, names] = said
    .trim()
    .split('\n')
    .map((one) => one.trim());
  expect(heading).toBe(output[0]);
  expect(output[1]).toBe('DNS:PUBLIC_NAME, DNS:localhost, …');
  expect(names).toMatch(/^IP Address:127\.0\.0\.1, DNS:localhost/);
});
