/** Steps of the console's screens about agents of others, matrices and loads. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { noiseFile } from '../kit/control/noises.ts';
import { isAccessible } from '../kit/programs/console-page.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** A telephone that nobody can call is refused, with the reason; a chat is named. */
export async function namesAgent(page: Page): Promise<void> {
  await page.goto('/agents');
  await page.getByText('No agent of others yet.').waitFor();
  const form = page.getByRole('form', { name: 'New agent of others' });
  await form.getByLabel('Name').fill('Their desk');
  await form.getByLabel('Number that calls').fill('+14155550120');
  await form.getByLabel('Number or SIP URI to call').fill('+14155550121');
  await isAccessible(page);
  await button(page, 'Add').click();
  await page.getByRole('alert').getByText('NO_OUTBOUND_ROUTE').waitFor();
  await form.locator('select[name=format]').selectOption('openai');
  await form.getByLabel('Name').fill('Their bot');
  await form.getByLabel('URL, https').fill('https://bot.example.com/');
  await form.locator('input[name=model]').fill('m');
  await form.getByLabel('Its value').fill('Bearer secret');
  await button(page, 'Add').click();
  await page.getByRole('heading', { name: 'Their bot' }).waitFor();
  await page.locator('dd').getByText('Authorization').waitFor();
  await isAccessible(page);
}

/** A scenario on two versions; the noise is uploaded, heard, offered as weather and deleted. */
export async function startsMatrix(page: Page): Promise<void> {
  await page.goto('/matrices');
  await page.getByText('No matrix yet.').waitFor();
  const noises = page.getByRole('form', { name: 'Noises of your own' });
  await noises.getByLabel('Name').fill('Our lobby');
  const buffer = Buffer.from(noiseFile(), 'base64');
  await noises.getByLabel('WAV file').setInputFiles({ name: 'lobby.wav', mimeType: 'audio/wav', buffer });
  await button(page, 'Upload').click();
  const sound = page.waitForResponse((answer) => answer.url().endsWith('/sound'));
  await button(page, 'Listen to Our lobby').click();
  expect((await sound).status()).toBe(200);
  const form = page.getByRole('form', { name: 'New matrix' });
  await form.locator('select[name=over]').selectOption('sip');
  await form.getByLabel('Our lobby, 10 dB').check();
  await isAccessible(page);
  await form.locator('select[name=over]').selectOption('text');
  await form.locator('select[name=scenario]').selectOption({ label: 'Asks for the hours' });
  await form.locator('input[name=versions]').fill('2, 1');
  await form.getByLabel('Runs of each cell').fill('2');
  await button(page, 'Start').click();
  await page.getByRole('heading', { name: 'Asks for the hours in 2 cells failed' }).waitFor();
  await page.getByRole('row', { name: /version 1 .*-100%/ }).waitFor();
  await page.getByText('No cell is certainly worse').waitFor();
  await isAccessible(page);
  // The first one is called so with or without another one beside it.
  await page.getByRole('row', { name: /version 2 .*first cell/ }).waitFor();
  await page.goto('/matrices');
  await page.getByRole('row', { name: 'failed Asks for the hours 2' }).waitFor();
  await form.locator('select[name=scenario]').selectOption({ label: 'Asks for the hours' });
  await form.locator('input[name=versions]').fill('2');
  await form.getByLabel('Runs of each cell').fill('1');
  await button(page, 'Start').click();
  await page.getByRole('heading', { name: /Asks for the hours in 1 cell / }).waitFor();
  await page.getByRole('row', { name: /version 2 .*first cell/ }).waitFor();
  await page.goto('/matrices');
  await button(page, 'Delete Our lobby').click();
  await button(page, 'Delete it').click();
  await page.getByRole('row', { name: 'Our lobby' }).waitFor({ state: 'detached' });
}

export async function startsLoad(page: Page): Promise<void> {
  await page.goto('/loads');
  await page.getByText('No load yet.').waitFor();
  const form = page.getByRole('form', { name: 'New load' });
  await form.getByLabel('Scenarios of one agent').selectOption({ label: 'Asks for the hours' });
  await form.locator('select[name=transport]').selectOption('text');
  await form.getByLabel('first level').fill('1');
  await form.getByLabel('Last level').fill('2');
  await form.getByLabel('More each level').fill('1');
  await form.getByLabel('Calls of each level').fill('2');
  await isAccessible(page);
  await button(page, 'Start').click();
  await page.getByRole('heading', { name: '1 scenario completed' }).waitFor();
  await page.getByRole('row', { name: /^2 2 / }).waitFor();
}
