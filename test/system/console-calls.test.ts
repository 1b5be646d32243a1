/** The screens of the console about calls together, in a real browser: one control plane, to which an edge reports. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NumberConfigurations } from '#shared/api/sip.ts';
import { ensureConsole } from '../../scripts/setup/console.ts';
import { callRecord, EdgeClient, reportFrame } from '../kit/control/edge-client.ts';
import { refusedInvites } from '../kit/control/refused-invites.ts';
import {
  brokenRules,
  isAccessible,
  launchBrowser,
  pageLimitMs,
  sayYes,
  signIn,
  watchProblems,
} from '../kit/programs/console-page.ts';
import { ControlProgram } from '../kit/programs/control-program.ts';

const number = '+14155550177';
const [stranger, known] = ['203.0.113.5', '198.51.100.7'];

const control = new ControlProgram();
let browser: Browser;
let page: Page;
let problems: string[] = [];

beforeAll(async () => {
  await ensureConsole();
  await control.start();
  browser = await launchBrowser();
  page = await browser.newPage({ baseURL: control.url });
  page.setDefaultTimeout(pageLimitMs);
  // The day of the calls is today, also when a day ends during the test.
  await page.clock.setFixedTime('2030-01-01T12:00:00.000Z');
  problems = watchProblems(page);
});
beforeEach(() => page.setViewportSize({ width: 1280, height: 800 }));
afterEach(() => expect(problems.splice(0)).toEqual([]));
afterAll(async () => {
  await browser?.close();
  await control.remove();
});

const button = (name: string) => page.getByRole('button', { name, exact: true });
const card = (name: string) => page.getByRole('region', { name, exact: true });

describe('before anything has happened', () => {
  it('the first screen and that of refused calls say what to do next', async () => {
    await signIn(page, '/', control.keys.api_key);
    await card('Calls now').getByText('0', { exact: true }).waitFor();
    await card('Today (UTC)').getByText('No call has ended today.').waitFor();
    await isAccessible(page);
    await page.goto('/refused');
    await page.getByText('No call was refused.').waitFor();
    await isAccessible(page);
    await page.goto('/alerts');
    await page.getByText('No alert is open.').waitFor();
    await page.getByRole('link', { name: 'All', exact: true }).click();
    await page.getByText('No alert was raised in the last 90 days.').waitFor();
    await isAccessible(page);
    await page.goto('/calls');
    await page.getByText('No call has ended in this time.').waitFor();
  });
});

describe('after calls', () => {
  beforeAll(report);

  it('the first screen shows how they went, with the way to each', async () => {
    await page.goto('/');
    const today = card('Today (UTC)');
    await today.getByText('50.0 %').waitFor();
    await today.getByText('0:45').waitFor();
    await card('Last refused calls').getByText(stranger).waitFor();
    await isAccessible(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.locator('body').press('g');
    await page.keyboard.press('l');
    await page.getByRole('heading', { name: 'Live calls' }).waitFor();
    await page.goBack();
    await today.getByRole('link', { name: 'Calls of today' }).click();
    await page.getByRole('img', { name: 'ASR, % over time' }).locator('canvas').waitFor();
  });

  it('who was refused is let in and kept out by one button, after a question', async () => {
    const allowed = async () => {
      const path = `/v1/sip?phone_number=${encodeURIComponent(number)}`;
      return (await control.api.read(NumberConfigurations, 'GET', path)).data.inbound?.options.allowed_ips;
    };
    await page.goto('/refused');
    await page.getByText('The source may not call the number.').waitFor();
    await isAccessible(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await button(`Allow ${stranger}`).click();
    expect(await brokenRules(page)).toEqual([]);
    await sayYes(page, 'Allow it');
    expect(await allowed()).toEqual([known, stranger]);
    await button(`Block ${known}`).click();
    await sayYes(page, 'Block it');
    expect(await allowed()).toEqual([stranger]);
    await button(`Block ${known}`).click();
    await button('Block it').click();
    await page.getByRole('alert').getByText('NOT_LISTED').waitFor();
    await button('Leave it allowed').click();
  });

  it('a search is kept by a name and found again, with its plots', async () => {
    await page.goto('/calls?termination=route_refused');
    await page.getByRole('cell', { name: '+14155550199' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByRole('img', { name: 'MOS over time' }).locator('canvas').waitFor();
    await page.getByText('Figures by time').click();
    await page.getByRole('cell', { name: '4.30' }).first().waitFor();
    await page.getByLabel('Name of this view').fill('Refused by the trunk');
    await isAccessible(page);
    await page.keyboard.press('Enter');
    const view = page.getByRole('link', { name: 'Refused by the trunk' });
    await view.waitFor();
    await page.goto('/calls');
    await view.click();
    await page.getByRole('cell', { name: '+14155550199' }).waitFor();
    expect(new URL(page.url()).search).toBe('?termination=route_refused');
    await button('Remove the view Refused by the trunk').click();
    await view.waitFor({ state: 'detached' });
    await page.goto('/calls?from=x');
    await page.getByRole('alert').getByText('INVALID_PARAMETER').first().waitFor();
  });
});

/** A number with a known source, two calls of today, and two sources that were refused. */
async function report(): Promise<void> {
  const { org_id, edge_token } = control.keys;
  await control.api.ok('POST', '/v1/sip/attach', {
    phone_number: number,
    directions: [{ type: 'inbound', auth_mode: 'ip', options: { allowed_ips: [known] } }],
  });
  const edge = await EdgeClient.connect(`${control.url.replace('http', 'ws')}/v1/edge/link`, edge_token);
  await edge.arrival('config');
  const answered = callRecord(org_id);
  const failed = callRecord(org_id, {
    id: '00000000-0000-4000-8000-000000000002',
    sip_call_id: 'refused',
    direction: 'outbound',
    from: '+14155550100',
    to: '+14155550199',
    answered_at: null,
    sip_code: 403,
    termination: 'route_refused',
    status: 'failed',
    media: null,
  });
  const refused = [
    refusedInvites(org_id, number, stranger, 'source_not_allowed'),
    refusedInvites(org_id, number, known, 'no_agent'),
  ];
  edge.send(
    reportFrame(1, [
      { type: 'call', call: answered },
      { type: 'call', call: failed },
      { type: 'refused', refused },
    ]),
  );
  await edge.arrival('ack');
  await edge.close();
}

