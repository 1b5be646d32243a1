/** The contents of the guides: the table of pages in README.md. */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export const root = dirname(dirname(dirname(import.meta.dirname)));

export interface ContentsGroup {
  readonly title: string;
  readonly pages: readonly { readonly path: string; readonly title: string }[];
}

/** @param readme the text of README.md, whose last table has a row for each subject with links to its pages */
export function readContents(readme: string): ContentsGroup[] {
  const [, table = ''] = readme.split('| Subject | Pages |');
  return table.split('\n').flatMap((row) => {
    const [, subject = '', cell = ''] = /^\| ([^|]+) \| (.+) \|$/.exec(row) ?? [];
    const links = [...cell.matchAll(/\[([^\]]+)\]\(docs\/([^)#]+)\.md\)/g)];
    if (links.length === 0) return [];
    const pages = links.map(([, title = '', path = '']) => ({ path, title: capitalized(title) }));
    return [{ title: capitalized(subject), pages }];
  });
}

/** Folders of docs/ whose pages are listed by the page that stands for them. */
export const listedFolders = ['guides', 'contract', 'internals'] as const;

/** With the pages of folders that have a page of contents of their own after it, in its order. */
export function withFolders(
  groups: readonly ContentsGroup[],
  paths: readonly string[],
  readmeOf: (folder: string) => string,
): ContentsGroup[] {
  const orderOf = (folder: string) =>
    [...readmeOf(folder).matchAll(/\]\(([\w-]+)\.md\)/g)].map(([, name = '']) => `${folder}/${name}`);
  return groups.map((group) => ({
    ...group,
    pages: group.pages.flatMap((page) => {
      const folder = listedFolders.find((one) => page.path === `${one}/README`);
      if (!folder) return [page];
      const inside = paths.filter((path) => path.startsWith(`${folder}/`) && path !== page.path);
      const order = orderOf(folder);
      const sorted = inside.sort((one, other) => order.indexOf(one) - order.indexOf(other));
      return [page, ...sorted.map((path) => ({ path, title: '' }))];
    }),
  }));
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Paths of all pages without `.md`, sorted; empty: the folder is not installed. */
export async function pagePaths(): Promise<string[]> {
  const names = await readdir(join(root, 'docs'), { recursive: true }).catch(() => []);
  return names
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -'.md'.length))
    .sort();
}

/** @param name in the folder of Trunkline; empty when it is not installed */
export async function readText(name: string): Promise<string> {
  return readFile(join(root, name), 'utf8').catch(() => '');
}
