/** The pages under /docs: all are there, and lead to each other. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRoutes, type TestControl } from '../../../test/kit/control/harness.ts';
import { openApiOf } from '../../../test/kit/control/openapi.ts';
import type { OpenApiDocument } from '../openapi-document.ts';
import { describedIn } from './groups.ts';
import { DocsSite } from './site.ts';

let test: TestControl;
let document: OpenApiDocument;
let site: DocsSite;
beforeAll(async () => {
  test = await startRoutes();
  document = await openApiOf(test);
  site = new DocsSite(async () => document, '/docs/assets/hash');
});
afterAll(() => test.close());

const get = (url: string, headers: Record<string, string> = {}) =>
  test.call('GET', url, { key: null, headers });

async function pages(): Promise<Map<string, string>> {
  const urls = await site.urls();
  const made = urls.map(async (url): Promise<[string, string]> => [url, (await site.page(url)) ?? '']);
  return new Map(await Promise.all(made));
}

const idsOf = (page: string) => new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
const linksOf = (page: string) =>
  [...page.matchAll(/<a (?:class="[^"]*" )?href="([^"]+)"/g)].map(([, to = '']) => to);

describe('the pages', () => {
  it('are one for each endpoint and each file of docs/, and every link leads to a page and a place on it', async () => {
    const all = await pages();
    const operations = describedIn(document.paths);
    expect(
      [...all.keys()].filter((url) => url.split('/').length === 5 && url.includes('/api/')),
    ).toHaveLength(operations.length);
    expect(all.size - operations.length).toBeGreaterThan(80);
    const ids = new Map([...all].map(([url, page]) => [url, idsOf(page)]));
    const dead = [...all].flatMap(([url, page]) =>
      linksOf(page)
        .filter((link) => !/^https?:|^\/openapi\.json$/.test(link))
        .filter((link) => {
          const [target = '', anchor] = link.split('#');
          const there = ids.get(target || url);
          return !there || (anchor !== undefined && !there.has(anchor));
        })
        .map((link) => `${url}: ${link}`),
    );
    expect(dead).toEqual([]);
  });

  it('are reached from the first one, through the contents', async () => {
    const seen = new Set(['/docs']);
    for (const url of seen) {
      for (const link of linksOf((await site.page(url)) ?? '')) {
        const [target = ''] = link.split('#');
        if (target.startsWith('/docs')) seen.add(target);
      }
    }
    expect((await site.urls()).filter((url) => !seen.has(url))).toEqual([]);
  });

  it('have no code and no style of their own, each id once, and a title', async () => {
    const wrong = [...(await pages())].filter(([, page]) => {
      const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      const scripts = [...page.matchAll(/<script/g)].length;
      const inline = /<style|\sstyle="|\son[a-z]+="|javascript:/.test(page);
      return (
        inline ||
        scripts !== 1 ||
        new Set(ids).size !== ids.length ||
        !/<title>.+ · Trunkline<\/title>/.test(page)
      );
    });
    expect(wrong.map(([url]) => url)).toEqual([]);
  });

  it('say for each error what to do, and show each field with its type, limits and meaning', async () => {
    const page = (await site.page('/docs/api/calls/post_v1_calls')) ?? '';
    expect(page).toContain(
      '<code>NO_OUTBOUND_ROUTE</code></th><td>400</td><td>Attach an outbound configuration',
    );
    expect(page).toMatch(/<code>phone_number<\/code> <span class="need">required<\/span>/);
    expect(page).toMatch(/<code>max_duration<\/code>.*?\n.*?integer.*?Longest call, minutes.*?1 to 720/);
    expect(page).toContain('curl -s &quot;$TRUNKLINE_URL/v1/calls&quot;');
    expect(page).toContain('data-path="/v1/calls"');
    expect(page).toContain("await client.request('POST /v1/calls', {");
  });

  it('describe each event that is posted to webhooks', async () => {
    const page = (await site.page('/docs/api/webhooks')) ?? '';
    const types = describedIn(document.webhooks).map(({ path }) => path);
    expect(types.length).toBeGreaterThan(10);
    expect(types.filter((type) => !page.includes(`<h2 id="${type}">`))).toEqual([]);
  });

  it('are found: endpoints by path and field, guides by heading and text', async () => {
    const entries: { url: string; title: string; text: string }[] = JSON.parse(await site.search());
    const place = entries.find(({ title }) => title === 'POST /v1/calls');
    expect(place?.text).toContain('precall_dtmf_sequence');
    expect(entries.find(({ url }) => url === '/docs/widgets#calls')?.text).toContain(
      'Visitors call the agent',
    );
    expect(entries.filter(({ text, title }) => `${title}${text}` === '')).toEqual([]);
  });
});

describe('what is kept', () => {
  it('is no more than the pages: below and beside each of them there is none', async () => {
    const urls = await site.urls();
    const pages = new Set(urls);
    const others = urls
      .flatMap((url) => [`${url}/`, `${url}/1`, `${url}/1/2`, `${url}?1`, `${url}#1`, `${url}//`, `/${url}`])
      .filter((url) => !pages.has(url));
    const made = await Promise.all(others.map(async (url) => ((await site.page(url)) === null ? [] : [url])));
    expect(made.flat()).toEqual([]);
  });
});

describe('GET /docs', () => {
  it('answers with a page that runs no foreign code, compressed where the browser wants it', async () => {
    const answer = await get('/docs/api/calls/post_v1_calls', { 'accept-encoding': 'identity' });
    expect(answer.status).toBe(200);
    const policy = String(answer.headers['content-security-policy']).split('; ');
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'"]),
    );
    expect(policy.join()).not.toContain('unsafe');
    expect((await get('/docs', { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBe('gzip');
  });

  it('serves its script and its style to be kept, and pictures', async () => {
    const { text } = await get('/docs', { 'accept-encoding': 'identity' });
    const [, folder = ''] = /src="(\/docs\/assets\/[\w-]+)\/docs\.js"/.exec(text) ?? [];
    for (const name of ['docs.js', 'docs.css', 'search.js', 'try-it.js', 'navigate.js']) {
      const { status, headers } = await get(`${folder}/${name}`);
      expect([name, status, headers['cache-control']]).toEqual([
        name,
        200,
        'public, max-age=31536000, immutable',
      ]);
    }
    const picture = await get('/docs/pictures/calls.webp');
    expect([picture.status, picture.headers['content-type']]).toEqual([200, 'image/webp']);
  });

  it('answers 404 for other paths, also those that lead out of the folder', async () => {
    for (const path of [
      '/docs/nothing',
      '/docs/../README',
      '/docs/..%2fREADME',
      '/docs/api/calls/nothing',
      '/docs/assets/x/docs.js',
      '/docs/pictures/..%2f..%2fREADME.md',
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
  });
});
