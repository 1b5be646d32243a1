/** The console in a real browser: signing in, and what every screen must hold to. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { eventually } from './eventually.ts';

/** Of each step in the browser: finds what hangs, ms. */
export const pageLimitMs = 90_000;

/**
 * Chromium without its windows: it takes a third less CPU than the whole browser, and has the same engine.
 *
 * @param args besides those of every test
 */
export function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', ...args],
    timeout: pageLimitMs,
  });
}

/** @returns what goes wrong in the page from now on: errors of scripts, and what its policy forbids */
export function watchProblems(page: Page): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) problems.push(message.text());
  });
  return problems;
}

export const keyField = (page: Page) => page.getByLabel('API key or operator key');

export async function signIn(page: Page, path: string, key: string): Promise<void> {
  await page.goto(path);
  await keyField(page).fill(key);
  await page.keyboard.press('Enter');
  await keyField(page).waitFor({ state: 'detached' });
}

/**
 * Says yes to the question that is open, and waits until it is gone: what is behind it cannot be typed into before, though
 * an event may show there already what the answer to the question brought about.
 */
export async function sayYes(page: Page, words: string): Promise<void> {
  const question = page.getByRole('dialog');
  await question.getByRole('button', { name: words, exact: true }).click();
  await question.waitFor({ state: 'detached' });
}

/** The minified one: a browser reads it in half the time. */
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/**
 * Run in the page: axe, with its rules or those of `options`, and contrast for one text of each look that is not known.
 * Contrast follows from what is in `look`; axe searches behind each text for it. It describes broken rules only.
 */
const check = `async (looks, options) => {
  const known = new Set(looks);
  const isLarge = ({ fontSize, fontWeight }) => {
    // As axe computes it from WCAG's 18 points, or 14 if bold.
    const points = Math.ceil(parseFloat(fontSize) * 72) / 96;
    return points >= (fontWeight >= 700 ? 14 : 18);
  };
  const look = (element) => {
    const style = getComputedStyle(element);
    const own = [style.color, isLarge(style), style.textShadow, element.matches(':disabled, [aria-disabled="true"]')];
    const behind = [];
    for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(at);
      if (backgroundColor !== 'rgba(0, 0, 0, 0)' || backgroundImage !== 'none' || opacity !== '1')
        behind.push([backgroundColor, backgroundImage, opacity]);
    }
    // Where all is opaque, nothing shows through the first colour without alpha.
    const isOpaque = behind.every(([, , opacity]) => opacity === '1');
    const last = isOpaque ? behind.findIndex(([colour]) => colour.startsWith('rgb(')) : -1;
    return [own, ...(last < 0 ? behind : behind.slice(0, last + 1))].join(';');
  };
  const isText = (element) =>
    element.matches('input, select, textarea') ||
    [...element.childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim() !== '');
  const texts = [];
  const search = (root) => {
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) search(element.shadowRoot);
      if (isText(element) && element.checkVisibility({ visibilityProperty: true })) texts.push(element);
    }
  };
  search(document);
  const fresh = new Map(texts.map((element) => [look(element), element]).filter(([look]) => !known.has(look)));
  if (fresh.size === 0 && options.runOnly) return { broken: [], looks: [] };
  for (const element of fresh.values()) element.setAttribute('data-fresh-look', '');
  const { violations } = await axe.run(document, { ...options, resultTypes: ['violations'] });
  for (const element of fresh.values()) element.removeAttribute('data-fresh-look');
  const isLegible = violations.every(({ id }) => id !== 'color-contrast');
  return {
    broken: violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => id + ' ' + target.join(' ') + ': ' + failureSummary)),
    // What the page has replaced meanwhile was not looked at.
    looks: isLegible ? [...fresh].filter(([, element]) => element.isConnected).map(([look]) => look) : [],
  };
}`;
/** axe, which checks the contrast of marked texts only. */
const setUpAxe = `${axe};axe.configure({ rules: [{ id: 'color-contrast', selector: '[data-fresh-look]' }] });`;
/** Looks of text that have enough contrast. */
const legible = new Set<string>();

/** Rules that the page breaks, with the elements, in the dark theme; contrast in the light one too. */
export async function brokenRules(page: Page): Promise<string[]> {
  const found: string[] = [];
  // It stays until the page is reloaded; half a megabyte of it is compiled each time.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(setUpAxe);
  for (const [colorScheme, options] of [
    ['light', { runOnly: ['color-contrast'] }],
    // All at once: axe reads the whole page for each run.
    ['dark', {}],
  ] as const) {
    // A message that is still fading in has too little contrast.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const { broken, looks } = await page.evaluate<{ broken: string[]; looks: string[] }>(
      `(${check})(${JSON.stringify([...legible])}, ${JSON.stringify(options)})`,
    );
    for (const look of looks) legible.add(look);
    found.push(...broken.map((one) => `${colorScheme} ${one}`));
  }
  return found;
}

/** Waits until nothing is wider than the page of a small phone: drawings follow the width a moment later. */
export async function fitsPhone(page: Page): Promise<void> {
  await page.setViewportSize({ width: 360, height: 740 });
  await eventually(
    'the page to fit a phone',
    async () => (await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')) || null,
    pageLimitMs,
  );
}

/** Run in the page: names of tables that are wider than the room that they have. */
const wideTables = `[...document.querySelectorAll('main .table')]
  .filter((table) => table.scrollWidth > table.clientWidth)
  .map((table) => table.getAttribute('aria-label') + ': ' + table.scrollWidth + ' of ' + table.clientWidth)`;

/** @returns tables of which a part is out of sight on a usual screen */
export async function tablesOutOfSight(page: Page): Promise<string[]> {
  await page.setViewportSize({ width: 1280, height: 800 });
  return page.evaluate<string[]>(wideTables);
}

/** What every screen must hold to. */
export async function isAccessible(page: Page): Promise<void> {
  expect(await brokenRules(page)).toEqual([]);
  await fitsPhone(page);
}
