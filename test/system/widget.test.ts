/** The embeddable chat in a real browser, on pages of other origins, with a real control plane process. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PathwayList } from '#shared/api/pathways.ts';
import { PersonaAnswer } from '#shared/api/personas.ts';
import { ThreadAnswer, ThreadListAnswer, WidgetOne } from '#shared/api/widgets.ts';
import { readBootstrap } from '../../scripts/supervisor/bootstrap.ts';
import { ModelServer } from '../kit/fakes/model-server.ts';
import { Api } from '../kit/programs/api.ts';
import { launchBrowser } from '../kit/programs/console-page.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';
import { TestProgram } from '../kit/programs/program.ts';
import { type Site, startSite } from '../kit/programs/widget-site.ts';

/** Time-out of a start, and of each step in the browser, ms. */
const limitMs = 90_000;

let folder = '';
let control: TestProgram;
let controlUrl = '';
let api: Api;
let models: ModelServer;
let browser: Browser;
let context: BrowserContext;
let shop: Site;
let stranger: Site;

async function startControl(): Promise<void> {
  control.start();
  await eventually(
    '/health to be 200',
    async () => {
      if (!control.running) throw new Error(`control ended while starting\n${control.output}`);
      const answer = await fetch(`${controlUrl}/health`).catch(() => null);
      await answer?.arrayBuffer();
      return answer?.status === 200 || null;
    },
    limitMs,
  );
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-widget-'));
  const port = await freeTcpPort();
  controlUrl = `http://127.0.0.1:${port}`;
  models = await ModelServer.start();
  const settings = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    TRUNKLINE_DATA: folder,
    CONTROL_HOST: '127.0.0.1',
    CONTROL_PORT: String(port),
    LLM_BASE_URL: models.url,
    LLM_MODEL: 'test',
  };
  control = TestProgram.control(settings, {
    limits: { models: { maxRetries: 0 }, widgets: { sessionsPerMinute: 1000 } },
  });
  await startControl();
  const { api_key } = await readBootstrap(join(folder, 'bootstrap.json'));
  api = new Api(controlUrl, api_key);
  [shop, stranger] = [await startSite(() => controlUrl), await startSite(() => controlUrl)];
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await shop?.close();
  await stranger?.close();
  await control?.end('SIGTERM');
  await rm(folder, { recursive: true, force: true });
  await models?.close();
});

let problems: string[] = [];
beforeEach(async () => {
  context = await browser.newContext({ baseURL: shop.origin });
  context.setDefaultTimeout(limitMs);
  problems = [];
});
afterEach(() => context.close());

async function openPage(site: Site): Promise<Page> {
  const page = await context.newPage();
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) problems.push(message.text());
  });
  await page.goto(site.origin);
  return page;
}

async function makeWidget(agent: object, config: object = {}): Promise<string> {
  const { data } = await api.read(WidgetOne, 'POST', '/v1/widget', {
    name: 'Shop',
    ...agent,
    config: { allowedOrigins: [shop.origin], ...config },
  });
  return data.widget.id;
}

async function demoPathway(): Promise<string> {
  const pathways = await api.read(PathwayList, 'GET', '/v1/pathway');
  const demo = pathways.find(({ name }) => name === 'Demo');
  if (!demo) throw new Error('there is no demo pathway');
  return demo.pathway_id;
}

async function makePersona(): Promise<string> {
  const { data } = await api.read(PersonaAnswer, 'POST', '/v1/personas', {
    name: 'Ada',
    personality_prompt: 'You sell lamps.',
  });
  return data.id;
}

async function threadsOf(widget: string) {
  const { data } = await api.read(ThreadListAnswer, 'GET', `/v1/widget/${widget}/threads`);
  return data.threads;
}

const open = (page: Page) => page.getByRole('button', { name: 'Open chat' }).click();
const log = (page: Page) => page.getByRole('log');
async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Write a message…').fill(text);
  await page.keyboard.press('Enter');
}

