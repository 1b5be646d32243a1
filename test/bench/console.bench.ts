/**
 * The console in a real browser, from a real control plane: what the first screen weighs, when it is seen, and how a
 * table of thousands of live calls scrolls, by the browser's own frames. Beside each a floor of the same run: a page of
 * the same server that is only text, and a blank page that is scrolled in the same way.
 */
import { get } from 'node:http';
import { loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type Column, grouped, markdownTable } from '../../scripts/bench/table.ts';
import { ensureConsole } from '../../scripts/setup/console.ts';
import { EdgeClient } from '../kit/control/edge-client.ts';
import { launchBrowser, signIn } from '../kit/programs/console-page.ts';
import { ControlProgram } from '../kit/programs/control-program.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { percentile } from './http-load.ts';
import { LiveCalls } from './live-calls.ts';

interface Weight {
  readonly what: string;
  readonly files: number;
  readonly brotli: number;
  readonly gzip: number;
  readonly plain: number;
}

interface Paint {
  readonly what: string;
  readonly loads: number;
  readonly first: readonly number[];
  /** Of the screen with its content; none of a page that is only text. */
  readonly complete: readonly number[];
}

interface Scroll {
  readonly what: string;
  readonly pxOfFrame: number;
  /** Most rows that were in the page at once. */
  readonly rows: number;
  /** From each frame to the next, ms. */
  readonly frames: readonly number[];
}

interface ConsoleBenchResult {
  readonly loadAverage: number;
  readonly weights: readonly Weight[];
  readonly paints: readonly Paint[];
  readonly scrolls: readonly Scroll[];
}

export interface ConsoleBenchOptions {
  readonly calls?: number;
  readonly loads?: number;
}

const viewport = { width: 1280, height: 800 };
/** Changes of calls while the table is scrolled, a second. */
const changesPerSecond = 100;

export async function runConsoleBench(options: ConsoleBenchOptions = {}): Promise<ConsoleBenchResult> {
  const { calls = 10_000, loads = 15 } = options;
  await ensureConsole();
  const control = new ControlProgram({ RATE_LIMIT_PER_MINUTE: '1000000' });
  let browser: Browser | undefined;
  try {
    await control.start();
    browser = await launchBrowser();
    const session = await signedIn(browser, control);
    const [loadAverage = 0] = loadavg();
    const weights = await weigh(browser, control, session);
    const paints = await measurePaints(browser, control, session, loads);
    const scrolls = await measureScrolls(browser, control, session, calls);
    return { loadAverage, weights, paints, scrolls };
  } finally {
    await browser?.close();
    await control.remove();
  }
}

type Session = Awaited<ReturnType<BrowserContext['storageState']>>;

async function signedIn(browser: Browser, control: ControlProgram): Promise<Session> {
  const context = await browser.newContext({ baseURL: control.url });
  try {
    await signIn(await context.newPage(), '/', control.keys.api_key);
    return await context.storageState();
  } finally {
    await context.close();
  }
}

/** A browser that is signed in and has nothing of the console in its cache. */
const newVisitor = (browser: Browser, control: ControlProgram, storageState: Session) =>
  browser.newContext({ baseURL: control.url, storageState, viewport });

// ---------------------------------------------------------------- weight

/** What the overview has when it is complete: the three cards of calls and trunks, with the number of calls. */
const isComplete = `document.querySelectorAll('.cards > .card').length > 2 &&
  /[0-9]/.test(document.querySelector('.cards .big')?.textContent ?? '')`;

async function weigh(browser: Browser, control: ControlProgram, session: Session): Promise<Weight[]> {
  const context = await newVisitor(browser, control, session);
  try {
    const page = await context.newPage();
    const answers: Promise<number>[] = [];
    const files = new Set<string>();
    page.on('requestfinished', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/v1/'))
        answers.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
      else files.add(pathname);
    });
    await page.goto('/');
    await eventually('the first screen', async () => (await page.evaluate<boolean>(isComplete)) || null);
    const named = [...files];
    const kind = (ending: RegExp) => named.filter((path) => ending.test(path));
    const weights = await Promise.all([
      weightOf(control, 'page', kind(/\/$/)),
      weightOf(control, 'scripts', kind(/\.js$/)),
      weightOf(control, 'styles', kind(/\.css$/)),
      weightOf(control, 'picture', kind(/\.svg$/)),
    ]);
    const sent = (await Promise.all(answers)).reduce((sum, octets) => sum + octets, 0);
    weights.push({
      what: 'answers of the API, as they come',
      files: answers.length,
      brotli: sent,
      gzip: sent,
      plain: sent,
    });
    const sum = (of: (weight: Weight) => number) => weights.reduce((all, weight) => all + of(weight), 0);
    return [
      ...weights,
      {
        what: 'all',
        files: sum((one) => one.files),
        brotli: sum((one) => one.brotli),
        gzip: sum((one) => one.gzip),
        plain: sum((one) => one.plain),
      },
    ];
  } finally {
    await context.close();
  }
}

