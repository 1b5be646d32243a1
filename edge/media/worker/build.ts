/**
 * Builds the media worker: the C++ sources in the mediasoup package, our patches, and the system's libraries
 * instead of those that mediasoup would download (stand-ins for meson's subprojects).
 */
import { spawn } from 'node:child_process';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { libsrtp, standins, workerMesonOptions } from './recipe.ts';

export interface BuildOptions {
  /** folder of the mediasoup package; not modified */
  readonly mediasoup: string;
  /** archive with the sources of libsrtp 2 */
  readonly libsrtpArchive: string;
  /** empty folder for all output of the build; the caller removes it */
  readonly work: string;
  /** number of parallel compilers */
  readonly jobs: number;
  /** `done` of `total` compiler steps of the worker itself */
  readonly onProgress: (done: number, total: number) => void;
}

/** A build tool failed; the message ends with its last output. */
export class BuildFailed extends Error {
  override readonly name = 'BuildFailed';
}

/**
 * @returns path of the program, without debug symbols
 * @throws BuildFailed
 */
export async function buildWorker(options: BuildOptions): Promise<string> {
  const pkgConfig = await buildLibsrtp(options);
  const source = join(options.work, 'worker');
  await cp(join(options.mediasoup, 'worker'), source, { recursive: true });
  await applyPatches('patches', source);
  await relaxMesonVersion(source);
  await placeStandins(source);

  const build = join(options.work, 'build');
  const env = { ...process.env, PKG_CONFIG_PATH: pkgConfig };
  await run('meson', ['setup', build, ...workerMesonOptions], { cwd: source, env });
  await run('ninja', ['-C', build, `-j${options.jobs}`, 'mediasoup-worker'], {
    env,
    onLine: (line) => reportStep(line, options.onProgress),
  });
  const binary = join(options.work, 'mediasoup-worker');
  await run('strip', ['-o', binary, join(build, 'mediasoup-worker')], {});
  return binary;
}

/** @returns the folder of its pkg-config file */
async function buildLibsrtp({ work, libsrtpArchive, jobs }: BuildOptions): Promise<string> {
  const source = join(work, 'libsrtp');
  const build = join(work, 'libsrtp-build');
  const prefix = join(work, 'libsrtp-installed');
  await mkdir(source);
  await run('tar', ['-xzf', libsrtpArchive, '-C', source, '--strip-components=1'], {});
  await applyPatches('libsrtp-patches', source);
  await run('meson', ['setup', build, source, `--prefix=${prefix}`, ...libsrtp.mesonOptions], {});
  await run('ninja', ['-C', build, `-j${jobs}`, 'install'], {});
  return join(prefix, 'lib', 'pkgconfig');
}

/** @param patches their folder, beside this file */
async function applyPatches(patches: string, source: string): Promise<void> {
  const folder = join(import.meta.dirname, patches);
  for (const file of (await readdir(folder)).sort()) {
    await run('patch', ['-p1', '--forward', '--no-backup-if-mismatch', '-i', join(folder, file)], {
      cwd: source,
    });
  }
}

/** Debian 12 has meson 1.0.1; nothing that this build uses is newer. */
async function relaxMesonVersion(source: string): Promise<void> {
  const file = join(source, 'meson.build');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace("meson_version: '>= 1.1.0'", "meson_version: '>= 1.0.1'"));
}

/** Meson uses a subproject in the folder that its wrap file names, and then downloads nothing. */
async function placeStandins(source: string): Promise<void> {
  for (const name of standins) {
    const wrap = await readFile(join(source, 'subprojects', `${name}.wrap`), 'utf8');
    const folder = /^directory *= *(\S+)/m.exec(wrap)?.[1];
    if (!folder) throw new BuildFailed(`subprojects/${name}.wrap in mediasoup names no directory`);
    await cp(join(import.meta.dirname, 'standins', name), join(source, 'subprojects', folder), {
      recursive: true,
    });
  }
}

/** Ninja starts each line with `[done/total]`. */
function reportStep(line: string, onProgress: BuildOptions['onProgress']): void {
  const step = /^\[(\d+)\/(\d+)\]/.exec(line);
  if (step) onProgress(Number(step[1]), Number(step[2]));
}

interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly onLine?: (line: string) => void;
}

async function run(program: string, args: readonly string[], options: RunOptions): Promise<void> {
  const { cwd, env = process.env, onLine } = options;
  const child = spawn(program, args, { ...(cwd && { cwd }), env, stdio: ['ignore', 'pipe', 'pipe'] });
  const last: string[] = [];
  const keep = (line: string) => {
    last.push(line);
    if (last.length > 30) last.shift();
    onLine?.(line);
  };
  createInterface({ input: child.stdout }).on('line', keep);
  createInterface({ input: child.stderr }).on('line', keep);
  const failure = await new Promise<string | undefined>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(code === 0 ? undefined : `ended with ${signal ?? code}`));
  });
  if (failure) throw new BuildFailed(`${program} ${args.join(' ')}: ${failure}\n${last.join('\n')}`);
}