describe('the chat on a page of another origin', () => {
  it('chats with the demo pathway to its end, and starts again', async () => {
    models.record({ text: ['{"choice":null,"reason":"Neither fits"}'] });
    shop.widget = await makeWidget({ pathway_id: await demoPathway() });
    const page = await openPage(shop);
    await open(page);
    await log(page).getByText('Press 1 for sales').waitFor();
    await say(page, 'something else');
    await log(page).getByText('That is not on the menu').waitFor();
    await say(page, '1');
    await log(page).getByText('You have reached sales.').waitFor();
    await log(page).getByText('This conversation has ended.').waitFor();
    await page.getByRole('button', { name: 'Start a new conversation' }).click();
    await log(page).getByText('You have reached sales.').waitFor({ state: 'detached' });
    await log(page).getByText('Press 1 for sales').waitFor();
    await say(page, '2');
    await log(page).getByText('You have reached support.').waitFor();
    expect(await threadsOf(shop.widget)).toHaveLength(2);
    expect(problems).toEqual([]);
  });

  it('shows an answer while it is written, always as text, and completely after a reload', async () => {
    const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>';
    const rest = Promise.withResolvers<void>();
    models.record({ text: ['This comes first. ', rest.promise, `${evil} comes last.`] });
    shop.widget = await makeWidget({ persona_id: await makePersona() }, { greeting: 'Hi <b>you</b>' });
    const page = await openPage(shop);
    await open(page);
    await log(page).getByText('Hi <b>you</b>').waitFor();
    await say(page, evil);
    const written = page.locator('[aria-busy=true]');
    await written.getByText('This comes first.').waitFor();
    expect(await page.getByRole('status').textContent()).toBe('The assistant is writing…');
    rest.resolve();
    await log(page).getByText(`This comes first. ${evil} comes last.`).waitFor();
    expect(await written.count()).toBe(0);
    expect(await log(page).locator('img, script, b').count()).toBe(0);
    await page.reload();
    await log(page).getByText(`This comes first. ${evil} comes last.`).waitFor();
    expect(await log(page).locator('p').allTextContents()).toEqual([
      'Assistant: Hi <b>you</b>',
      `You: ${evil}`,
      `Assistant: This comes first. ${evil} comes last.`,
    ]);
    expect(problems).toEqual([]);
  });

  it('shows the hand-off and the messages of a live agent', async () => {
    shop.widget = await makeWidget({ pathway_id: await demoPathway() });
    const page = await openPage(shop);
    await open(page);
    await log(page).getByText('Press 1 for sales').waitFor();
    const [thread] = await threadsOf(shop.widget);
    const path = `/v1/widget/${shop.widget}/threads/${thread?.id}`;
    await api.ok('POST', `${path}/handoff`);
    await log(page).getByText('You are now talking to a person.').waitFor();
    await say(page, 'Is anybody there?');
    await log(page).getByText('Is anybody there?').waitFor();
    await page.keyboard.press('Escape');
    await api.ok('POST', `${path}/messages`, { sender_type: 'ASSISTANT', content: 'This is Eve.' });
    await page.getByRole('button', { name: 'Open chat (1)' }).click();
    await log(page).getByText('This is Eve.').waitFor();
    await api.ok('POST', `${path}/end`);
    await log(page).getByText('This conversation has ended.').waitFor();
  });

  it('offers a retry when the model fails, and keeps the message', async () => {
    models.record({ status: 500 }, { text: ['A lamp costs ten.'] });
    shop.widget = await makeWidget({ persona_id: await makePersona() });
    const page = await openPage(shop);
    await open(page);
    await say(page, 'What is a lamp?');
    await page.getByRole('alert').getByText('Your message was not answered.').waitFor();
    expect((await threadsOf(shop.widget))[0]?.messages).toMatchObject([{ content: 'What is a lamp?' }]);
    await page.getByRole('button', { name: 'Try again' }).click();
    await log(page).getByText('A lamp costs ten.').waitFor();
  });

  it('continues after the control plane was killed', async () => {
    models.record({ text: ['{"choice":null,"reason":"Neither fits"}'] });
    shop.widget = await makeWidget({ pathway_id: await demoPathway() });
    const page = await openPage(shop);
    await open(page);
    await log(page).getByText('Press 1 for sales').waitFor();
    await say(page, 'something else');
    await log(page).getByText('That is not on the menu').waitFor();
    await control.end('SIGKILL');
    await page.getByText('Connecting…').waitFor();
    await startControl();
    await page.getByText('Connecting…').waitFor({ state: 'hidden', timeout: 40_000 });
    await say(page, '2');
    await log(page).getByText('You have reached support.').waitFor();
    expect(await log(page).locator('.message').count()).toBe(5);
  });

  it('works in a page without storage', async () => {
    shop.widget = await makeWidget({ pathway_id: await demoPathway() });
    await context.addInitScript(
      "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError'); } })",
    );
    const page = await openPage(shop);
    await open(page);
    await say(page, '1');
    await log(page).getByText('You have reached sales.').waitFor();
    expect(await threadsOf(shop.widget)).toHaveLength(1);
    expect(problems).toEqual([]);
  });

  it('is usable with only the keyboard', async () => {
    shop.widget = await makeWidget({ pathway_id: await demoPathway() });
    shop.attributes = 'data-title="Ask us" data-color="#ffcc00" data-position="left" data-theme="dark"';
    const page = await openPage(shop);
    shop.attributes = '';
    const launcher = page.getByRole('button', { name: 'Open chat' });
    await launcher.waitFor();
    await page.getByRole('button', { name: 'Buy' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Ask us' }).waitFor();
    await log(page).getByText('Press 1 for sales').waitFor();
    await page.keyboard.type('2');
    await page.keyboard.press('Enter');
    await log(page).getByText('You have reached support.').waitFor();
    expect(await page.locator('button:focus').textContent()).toBe('Start a new conversation');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await page.locator('button:focus').getAttribute('aria-expanded')).toBe('false');
  });
});

describe('a control plane killed during an answer', () => {
  it('has the message after its restart, and the agent gets it with the next one', async () => {
    const never = Promise.withResolvers<void>();
    models.record({ text: ['A lamp ', never.promise] }, { text: ['It costs ten, Ada.'] });
    const widget = await makeWidget({ persona_id: await makePersona() });
    const begun = await api.read(ThreadAnswer, 'POST', `/v1/widget/${widget}/threads`, {});
    const thread = `/v1/widget/${widget}/threads/${begun.data.thread.id}`;
    const before = models.requests.length;
    const lost = api.request('POST', `${thread}/messages`, { content: 'I am Ada.' }).catch(() => null);
    await models.asked(before + 1);
    await control.end('SIGKILL');
    expect(await lost).toBeNull();
    never.resolve();
    await startControl();
    expect((await threadsOf(widget))[0]?.messages).toMatchObject([{ content: 'I am Ada.' }]);
    await api.ok('POST', `${thread}/messages`, { content: 'What is the price?' });
    expect(models.requests.at(-1)?.messages.at(-1)).toMatchObject({
      role: 'user',
      content: 'I am Ada.\nWhat is the price?',
    });
    expect((await threadsOf(widget))[0]?.messages.map(({ content }) => content)).toEqual([
      'I am Ada.',
      'What is the price?',
      'It costs ten, Ada.',
    ]);
  });
});

describe('a forbidden origin', () => {
  it('gets no session, and the chat says so', async () => {
    stranger.widget = await makeWidget({ pathway_id: await demoPathway() });
    const page = await openPage(stranger);
    await open(page);
    await page.getByText('The chat is not available on this page.').waitFor();
    expect(await threadsOf(stranger.widget)).toEqual([]);
  });
});