describe('what every screen must hold to', () => {
  let other: Page;
  beforeAll(async () => {
    other = await browser.newPage();
  });
  afterAll(() => other?.close());

  /** Names of the broken rules of a page with this in it, and the themes. */
  async function broken(body: string): Promise<string[]> {
    const style = `body { color: #000; background: #fff } @media (prefers-color-scheme: dark) {
      body { color: #fff; background: #000 } .night { color: #333 } }`;
    await other.setContent(
      `<html lang="en"><title>Page</title><style>${style}</style><main><h1>Page</h1>${body}</main></html>`,
    );
    return (await brokenRules(other)).map((one) => one.split(' ').slice(0, 2).join(' '));
  }
  const inBoth = ['light color-contrast', 'dark color-contrast'];

  it.each([
    ['no fault', '<p>Black on white</p>', []],
    ['a picture without words', '<img src="data:,">', ['dark image-alt']],
    ['a text that is pale in both themes', '<p style="color: #888; background: #999">Pale</p>', inBoth],
    ['a text that is pale in the dark', '<p class="night">Pale</p>', ['dark color-contrast']],
    ['a look that was broken before', '<p class="night">Pale</p>', ['dark color-contrast']],
    [
      'a large text of little contrast',
      '<p style="color: #888; background: #fff; font-size: 30px">Large</p>',
      [],
    ],
    ['the same in small', '<p style="color: #888; background: #fff">Small</p>', inBoth],
    [
      'a text in an opaque box that lets through what is behind',
      '<div style="opacity: 0.2"><p style="color: #000; background: #fff">Faint</p></div>',
      ['light color-contrast', 'dark color-contrast'],
    ],
    [
      'a text in a shadow',
      '<div><template shadowrootmode="open"><p style="color: #666; background: #555">Pale</p></template></div>',
      inBoth,
    ],
  ])('is judged with %s', async (_what, body, rules) => {
    expect(await broken(body)).toEqual(rules);
  });
});
