/** The media worker in the cache: found there, or built now. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { BuildFailed, buildWorker } from '../../edge/media/worker/build.ts';
import {
  cacheFolder,
  mediasoupFolder,
  type WorkerLocation,
  type WorkerMark,
  workerLocation,
} from '../../edge/media/worker/location.ts';
import { buildPackages, libsrtp } from '../../edge/media/worker/recipe.ts';
import { ensureAptPackages } from './apt.ts';
import { download } from './archive.ts';
import { withLock } from './lock.mjs';
import { Progress } from './progress.ts';
import { Trouble } from './trouble.mjs';

/** @throws Trouble */
export async function ensureWorker(): Promise<void> {
  const location = workerLocation(process.env);
  if (isBuilt(location)) return;
  const folder = dirname(location.binary);
  const onWait = () => console.log('media worker: another set-up is building it, waiting for that');
  await withLock(`${folder}.lock`, onWait, async () => {
    if (isBuilt(location)) return;
    await ensureAptPackages(buildPackages, 'build the media worker');
    await build(location);
  });
}

function isBuilt(location: WorkerLocation): boolean {
  return existsSync(location.binary) && existsSync(location.mark);
}

async function build(location: WorkerLocation): Promise<void> {
  const cache = cacheFolder(process.env);
  const prefix = `build-${location.patches}-`;
  await removeAbandoned(cache, prefix);
  const work = await mkdtemp(join(cache, prefix));
  const startedAt = Date.now();
  console.log('media worker: building it, once per machine; 3 to 10 minutes');
  const progress = new Progress('media worker');
  try {
    const binary = await buildWorker({
      mediasoup: mediasoupFolder(),
      libsrtpArchive: await fetchLibsrtp(join(work, 'archive')),
      work,
      jobs: availableParallelism(),
      onProgress: (done, total) => progress.update(done, total),
    });
    progress.end();
    await putIntoPlace(location, binary, join(work, 'result'));
    console.log(
      `media worker: built in ${Math.round((Date.now() - startedAt) / 1000)} s, in ${location.binary}`,
    );
  } catch (error) {
    progress.end();
    if (!(error instanceof BuildFailed)) throw error;
    throw new Trouble(
      'cannot build the media worker',
      error.message,
      'free at least 1 GB of disk and 1 GB of memory and start again; docs/setup.md describes the build',
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Removes folders of killed builds of this worker. We hold its lock, so none is in use; builds of others may be. */
async function removeAbandoned(cache: string, prefix: string): Promise<void> {
  for (const name of await readdir(cache)) {
    if (name.startsWith(prefix)) await rm(join(cache, name), { recursive: true, force: true });
  }
}

async function fetchLibsrtp(folder: string): Promise<string> {
  const purpose = 'build the media worker';
  const files = await download({ folder, kind: 'deb-src', purpose }, [libsrtp.sourcePackage]);
  for (const [name, sha256] of libsrtp.archives) {
    const file = join(files, name);
    if (!existsSync(file)) continue;
    const found = createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
    if (found === sha256) return file;
    throw new Trouble(
      'cannot build the media worker',
      `${name} has the SHA-256 ${found}; ${sha256} was expected`,
      'do not use this mirror; tell its operator and use another',
    );
  }
  throw new Trouble(
    'cannot build the media worker',
    `the archive offers ${(await readdir(files)).join(', ')}; expected ${[...libsrtp.archives.keys()].join(', ')}`,
    'use Debian 12, or add the archive of this release to edge/media/worker/recipe.ts after checking it',
  );
}

/** Renames the complete folder into place, so the binary is never visible without its mark. */
async function putIntoPlace(location: WorkerLocation, binary: string, staging: string): Promise<void> {
  const mark: WorkerMark = {
    mediasoup: location.mediasoup,
    patches: location.patches,
    builtAt: new Date().toISOString(),
  };
  await mkdir(staging);
  await copyFile(binary, join(staging, 'mediasoup-worker'));
  await chmod(join(staging, 'mediasoup-worker'), 0o755);
  await writeFile(join(staging, 'mediasoup-worker.json'), `${JSON.stringify(mark)}\n`);
  const folder = dirname(location.binary);
  await rm(folder, { recursive: true, force: true });
  await rename(staging, folder);
}
