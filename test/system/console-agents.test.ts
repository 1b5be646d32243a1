/** The screens of the console about agents and the organization, in a real browser: one control plane for all. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ensureConsole } from '../../scripts/setup/console.ts';
import { type ConsoleScene, runToEnd, seedConsoleScene } from '../kit/control/console-scene.ts';
import {
  brokenRules,
  fitsPhone,
  launchBrowser,
  pageLimitMs,
  signIn,
  watchProblems,
} from '../kit/programs/console-page.ts';
import { ControlProgram } from '../kit/programs/control-program.ts';

const control = new ControlProgram();
let browser: Browser;
let page: Page;
let problems: string[] = [];
let scene: ConsoleScene;
let firstRun = '';

beforeAll(async () => {
  await ensureConsole();
  await control.start();
  scene = await seedConsoleScene(control.api);
  firstRun = await runToEnd(control.api, scene.books, 1);
  browser = await launchBrowser();
  page = await browser.newPage({ baseURL: control.url });
  page.setDefaultTimeout(pageLimitMs);
  problems = watchProblems(page);
  await signIn(page, '/sessions', control.keys.api_key);
});
beforeEach(() => page.setViewportSize({ width: 1280, height: 800 }));
afterEach(() => expect(problems.splice(0)).toEqual([]));
afterAll(async () => {
  await browser?.close();
  await control.remove();
});

async function isAccessible(): Promise<void> {
  expect(await brokenRules(page)).toEqual([]);
  await fitsPhone(page);
}

const button = (name: string) => page.getByRole('button', { name, exact: true });

describe('the screens about tests of agents', () => {
  it('mark in the conversation what a verdict quotes', async () => {
    await page.goto('/runs');
    await page.getByRole('link', { name: 'Books an appointment' }).click();
    await page.getByRole('heading', { name: 'Run of Books an appointment passed' }).waitFor();
    expect(page.url()).toContain(`/runs/${firstRun}`);
    await page.locator('mark.good').getByText('Goodbye').waitFor();
    await page.getByRole('listitem').getByText('Booked was visited').waitFor();
    await isAccessible();
  });

  it('run two versions of a scenario side by side, and say why one failed', async () => {
    await page.goto('/tests');
    await page.getByRole('link', { name: 'Asks for the hours' }).click();
    await page.getByText('Not run yet.').waitFor();
    await page.locator('select[name=version]').selectOption('1');
    await page.locator('select[name=beside]').selectOption('2');
    await isAccessible();
    await button('Start').click();
    const compared = page.getByRole('row', { name: 'Comes to the hours failed 0.00 passed 1.00' });
    await compared.waitFor();
    await button('Why did it fail?').click();
    await page.getByText('the fault is in nodes and edges').waitFor();
    await isAccessible();
  });

  it('run scenarios several times, and show how sure the rate is', async () => {
    await page.goto('/tests');
    await page.getByLabel('Select Asks for the hours').check();
    await page.getByLabel('Times each').fill('3');
    await isAccessible();
    await button('Run 1 selected').click();
    await page.getByRole('heading', { name: '1 scenario, 3 times each failed' }).waitFor();
    await page.getByRole('cell', { name: '0% between 0% and 56%' }).waitFor();
    await isAccessible();
    await page.goto('/sets');
    await page.getByRole('link', { name: '1 × 3' }).waitFor();
  });

  it('make a scenario from a template', async () => {
    await page.goto('/tests');
    await page.getByText('New scenario from a template').click();
    await page.locator('select[name=template]').selectOption({ label: 'Angry customer' });
    await button('Add').click();
    await page.getByRole('heading', { name: 'Angry customer' }).waitFor();
    await isAccessible();
    await page.goto('/tests/00000000-0000-4000-8000-000000000009');
    await page.getByRole('alert').getByText('SCENARIO_NOT_FOUND').waitFor();
  });
});
