/** The console in the cache: found there, or built now, in a few seconds. */
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { type ConsoleLocation, consoleLocation } from '../../control/console/location.ts';
import { withLock } from './lock.mjs';
import { Trouble } from './trouble.mjs';

const root = dirname(dirname(import.meta.dirname));
const [toGzip, toBrotli] = [promisify(gzip), promisify(brotliCompress)];

/** @throws Trouble */
export async function ensureConsole(): Promise<void> {
  const location = consoleLocation(process.env);
  if (existsSync(location.mark)) return;
  const onWait = () => console.log('console: another set-up is building it, waiting for that');
  await withLock(`${location.folder}.lock`, onWait, async () => {
    if (!existsSync(location.mark)) await build(location);
  });
}

async function build({ folder }: ConsoleLocation): Promise<void> {
  const startedAt = Date.now();
  const work = await mkdtemp(`${folder}.build-`);
  try {
    // Loaded only here: a start that builds nothing does not wait for it.
    const { build: viteBuild } = await import('vite');
    await viteBuild({
      configFile: join(root, 'console', 'vite.config.ts'),
      logLevel: 'error',
      build: { outDir: work, emptyOutDir: true },
    });
    await viteBuild({
      configFile: join(root, 'console', 'vite.config.ts'),
      mode: 'visitor-phone',
      logLevel: 'error',
      build: { outDir: work },
    });
    await compress(work);
    await compress(join(work, 'assets'));
    await writeFile(join(work, 'built.json'), `${JSON.stringify({ builtAt: new Date().toISOString() })}\n`);
    await rm(folder, { recursive: true, force: true });
    await rename(work, folder);
    console.log(`console: built in ${((Date.now() - startedAt) / 1000).toFixed(1)} s, in ${folder}`);
  } catch (error) {
    throw new Trouble(
      'cannot build the console',
      error instanceof Error ? error.message : String(error),
      'correct the named file in console/, or free disk space, and start again',
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Once here, instead of for each request. */
async function compress(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!['.html', '.js', '.css', '.svg'].includes(extname(name))) continue;
    const content = await readFile(join(folder, name));
    await writeFile(join(folder, `${name}.gz`), await toGzip(content, { level: 9 }));
    await writeFile(join(folder, `${name}.br`), await toBrotli(content));
  }
}
