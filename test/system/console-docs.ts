/** A way through the pages under /docs (console-screens.test.ts): search, a request with a key, copy, small screens. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { isAccessible } from '../kit/programs/console-page.ts';
import type { ControlProgram } from '../kit/programs/control-program.ts';

interface Parts {
  readonly page: Page;
  readonly control: ControlProgram;
}

const endpoint = '/docs/api/organization/get_v1_org_settings';
/** Everything that a page may leave behind. */
const kept = 'JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, document.cookie])';

async function findsAnEndpoint(page: Page): Promise<void> {
  await page.goto('/docs');
  await page.getByRole('heading', { name: 'Trunkline', level: 1 }).waitFor();
  await isAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.keyboard.press('/');
  await page.keyboard.type('org/settings get');
  await page.getByRole('option', { name: /^GET \/v1\/org\/settings/ }).waitFor();
  await isAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.keyboard.press('Enter');
  await page.waitForURL(`**${endpoint}`);
  await page.getByRole('heading', { name: 'Settings of the organization', level: 1 }).waitFor();
}

/** The key outlives the way to another page, and is kept nowhere. */
async function sendsARequest({ page, control }: Parts): Promise<void> {
  const key = control.keys.api_key;
  await page.getByText('Try it', { exact: true }).click();
  await page.getByLabel('Your key').fill(key);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText(/^200 /).waitFor();
  await page.getByRole('group', { name: 'Answer', exact: true }).getByText('"org_id"').waitFor();
  await isAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page
    .getByRole('navigation', { name: 'Contents' })
    .getByText('GET /v1/org/keys', { exact: true })
    .click();
  await page.getByRole('heading', { name: 'Keys of the organization, newest first', level: 1 }).waitFor();
  await page.getByText('Try it', { exact: true }).click();
  expect(await page.getByLabel('Your key').inputValue()).toBe(key);
  expect(await page.evaluate<string>(kept)).not.toContain(key);
  await page.reload();
  await page.getByText('Try it', { exact: true }).click();
  expect(await page.getByLabel('Your key').inputValue()).toBe('');
}

/** Fields fold, guides have their tables, and all of it fits a telephone. */
async function readsPages(page: Page): Promise<void> {
  await page.goto('/docs/api/calls/post_v1_calls');
  await page.getByText('Fields of voicemail').click();
  await page.getByRole('rowheader', { name: 'action' }).waitFor();
  await page.getByRole('button', { name: 'Copy' }).first().waitFor();
  await isAccessible(page);
  await page.goto('/docs/guides/first-call');
  await page.getByRole('heading', { name: 'First call', level: 1 }).waitFor();
  await isAccessible(page);
}

export const documentationSteps = [
  ['finds an endpoint by the keyboard', ({ page }: Parts) => findsAnEndpoint(page)],
  ['sends a request with a key that is kept nowhere', sendsARequest],
  ['reads an endpoint and a guide on a telephone', ({ page }: Parts) => readsPages(page)],
] as const;
