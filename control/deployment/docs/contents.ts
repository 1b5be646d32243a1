/** The contents of the guides: the table of pages in README.md. */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathExists } from '#shared/path-exists.ts';

export const root = dirname(dirname(dirname(import.meta.dirname)));

export interface ContentsGroup {
  readonly title: string;
  readonly pages: readonly { readonly path: string; readonly title: string }[];
}

/** Pages besides those of docs/, by their file. */
const others: Readonly<Record<string, string>> = {
  'CHANGELOG.md': 'changelog',
  'clients/typescript/README.md': 'clients/typescript',
};

/** The file of each page, by the path under which it is served, such as `contract/02-sip`. */
export type PageFiles = ReadonlyMap<string, string>;

/** The path of the page that a file is; null: it is none. */
export function pathOf(file: string, files: PageFiles): string | null {
  const path = others[file] ?? /^docs\/(.+)\.md$/.exec(file)?.[1];
  return path !== undefined && files.has(path) ? path : null;
}

/** @param readme the text of README.md, whose last table has a row for each subject with links to its pages */
export function readContents(readme: string, files: PageFiles): ContentsGroup[] {
  const [, table = ''] = readme.split('| Subject | Pages |');
  return table.split('\n').flatMap((row) => {
    const [, subject = '', cell = ''] = /^\| ([^|]+) \| (.+) \|$/.exec(row) ?? [];
    const links = [...cell.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)];
    const pages = links.flatMap(([, title = '', file = '']) => {
      const path = pathOf(file, files);
      return path === null ? [] : [{ path, title: capitalized(title) }];
    });
    return pages.length === 0 ? [] : [{ title: capitalized(subject), pages }];
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

/** Sorted by path; without the folder docs/ only what is installed. */
export async function pageFiles(): Promise<PageFiles> {
  const names = await readdir(join(root, 'docs'), { recursive: true }).catch(() => []);
  const docs = names
    .filter((name) => name.endsWith('.md'))
    .map((name): [string, string] => [name.slice(0, -'.md'.length), `docs/${name}`]);
  const beside = Object.entries(others)
    .filter(([file]) => pathExists(join(root, file)))
    .map(([file, path]): [string, string] => [path, file]);
  return new Map([...docs, ...beside].sort(([one], [other]) => one.localeCompare(other, 'en')));
}

/** @param name in the folder of Trunkline; empty when it is not installed */
export async function readText(name: string): Promise<string> {
  return readFile(join(root, name), 'utf8').catch(() => '');
}
