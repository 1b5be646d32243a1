/**
 * `npm run pictures`: the pictures of docs/console.md, from a real control plane in a real browser. With a folder, every
 * screen goes there instead in three widths and both themes, also those of an organization that has nothing yet, to be
 * looked at.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { ensureConsole } from '../../scripts/setup/console.ts';
import { AdminProgram } from '../kit/programs/admin-program.ts';
import { launchBrowser, pageLimitMs, signIn, watchProblems } from '../kit/programs/console-page.ts';
import { ControlProgram } from '../kit/programs/control-program.ts';
import { emptyScreens, furtherScreens, type Looked } from './looked.ts';
import { makeScene, type Scene } from './scene.ts';
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
    if (folder === null) await keepAll(await signedIn(browser, control, scene.key), scene);
    else await lookAtAll(browser, control, scene, folder);
    await scene.edge.close();
  } finally {
    await browser?.close();
    await control.remove();
  }
}

interface SignedIn {
  readonly page: Page;
  /** What the browser complained about. */
  readonly problems: readonly string[];
}

async function signedIn(browser: Browser, control: ControlProgram, key: string): Promise<SignedIn> {
  const page = await browser.newPage({ baseURL: control.url, timezoneId: 'UTC', locale: 'en-GB' });
  page.setDefaultTimeout(pageLimitMs);
  const problems = watchProblems(page);
  await signIn(page, '/sessions', key);
  return { page, problems };
}

async function keepAll({ page, problems }: SignedIn, scene: Scene): Promise<void> {
  for (const picture of pictures) {
    await page.setViewportSize({ width, height: picture.height });
    await page.emulateMedia({ colorScheme: picture.dark ? 'dark' : 'light' });
    await picture.show(page, scene);
    await keep(page, picture.name);
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

async function lookAtAll(browser: Browser, control: ControlProgram, scene: Scene, folder: string) {
  const shown = pictures.map(({ name, show }): Looked => ({ name, show: (page) => show(page, scene) }));
  const groups: readonly (readonly [key: string, screens: readonly Looked[]])[] = [
    [scene.key, [...shown, ...(await furtherScreens(scene))]],
    [await strangersKey(control), emptyScreens()],
  ];
  for (const [key, screens] of groups) {
    const { page } = await signedIn(browser, control, key);
    for (const { name, show } of screens) {
      await page.setViewportSize({ width, height: 900 });
      await show(page);
      await look(page, join(folder, name));
      console.log(name);
    }
    await page.close();
  }
}

/** Of an organization that has nothing yet. */
async function strangersKey(control: ControlProgram): Promise<string> {
  const admin = new AdminProgram();
  const { stdout } = await admin.run(control.folder, ['org', 'create', 'Another', '--sip']);
  const { stdout: made } = await admin.run(control.folder, ['key', 'create', found(/[0-9a-f-]{36}/, stdout)]);
  await admin.end();
  return found(/tk_[A-Za-z0-9_-]+/, made);
}

function found(pattern: RegExp, text: string): string {
  const [one] = pattern.exec(text) ?? [];
  if (one === undefined) throw new Error(`no ${pattern} in ${text}`);
  return one;
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

/** The whole of a long screen, up to here, px. */
const highest = 3000;

/** Of what is in the page, or in its scrolled part. */
const wholeHeight =
  'Math.max(document.documentElement.scrollHeight, document.querySelector("main#content")?.scrollHeight ?? 0)';

async function look(page: Page, file: string): Promise<void> {
  for (const wide of looked)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width: wide, height: 700 });
      await page.emulateMedia({ colorScheme });
      await page.evaluate(settled);
      const height = Math.min(highest, await page.evaluate<number>(wholeHeight));
      await page.setViewportSize({ width: wide, height });
      await page.evaluate(settled);
      await page.screenshot({ path: `${file}-${wide}-${colorScheme}.png` });
    }
}