async function weightOf(control: ControlProgram, what: string, paths: readonly string[]): Promise<Weight> {
  const all = async (coding: string) => {
    const sizes = await Promise.all(paths.map((path) => octetsOf(`${control.url}${path}`, coding)));
    return sizes.reduce((sum, one) => sum + one, 0);
  };
  const [brotli, gzip, plain] = [await all('br'), await all('gzip'), await all('identity')];
  return { what, files: paths.length, brotli, gzip, plain };
}

/** Of the body as it is on the wire. @throws Error when the server does not answer with this coding */
function octetsOf(url: string, coding: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': coding } }, (answer) => {
      const { 'content-encoding': sent = 'identity' } = answer.headers;
      if (answer.statusCode !== 200 || sent !== coding)
        reject(new Error(`${url}: ${answer.statusCode}, ${sent} instead of ${coding}`));
      let octets = 0;
      answer.on('data', (part: Buffer) => {
        octets += part.length;
      });
      answer.on('end', () => resolve(octets));
    }).on('error', reject);
  });
}

// ---------------------------------------------------------------- paint

/** Notes in the page when the screen was complete: after the frame that draws it. */
const noteComplete = `new MutationObserver((_, own) => {
  if (!(${isComplete})) return;
  own.disconnect();
  requestAnimationFrame(() => setTimeout(() => { globalThis.completeAt = performance.now(); }));
}).observe(document, { subtree: true, childList: true, characterData: true })`;

const firstPaint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime";

async function measurePaints(
  browser: Browser,
  control: ControlProgram,
  session: Session,
  loads: number,
): Promise<Paint[]> {
  const rows = {
    floor: paint('floor: a line of text from the same server'),
    cold: paint('first screen, nothing in the cache'),
    warm: paint('first screen, from the cache'),
  };
  // In turn, so that whatever else the machine does meets all three.
  for (let load = 0; load < loads; load++) {
    await loadOnce(browser, control, session, rows);
  }
  return Object.values(rows).map((row) => ({ ...row, loads }));
}

const paint = (what: string) => ({ what, first: [] as number[], complete: [] as number[] });
type Noted = ReturnType<typeof paint>;

async function loadOnce(
  browser: Browser,
  control: ControlProgram,
  session: Session,
  { floor, cold, warm }: Readonly<Record<'floor' | 'cold' | 'warm', Noted>>,
): Promise<void> {
  const bare = await newVisitor(browser, control, session);
  try {
    const page = await bare.newPage();
    await page.goto('/health/live');
    floor.first.push(await seen(page, firstPaint));
  } finally {
    await bare.close();
  }
  const context = await newVisitor(browser, control, session);
  try {
    await context.addInitScript(noteComplete);
    for (const row of [cold, warm]) {
      // Another tab: a page that is loaded again asks the server about each file.
      const page = await context.newPage();
      await page.goto('/');
      row.complete.push(await seen(page, 'globalThis.completeAt'));
      row.first.push(await seen(page, firstPaint));
      await page.close();
    }
  } finally {
    await context.close();
  }
}

/** Waits until the page has noted a figure. */
const seen = (page: Page, figure: string) =>
  eventually(figure, () => page.evaluate<number | undefined>(figure));

// ---------------------------------------------------------------- scrolling

/** Scrolls to the end in each frame of the browser. Rows are counted by their links: a live collection costs nothing. */
const scrolled = (pxOfFrame: number, mostFrames: number) => `new Promise((resolve) => {
  const box = document.getElementById('content');
  const drawn = document.getElementsByClassName('row-link');
  const frames = [];
  let [last, rows] = [null, 0];
  box.scrollTop = 0;
  const frame = (at) => {
    if (last !== null) frames.push(at - last);
    last = at;
    rows = Math.max(rows, drawn.length);
    const atEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 1;
    if (atEnd || frames.length >= ${mostFrames}) return resolve({ frames, rows });
    box.scrollTop += ${pxOfFrame};
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})`;

/** Finds what never comes to its end. */
const mostFrames = 20_000;

