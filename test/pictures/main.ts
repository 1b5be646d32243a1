/**
 * `npm run pictures`: the pictures of docs/console.md, from a real control plane in a real browser. With a folder, each
 * screen goes there instead in three widths and both themes, to be looked at.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { ensureConsole } from '../../scripts/setup/console.ts';
import { launchBrowser, pageLimitMs, signIn, watchProblems } from '../kit/programs/console-page.ts';
import { ControlProgram } from '../kit/programs/control-program.ts';
import { makeScene } from './scene.ts';
import { largestPicture, pictures } from './screens.ts';

const kept = join(import.meta.dirname, '..', '..', 'docs', 'pictures');
const quality = 80;
const width = 1200;
const looked = [1280, 768, 360];

/** @param folder where screens go to be looked at; null: the pictures of the documentation are made */
export async function makePictures(folder: string | null): Promise<void> {
  await ensureConsole();
  await mkdir(folder ?? kept, { recursive: true });
  const control = new ControlProgram({ RATE_LIMIT_PER_MINUTE: '10000' });
  let browser: Browser | undefined;
  try {
    const scene = await makeScene(control);
    browser = await launchBrowser();
    const page = await browser.newPage({ baseURL: control.url, timezoneId: 'UTC', locale: 'en-GB' });
    page.setDefaultTimeout(pageLimitMs);
    const problems = watchProblems(page);
    await signIn(page, '/sessions', scene.key);
    for (const picture of pictures) {
      await page.setViewportSize({ width, height: picture.height });
      await page.emulateMedia({ colorScheme: picture.dark ? 'dark' : 'light' });
      await picture.show(page, scene);
      if (folder === null) await keep(page, picture.name);
      else await look(page, join(folder, picture.name));
    }
    if (problems.length > 0) throw new Error(problems.join('\n'));
    await scene.edge.close();
  } finally {
    await browser?.close();
    await control.remove();
  }
}

/** Draws what has changed. */
const settled = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

async function keep(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.evaluate(settled);
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality });
  await devtools.detach();
  const picture = Buffer.from(data, 'base64');
  if (picture.length > largestPicture)
    throw new Error(`${name} has ${picture.length} octets, more than ${largestPicture}`);
  const file = join(kept, `${name}.webp`);
  await writeFile(file, picture);
  console.log(`${file}: ${picture.length} octets`);
}

async function look(page: Page, file: string): Promise<void> {
  for (const wide of looked)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width: wide, height: wide < 500 ? 1400 : 1000 });
      await page.emulateMedia({ colorScheme });
      await page.evaluate(settled);
      await page.screenshot({ path: `${file}-${wide}-${colorScheme}.png` });
    }
}
