/**
 * Location of the media worker. It is built once per machine (build.ts) and shared by all checkouts: the name of
 * its folder contains everything that the binary depends on, so any change leads to a new build.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathExists } from '#shared/path-exists.ts';

/** Content of `mediasoup-worker.json` next to the binary. */
export interface WorkerMark {
  /** version of the mediasoup package whose sources were built */
  readonly mediasoup: string;
  /** hash over the patches and stand-ins; see {@link recipeHash} */
  readonly patches: string;
  /** ISO 8601 */
  readonly builtAt: string;
}

export interface WorkerLocation {
  /** the program */
  readonly binary: string;
  /** the {@link WorkerMark} as JSON */
  readonly mark: string;
  readonly mediasoup: string;
  readonly patches: string;
}

/** `$TRUNKLINE_CACHE`, else `$XDG_CACHE_HOME/trunkline`, else `~/.cache/trunkline`. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  if (env.TRUNKLINE_CACHE) return env.TRUNKLINE_CACHE;
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'trunkline');
}

/** In an installed package, which has it built. */
const packaged = join(import.meta.dirname, '..', '..', '..', 'built', 'worker', 'mediasoup-worker');

/** The program of this machine: that of the package, or the one that set-up has built. */
export function workerBinary(env: NodeJS.ProcessEnv): string {
  return pathExists(packaged) ? packaged : workerLocation(env).binary;
}

/** Where the worker for the installed mediasoup is, or will be after the build. */
export function workerLocation(env: NodeJS.ProcessEnv): WorkerLocation {
  const mediasoup = mediasoupVersion();
  const patches = recipeHash();
  const name = `worker-${mediasoup}-${patches}-${process.arch}-${systemRelease()}`;
  const folder = join(cacheFolder(env), name);
  return {
    binary: join(folder, 'mediasoup-worker'),
    mark: join(folder, 'mediasoup-worker.json'),
    mediasoup,
    patches,
  };
}

/** Folder of the installed mediasoup package. */
export function mediasoupFolder(): string {
  const entry = createRequire(import.meta.url).resolve('mediasoup');
  return entry.slice(
    0,
    entry.lastIndexOf(join('node_modules', 'mediasoup')) + 'node_modules/mediasoup'.length,
  );
}

function mediasoupVersion(): string {
  const { version } = JSON.parse(readFileSync(join(mediasoupFolder(), 'package.json'), 'utf8'));
  return String(version);
}

/** First 12 hex digits of a SHA-256 over names and contents of the patches, the stand-ins and recipe.ts. */
function recipeHash(): string {
  const hash = createHash('sha256');
  const files = ['patches', 'libsrtp-patches', 'standins'].flatMap((part) =>
    readdirSync(join(import.meta.dirname, part), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  for (const file of [...files.sort(), join(import.meta.dirname, 'recipe.ts')]) {
    const content = readFileSync(file);
    hash.update(`${file.slice(import.meta.dirname.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 12);
}

/** `debian12`, `ubuntu24.04`: the shared libraries that the binary is linked to. */
function systemRelease(): string {
  const fields = new Map(
    readFileSync('/etc/os-release', 'utf8')
      .split('\n')
      .map((line) => line.split('=', 2) as [string, string | undefined]),
  );
  const value = (key: string) => (fields.get(key) ?? '').replaceAll('"', '');
  return `${value('ID')}${value('VERSION_ID')}`;
}