async function measureScrolls(
  browser: Browser,
  control: ControlProgram,
  session: Session,
  count: number,
): Promise<Scroll[]> {
  const { org_id, edge_token } = control.keys;
  const link = `${control.url.replace('http', 'ws')}/v1/edge/link`;
  const edge = await EdgeClient.connect(link, edge_token, { edge_id: 'bench', outbox_id: 'bench' });
  const context = await newVisitor(browser, control, session);
  try {
    const live = new LiveCalls(edge, org_id);
    await live.begin(count);
    const page = await context.newPage();
    await page.goto('/live');
    await page.locator(`table[aria-rowcount="${count + 1}"]`).waitFor();
    const height = await page.evaluate<number>("document.getElementById('content').scrollHeight");
    const measure = async (what: string, pxOfFrame: number, of = page): Promise<Scroll> => {
      const { frames, rows } = await of.evaluate<{ frames: number[]; rows: number }>(
        scrolled(pxOfFrame, mostFrames),
      );
      return { what, pxOfFrame, rows, frames };
    };
    const calls = `${grouped(count)} calls`;
    const rows = [await measure(calls, 240)];
    // At the end is the call that began first.
    await page.getByRole('row').last().getByText(live.oldest, { exact: true }).waitFor();
    rows.push(await measure(`${calls}, three screens a frame`, 3 * viewport.height));
    const moving = `${calls}, ${changesPerSecond} changes/s`;
    rows.push(await whileMoving(live, () => measure(moving, 240)));
    await page.close();
    const blank = await context.newPage();
    await blank.setContent(
      `<main id="content" style="height: 100vh; overflow: auto"><p style="height: ${height}px">A blank page</p></main>`,
    );
    return [await measure('floor: a blank page of that height', 240, blank), ...rows];
  } finally {
    await context.close();
    await edge.close();
  }
}

async function whileMoving<T>(live: LiveCalls, work: () => Promise<T>): Promise<T> {
  const end = new AbortController();
  const moving = (async () => {
    while (!end.signal.aborted) {
      await live.move(changesPerSecond / 10);
      await wait(100);
    }
  })();
  try {
    return await work();
  } finally {
    end.abort();
    await moving;
  }
}

// ---------------------------------------------------------------- tables

export function formatConsoleBench(result: ConsoleBenchResult): string {
  const about = `Load average ${grouped(result.loadAverage)} at the start. Chromium without a screen, ${viewport.width} × ${viewport.height}; 60 frames a second are one each 16.7 ms.`;
  const weights: Column<Weight>[] = [
    ['first screen', ({ what }) => what],
    ['files', ({ files }) => grouped(files)],
    ['brotli, octets', ({ brotli }) => grouped(brotli)],
    ['gzip, octets', ({ gzip }) => grouped(gzip)],
    ['uncompressed, octets', ({ plain }) => grouped(plain)],
  ];
  const paints: Column<Paint>[] = [
    ['loaded over loopback', ({ what }) => what],
    ['loads', ({ loads }) => grouped(loads)],
    ['first paint, median, ms', ({ first }) => ms(first, 50)],
    ['first paint, worst, ms', ({ first }) => ms(first, 100)],
    ['complete, median, ms', ({ complete }) => ms(complete, 50)],
    ['complete, worst, ms', ({ complete }) => ms(complete, 100)],
  ];
  const scrolls: Column<Scroll>[] = [
    ['scrolled from top to bottom', ({ what }) => what],
    ['px a frame', ({ pxOfFrame }) => grouped(pxOfFrame)],
    ['rows in the page', ({ rows }) => grouped(rows)],
    ['frames', ({ frames }) => grouped(frames.length)],
    ['p50, ms', ({ frames }) => ms(frames, 50)],
    ['p99, ms', ({ frames }) => ms(frames, 99)],
    ['longest, ms', ({ frames }) => ms(frames, 100)],
    ['over 50 ms, frames', ({ frames }) => grouped(frames.filter((one) => one > 50).length)],
  ];
  return [
    about,
    markdownTable(weights, result.weights),
    markdownTable(paints, result.paints),
    markdownTable(scrolls, result.scrolls),
  ].join('\n\n');
}

function ms(values: readonly number[], percent: number): string {
  if (values.length === 0) return '';
  const sorted = [...values].sort((one, other) => one - other);
  return percentile(sorted, percent).toFixed(1);
}

if (import.meta.main) {
  const [calls, loads] = process.argv.slice(2).map(Number);
  const options = { ...(calls && { calls }), ...(loads && { loads }) };
  process.stdout.write(`${formatConsoleBench(await runConsoleBench(options))}\n`);
}
