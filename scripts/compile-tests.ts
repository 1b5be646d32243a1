/**
 * `node compile-tests.ts [FOLDER…]`: compiles the sources and the tests for the processes of the tests (vitest.config.ts),
 * which keep what they compiled only when they end: in a fresh checkout, each of those that start together would compile
 * all for itself. Nothing of a test runs. Started with the flags of those processes, because V8 takes compiled code only
 * with the same ones.
 */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findModulesByPath } from '#shared/own-modules.ts';

const root = dirname(import.meta.dirname);
const given = process.argv.slice(2);
const folders = given.length > 0 ? given : ['control', 'edge', 'outgoing', 'shared', 'test'];
/** They only define; what packages of the older module system they import is compiled when these run. */
const definitions = ['control/program.ts', 'edge/program.ts', 'edge/start/shard-program.ts'];

findModulesByPath();
for (const file of definitions.filter((name) => folders.includes(dirname(name).split('/')[0] ?? '')))
  await import(pathToFileURL(join(root, file)).href);

const files = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .map((file) => pathToFileURL(join(root, folder, file)).href),
);
// All modules are loaded and compiled before any runs, and none does, because an import has no such export.
const missing = 'aNameThatItDoesNotExport';
const text = [
  ...files.map((url) => `import ${JSON.stringify(url)};`),
  `import { ${missing} } from 'node:path';`,
].join('\n');
try {
  await import(`data:text/javascript,${encodeURIComponent(text)}`);
} catch (error) {
  if (!(error instanceof SyntaxError && error.message.includes(missing))) throw error;
}
// Packages may keep a process alive.
process.exit();
