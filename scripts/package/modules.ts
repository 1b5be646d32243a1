/** What a program loads: its own files and npm packages, found by following imports from its first file. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export interface Loaded {
  /** Own files, by their paths in the project, sorted. */
  readonly files: readonly string[];
  /** Names of npm packages, sorted. */
  readonly packages: readonly string[];
}

/** Comments can contain what looks like an import. */
const comments = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
/** Not what TypeScript alone reads. */
const statements = /^(?:import|export)\s+(?!type\b)(?:([^'";]*?)\sfrom\s+)?'([^']+)'/gms;
/** `import('x')`, `createRequire(import.meta.url)('x')`, `require.resolve('x')`, `new URL('./x.ts', import.meta.url)`. */
const calls =
  /(?<!typeof )\bimport\(\s*'([^']+)'|\b(?:require|createRequire\(import\.meta\.url\))(?:\.resolve)?\(\s*'([^']+)'|new URL\(\s*'(\.[^']+\.(?:ts|mjs))'/g;

/** @param entries paths in the project @throws Error for an import of a file that does not exist */
export function loadedFrom(root: string, entries: readonly string[]): Loaded {
  const files = new Set(entries);
  const packages = new Set<string>();
  for (const file of files) {
    for (const name of importsIn(readFileSync(join(root, file), 'utf8'))) {
      const own = ownPath(file, name);
      if (own === null) packages.add(packageOf(name));
      else if (existsSync(join(root, own))) files.add(own);
      else throw new Error(`${file} loads ${name}, which does not exist`);
    }
  }
  return { files: [...files].sort(), packages: [...packages].sort() };
}

/** Names of what a text loads, without Node's own modules. */
export function importsIn(text: string): readonly string[] {
  const code = text.replace(comments, '');
  const named = [...code.matchAll(statements)].flatMap(([, what = '', name = '']) =>
    hasOnlyTypes(what) ? [] : [name],
  );
  const called = [...code.matchAll(calls)].map(([, a, b, c]) => a ?? b ?? c ?? '');
  return [...named, ...called].filter((name) => !name.startsWith('node:'));
}

function hasOnlyTypes(what: string): boolean {
  const names = /^\{(.*)\}$/s
    .exec(what.trim())?.[1]
    ?.split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names?.every((name) => name.startsWith('type ')) ?? false;
}

/** @returns null for an npm package */
function ownPath(importer: string, name: string): string | null {
  if (name.startsWith('#')) return name.slice(1);
  return name.startsWith('.') ? normalize(join(dirname(importer), name)) : null;
}

/** `@a/b/c.js` is in the package `@a/b`. */
function packageOf(name: string): string {
  return name.split('/', name.startsWith('@') ? 2 : 1).join('/');
}
