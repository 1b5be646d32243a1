/** The step of test/system/websocket.test.ts about calls from widgets, on its system and in its browser. */
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { PathwayList } from '#shared/api/pathways.ts';
import { ThreadListAnswer, WidgetOne } from '#shared/api/widgets.ts';
import { isAccessible, pageLimitMs, signIn, watchProblems } from '../kit/programs/console-page.ts';
import { deniedMicrophone, hearing, loseSocket, pitchOf, reached } from '../kit/programs/console-phone.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { type Site, startSite } from '../kit/programs/widget-site.ts';

interface CallScene {
  readonly system: TestSystem;
  readonly browser: Browser;
  /** Of SIP over WebSockets. */
  readonly port: number;
}

export async function widgetCalls({ system, browser, port }: CallScene): Promise<void> {
  const controlUrl = () => `http://127.0.0.1:${system.controlPort}`;
  const [shop, stranger] = [await startSite(controlUrl), await startSite(controlUrl)];
  // Without the permission Chromium has no ICE candidate on loopback.
  const context = await browser.newContext({ permissions: ['microphone'] });
  context.setDefaultTimeout(pageLimitMs);
  await context.addInitScript(hearing);
  try {
    shop.widget = await makeWidget(system, shop);
    const page = await context.newPage();
    shop.sockets = `wss://127.0.0.1:${port}`;
    await hearsTheAgent(system, page, shop);
    await goesOnInWriting(page);
    await isForbidden(page, shop, stranger);
    await isInConsole(system, page, shop);
  } finally {
    await context.close();
    await Promise.all([shop.close(), stranger.close()]);
  }
}

const log = (page: Page) => page.getByRole('log');
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const phone = (page: Page) => page.getByRole('group', { name: 'Call', exact: true });

async function isInView(page: Page, text: string): Promise<boolean> {
  const [message, around] = await Promise.all([
    log(page).getByText(text).boundingBox(),
    log(page).boundingBox(),
  ]);
  return message !== null && around !== null && message.y < around.y + around.height && message.y >= around.y;
}

async function makeWidget({ api }: TestSystem, { origin }: Site): Promise<string> {
  const demo = (await api.read(PathwayList, 'GET', '/v1/pathway')).find(({ name }) => name === 'Demo');
  const { data } = await api.read(WidgetOne, 'POST', '/v1/widget', {
    name: 'Shop',
    pathway_id: demo?.pathway_id,
    config: { allowedOrigins: [origin], voice: true },
  });
  return data.widget.id;
}

async function openChat(page: Page, { origin }: Site): Promise<void> {
  await page.goto(origin);
  await button(page, 'Open chat').click();
}

/** To the end of the call, with a key; what was said is in the thread. */
async function hearsTheAgent({ api }: TestSystem, page: Page, shop: Site): Promise<void> {
  // Without the attribute the page has no call button, and nothing of the phone.
  const files: string[] = [];
  page.on('request', (request) => files.push(new URL(request.url()).pathname));
  await openChat(page, shop);
  await log(page).getByText('Press 1 for sales').waitFor();
  expect(await button(page, 'Call').count()).toBe(0);
  shop.attributes = 'data-voice data-open="true" data-theme="auto" data-call-mute-label="Be silent"';
  await page.reload();
  const problems = watchProblems(page);
  await button(page, 'Call').waitFor();
  expect(files.filter((path) => path.includes('phone'))).toEqual([]);
  await page.setViewportSize({ width: 320, height: 568 });
  await button(page, 'Call').press('Enter');
  await phone(page).getByText('this page needs your microphone').waitFor();
  await isAccessible(page);
  // The focus is on the button that agrees.
  await page.keyboard.press('Enter');
  await phone(page).getByText('In a call').waitFor();
  await eventually('the voice of the agent', async () => saw(await pitchOf(page)));
  await isAccessible(page);
  // The network of the visitor changes: the call goes on.
  const before = await reached(page);
  await loseSocket(page);
  await eventually('the call over another WebSocket, with ICE restarted', async () => {
    const now = saw(await reached(page));
    return now.sockets > before.sockets && now.ice !== before.ice ? now : null;
  });
  await phone(page).getByText('In a call').waitFor();
  await button(page, 'Be silent').press('Enter');
  await phone(page).getByText('In a call; you are muted').waitFor();
  expect(await button(page, '1').count()).toBe(0);
  await button(page, 'Keys').press('Enter');
  await button(page, '1').press('Enter');
  await log(page).getByText('You have reached sales.').waitFor();
  await phone(page).getByText('The call has ended.').waitFor();
  await eventually('the newest message in view, above the phone', async () =>
    (await isInView(page, 'You have reached sales.')) ? true : null,
  );
  expect(problems).toEqual([]);
  const thread = await eventually('the call in the thread', async () => {
    const { data } = await api.read(ThreadListAnswer, 'GET', `/v1/widget/${shop.widget}/threads`);
    return saw(data.threads[0])?.messages.some(({ content }) => content.includes('reached sales'))
      ? data.threads[0]
      : null;
  });
  const spoken = thread?.messages.filter(({ call_id }) => call_id !== null) ?? [];
  expect(spoken.map(({ sender_type }) => sender_type)).toContain('ASSISTANT');
  expect(new Set(spoken.map(({ call_id }) => call_id)).size).toBe(1);
}

/** Without a microphone. */
async function goesOnInWriting(page: Page): Promise<void> {
  await page.evaluate(deniedMicrophone);
  await button(page, 'Call').first().click();
  await button(page, 'Start the call').click();
  await phone(page).getByText('The microphone is not allowed.').waitFor();
  await page.getByLabel('Write a message…').fill('2');
  await page.keyboard.press('Enter');
  await log(page).getByText('You have reached support.').waitFor();
}

/** By the policy of the page, and on a page that the widget does not allow. */
async function isForbidden(page: Page, shop: Site, stranger: Site): Promise<void> {
  shop.sockets = '';
  await page.goto(shop.origin);
  await button(page, 'Call').click();
  await button(page, 'Start the call').click();
  await phone(page).getByText('Calls are not available at the moment.').waitFor();
  Object.assign(stranger, { widget: shop.widget, attributes: shop.attributes });
  await page.goto(stranger.origin);
  await button(page, 'Call').click();
  await button(page, 'Start the call').click();
  await phone(page).getByText('The chat is not available on this page.').waitFor();
}

/** The inbox has the thread as spoken, and a preview is called as by a visitor. */
async function isInConsole(system: TestSystem, page: Page, { widget }: Site): Promise<void> {
  const screen = `http://127.0.0.1:${system.controlPort}/widgets/${widget}`;
  await signIn(page, screen, system.bootstrap.api_key);
  await page.getByRole('row', { name: 'spoken' }).getByRole('link').click();
  await page
    .getByRole('region', { name: 'Thread' })
    .getByRole('link', { name: 'in a call' })
    .first()
    .waitFor();
  await button(page, 'Start a preview').click();
  await button(page, 'Talk to Shop').click();
  const bar = page.getByRole('complementary', { name: 'Phone' });
  await bar.getByText('in a call').waitFor();
  await page.keyboard.press('2');
  await bar.getByText('Shop: ended').waitFor();
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.getByText('You have reached support.').waitFor();
  await isAccessible(page);
}
