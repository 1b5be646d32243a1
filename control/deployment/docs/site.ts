/** All pages under /docs: the guides of docs/ and the reference of the API. Each is made once, when it is first read. */
import { setImmediate } from 'node:timers/promises';
import { lazyLoad } from '#shared/lazy.ts';
import type { OpenApiDocument } from '../openapi-document.ts';
import { readAdvice } from './advice.ts';
import {
  type ContentsGroup,
  listedFolders,
  type PageFiles,
  pageFiles,
  readContents,
  readText,
  withFolders,
} from './contents.ts';
import { apiMain, groupMain, webhooksMain } from './group-page.ts';
import { groupTitles, type OperationGroup, operationGroups } from './groups.ts';
import { type ContentsPart, pageHtml } from './layout.ts';
import { type Heading, markdownReader, type Rendered } from './markdown.ts';
import { escaped } from './markup.ts';
import { operationMain, operationUrl } from './operation-page.ts';
import { endpointEntry, eventEntries, pageEntries, type SearchEntry } from './search-entries.ts';

type Reader = Awaited<ReturnType<typeof markdownReader>>;

/** What the guides are made of. */
interface Parts {
  readonly files: PageFiles;
  readonly guides: readonly ContentsGroup[];
  readonly reader: Reader;
}

/** What the reference is made of: the document takes a moment, for which no guide waits. */
interface Reference {
  readonly document: OpenApiDocument;
  readonly groups: readonly OperationGroup[];
}

export class DocsSite {
  readonly #document: () => Promise<OpenApiDocument>;
  readonly #assets: string;
  readonly #pages = new Map<string, string>();
  readonly #rendered = new Map<string, Rendered>();
  readonly #all = lazyLoad(() => this.#read());
  readonly #described = lazyLoad(async (): Promise<Reference> => {
    const document = await this.#document();
    return { document, groups: operationGroups(document) };
  });
  /** Every page, every heading, every endpoint, as JSON. */
  readonly search = lazyLoad(async () => JSON.stringify(await this.#entries()));

  /** @param assets folder of the script and the style */
  constructor(document: () => Promise<OpenApiDocument>, assets: string) {
    this.#document = document;
    this.#assets = assets;
  }

  /** @param url such as /docs/api/calls @returns null: there is no such page */
  async page(url: string): Promise<string | null> {
    const known = this.#pages.get(url);
    if (known !== undefined) return known;
    const made = await this.#make(url);
    // Bounded: only URLs of pages get here.
    if (made !== null) this.#pages.set(url, made);
    return made;
  }

  /** For tests: the URL of every page. */
  async urls(): Promise<string[]> {
    const { files } = await this.#all();
    const { groups } = await this.#described();
    return [
      '/docs',
      '/docs/api',
      '/docs/api/webhooks',
      ...groups.flatMap((group) => [
        `/docs/api/${group.name}`,
        ...group.operations.map((one) => operationUrl(group, one)),
      ]),
      ...[...files.keys()].map((path) => `/docs/${path}`),
    ];
  }

  async #make(url: string): Promise<string | null> {
    const parts = await this.#all();
    if (url === '/docs') return this.#html(parts, url, 'Documentation', homeMain(parts));
    const [, , area, name, id, ...more] = url.split('/');
    if (area === 'api') return more.length > 0 ? null : this.#referencePage(parts, url, name, id);
    const path = url.slice('/docs/'.length);
    if (!parts.files.has(path)) return null;
    const { title, html, headings } = await this.#guide(parts, path);
    return this.#html(parts, url, title, html, headings);
  }

  async #referencePage(
    parts: Parts,
    url: string,
    name: string | undefined,
    id: string | undefined,
  ): Promise<string | null> {
    const { groups, document } = await this.#described();
    if (name === undefined)
      return this.#html(parts, url, 'API reference', apiMain(groups, document.webhooks));
    if (name === 'webhooks' && id === undefined) {
      return this.#html(parts, url, 'Webhook events', webhooksMain(document.webhooks));
    }
    const group = groups.find((one) => one.name === name);
    if (!group) return null;
    const guideTitle = parts.files.has(group.guide) ? (await this.#guide(parts, group.guide)).title : null;
    if (id === undefined) {
      return this.#html(parts, url, group.title, groupMain(group, guideTitle), [], group);
    }
    const described = group.operations.find((one) => one.id === id);
    if (!described) return null;
    const main = operationMain(described, {
      group,
      guideTitle,
      advice: readAdvice(await readText('docs/errors.md')),
      line: (markdown) => parts.reader.line('docs/errors.md', markdown),
      hasClient: parts.files.has('clients/typescript'),
    });
    const title = `${described.method} ${described.path}`;
    return this.#html(parts, url, title, main, headingsOf(main), group);
  }

  #html(
    parts: Parts,
    url: string,
    title: string,
    main: string,
    headings: readonly Heading[] = [],
    group: OperationGroup | null = null,
  ): string {
    return pageHtml({ title, url, main, headings, contents: contentsOf(parts, group), assets: this.#assets });
  }

  async #guide({ reader, files }: Parts, path: string): Promise<Rendered> {
    const known = this.#rendered.get(path);
    if (known) return known;
    const file = files.get(path) ?? '';
    const rendered = await reader.page(file, await readText(file));
    this.#rendered.set(path, rendered);
    return rendered;
  }

  /** A turn for each page and each endpoint: in one go it would take half a second. */
  async #entries(): Promise<SearchEntry[]> {
    const files = await pageFiles();
    const { groups, document } = await this.#described();
    const entries: SearchEntry[] = [];
    for (const group of groups) {
      for (const one of group.operations) {
        entries.push(endpointEntry(group, one));
        await setImmediate();
      }
    }
    entries.push(...eventEntries(document.webhooks));
    for (const [path, file] of files) {
      entries.push(...pageEntries(path, await readText(file)));
      await setImmediate();
    }
    return entries;
  }

  async #read(): Promise<Parts> {
    const files = await pageFiles();
    const reader = await markdownReader(files);
    const readmes = new Map(
      await Promise.all(
        listedFolders.map(
          async (folder): Promise<[string, string]> => [folder, await readText(`docs/${folder}/README.md`)],
        ),
      ),
    );
    const readmeOf = (folder: string) => readmes.get(folder) ?? '';
    const listed = withFolders(readContents(await readText('README.md'), files), [...files.keys()], readmeOf);
    const titled = await Promise.all(
      listed.map(async ({ title, pages }) => ({
        title,
        pages: await Promise.all(
          pages.map(async (page) => ({ ...page, title: page.title || (await titleOf(page.path)) })),
        ),
      })),
    );
    return { files, guides: titled, reader };
  }
}

