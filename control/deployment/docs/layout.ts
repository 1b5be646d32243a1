/** The frame of every page under /docs. It works without scripts; with them it has search, copy buttons and forms. */
import type { Heading } from './markdown.ts';
import { escaped } from './markup.ts';

export interface ContentsPart {
  readonly title: string;
  readonly links: readonly { readonly url: string; readonly text: string }[];
}

export interface PageParts {
  readonly title: string;
  readonly url: string;
  readonly main: string;
  readonly headings: readonly Heading[];
  readonly contents: readonly ContentsPart[];
  /** Folder of the script and the style, whose name has the hash of both. */
  readonly assets: string;
}

export function pageHtml({ title, url, main, headings, contents, assets }: PageParts): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${escaped(title)} · Trunkline</title>
<link rel="stylesheet" href="${assets}/docs.css"><script type="module" src="${assets}/docs.js"></script></head>
<body><a class="skip" href="#docs-content">Skip to the page</a>
<header><a class="brand" href="/docs">Trunkline</a><div id="docs-tools"></div></header>
<div class="frame">
<nav class="contents" aria-label="Contents"><details class="menu"><summary>Contents</summary></details>
${contents.map((part) => contentsHtml(part, url)).join('\n')}</nav>
<main id="docs-content" tabindex="-1">${main}</main>
${tocHtml(headings)}
</div></body></html>`;
}

/** Only the part with the page is open. */
function contentsHtml({ title, links }: ContentsPart, url: string): string {
  const isHere = links.some((link) => link.url === url);
  const items = links.map(
    ({ url: to, text }) =>
      `<li><a href="${escaped(to)}"${to === url ? ' aria-current="page"' : ''}>${escaped(text)}</a></li>`,
  );
  return `<details${isHere ? ' open' : ''}><summary>${escaped(title)}</summary><ul>${items.join('')}</ul></details>`;
}

/** Headings of the page; from two on they are worth a list. */
function tocHtml(headings: readonly Heading[]): string {
  const shown = headings.filter(({ level }) => level === 2 || level === 3);
  if (shown.length < 2) return '<div class="toc"></div>';
  const items = shown.map(
    ({ level, id, text }) => `<li class="level-${level}"><a href="#${escaped(id)}">${escaped(text)}</a></li>`,
  );
  return `<nav class="toc" aria-label="On this page"><p>On this page</p><ul>${items.join('')}</ul></nav>`;
}
