/** A customer's way through the screens of number porting (console-screens.test.ts), and an operator's. */
import type { Browser, Page } from 'playwright-core';
import { order, smallPdf } from '../kit/control/porting.ts';
import { isAccessible, pageLimitMs, signIn } from '../kit/programs/console-page.ts';
import type { ControlProgram } from '../kit/programs/control-program.ts';

/** Uploads a document, checks a number and requests its port. */
export async function startsPort(page: Page): Promise<void> {
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await page.goto('/ports');
  const upload = page.getByRole('form', { name: 'Documents' });
  const give = async (name: string, content: string) => {
    await upload
      .getByLabel('File')
      .setInputFiles({ name, mimeType: 'application/pdf', buffer: Buffer.from(content) });
    await upload.getByRole('button', { name: 'Upload' }).click();
  };
  await give('bill.pdf', 'no bill');
  await page.getByRole('alert').getByText('UNSUPPORTED_FILE_TYPE').waitFor();
  await give('bill.pdf', smallPdf.toString('latin1'));
  await page.getByText('Uploaded.').waitFor();
  await page.getByText('New port request').click();
  await page.getByLabel('Numbers, one a line').fill('+14155550187');
  await button('Check the numbers').click();
  await page.getByRole('row', { name: /^[+]14155550187 yes/ }).waitFor();
  for (const [name, value] of [
    ['business', 'Acme Inc.'],
    ['first', 'Ada'],
    ['last', 'Lovelace'],
    ['email', 'ada@example.com'],
    ['account', 'AC-1'],
    ['street', '1 Main St'],
    ['city', 'San Francisco'],
    ['state', 'CA'],
    ['zip', '94105'],
  ] as const)
    await page.locator(`input[name=${name}]`).fill(value);
  await page.getByRole('checkbox', { name: /^PDF, 1 KiB/ }).check();
  await isAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await button('Request the port').click();
  await page.waitForURL('**/ports/port_*');
  await button('Read the letter').click();
  await page.getByRole('region', { name: 'Text of the letter' }).getByText('+14155550187').waitFor();
  await isAccessible(page);
}

interface PortScene {
  readonly page: Page;
  readonly browser: Browser;
  readonly control: ControlProgram;
}

/** A customer sees a request, an operator rejects it, and the customer sees why. */
export async function rejectsPort({ page, browser, control }: PortScene): Promise<void> {
  const { text } = await control.api.ok('POST', '/v1/sip/port/initiate', order(['+14155550188']));
  const screen = `/ports/${JSON.parse(text).data.port_request_id}`;
  await page.goto('/ports');
  await page.getByRole('link', { name: '+14155550188' }).click();
  await page.getByRole('link', { name: 'The letter as PDF' }).waitFor();
  await isAccessible(page);
  const operator = await browser.newPage({ baseURL: control.url });
  operator.setDefaultTimeout(pageLimitMs);
  await signIn(operator, screen, control.keys.operator_key);
  await operator.locator('select[name=status]').selectOption('failed');
  await operator.locator('input[name=reason]').fill('The account number is wrong.');
  await isAccessible(operator);
  await operator.getByRole('button', { name: 'Move', exact: true }).click();
  await operator.getByText('The request has ended.').waitFor();
  await operator.close();
  await page.locator('dd').getByText('The account number is wrong.').waitFor();
}