async function titleOf(path: string): Promise<string> {
  return /^# (.+)$/m.exec(await readText(`docs/${path}.md`))?.[1] ?? path;
}

/** @param current the group of the page, which shows its endpoints */
function contentsOf({ guides }: Parts, current: OperationGroup | null): ContentsPart[] {
  const reference = [
    { url: '/docs/api', text: 'All endpoints' },
    ...groupTitles.map(({ name, title }) => ({ url: `/docs/api/${name}`, text: title })),
    { url: '/docs/api/webhooks', text: 'Webhook events' },
  ];
  const endpoints = current
    ? [
        {
          title: current.title,
          links: [
            { url: `/docs/api/${current.name}`, text: 'Overview' },
            ...current.operations.map((one) => ({
              url: operationUrl(current, one),
              text: `${one.method} ${one.path}`,
            })),
          ],
        },
      ]
    : [];
  return [
    ...guides.map(({ title, pages }) => ({
      title,
      links: pages.map((page) => ({ url: `/docs/${page.path}`, text: page.title })),
    })),
    { title: 'API reference', links: reference },
    ...endpoints,
  ];
}

function homeMain({ guides }: Parts): string {
  const lists = guides.map(
    ({ title, pages }) =>
      `<section><h2>${escaped(title)}</h2><ul>${pages
        .map((page) => `<li><a href="/docs/${page.path}">${escaped(page.title)}</a></li>`)
        .join('')}</ul></section>`,
  );
  const api = groupTitles.map(
    ({ name, title }) => `<li><a href="/docs/api/${name}">${escaped(title)}</a></li>`,
  );
  return `<h1>Trunkline</h1>
<p>Connects carriers and PBXs to voice agents: SIP trunks over TLS with SRTP, and an API for everything else.</p>
<div class="cards"><section><h2><a href="/docs/api">API reference</a></h2><ul>${api.join('')}</ul></section>
${lists.join('\n')}</div>`;
}

function headingsOf(main: string): Heading[] {
  return [...main.matchAll(/<h2 id="([^"]+)">([^<]+)<\/h2>/g)].map(([, id = '', text = '']) => ({
    level: 2,
    id,
    text,
  }));
}
