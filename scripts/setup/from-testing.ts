/**
 * Programs that tests need and Debian 12 does not have, or too old: from Debian testing. They are unpacked into the cache
 * with their own dynamic linker and libraries, and do not touch the system.
 */
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '../../edge/media/worker/location.ts';
import { download } from './archive.ts';
import { command } from './command.mjs';
import { withLock } from './lock.mjs';
import { Trouble, tail } from './trouble.mjs';

const suite = 'forky';

export interface TestingProgram {
  /** For people. */
  readonly name: string;
  /** The command in the cache. */
  readonly command: string;
  /** Its path in the package, without the first slash. */
  readonly path: string;
  /** Its own, and libraries of the binary, direct or indirect. */
  readonly packages: readonly string[];
  /** Arguments that print the version, and what is expected of it. */
  readonly version: { readonly flag: string; readonly expected: RegExp };
  /** What it is for: starts the sentence of an error. */
  readonly purpose: string;
  /** The file with this list. */
  readonly listedIn: string;
}

function folderOf({ command: name }: Pick<TestingProgram, 'command'>): string {
  return join(cacheFolder(process.env), `${name}-${suite}-${process.arch}`);
}

/** Path of the program, installed by {@link ensureFromTesting}. */
export function programFromTesting(program: Pick<TestingProgram, 'command'>): string {
  return join(folderOf(program), program.command);
}

/** Where its packages are unpacked. */
export function rootFromTesting(program: Pick<TestingProgram, 'command'>): string {
  return join(folderOf(program), 'root');
}

/** @throws Trouble */
export async function ensureFromTesting(program: TestingProgram): Promise<void> {
  const { name } = program;
  if (existsSync(programFromTesting(program))) return;
  const target = folderOf(program);
  const onWait = () => console.log(`${name}: waiting for another set-up that is fetching it`);
  await withLock(`${target}.lock`, onWait, async () => {
    if (existsSync(programFromTesting(program))) return;
    console.log(`${name}: fetching it from Debian testing into the cache`);
    const work = await mkdtemp(join(cacheFolder(process.env), `${program.command}-work-`));
    try {
      await unpack(program, work, target);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
}

async function unpack(program: TestingProgram, work: string, target: string): Promise<void> {
  const { name, purpose, packages, path, version, listedIn } = program;
  const files = await download({ folder: join(work, 'apt'), kind: 'deb', suite, purpose }, packages);
  const result = join(work, 'result');
  await mkdir(result);
  for (const file of await readdir(files)) {
    const { code, output } = await command('dpkg', ['-x', join(files, file), join(result, 'root')]);
    if (code !== 0)
      throw new Trouble(`cannot unpack ${file}`, tail(output), 'free disk space and start again');
  }
  const libraries = (await readdir(join(result, 'root', 'usr', 'lib'))).find((one) =>
    one.endsWith('-linux-gnu'),
  );
  const linker = (await readdir(join(result, 'root', 'usr', 'lib', libraries ?? ''))).find((one) =>
    one.startsWith('ld-linux-'),
  );
  const script = join(result, program.command);
  await writeFile(
    script,
    [
      '#!/bin/sh',
      'here=$(dirname "$(readlink -f "$0")")',
      `lib=$here/root/usr/lib/${libraries}`,
      `TERM=\${TERM:-xterm} exec "$lib/${linker}" --library-path "$lib" "$here/root/${path}" "$@"`,
      '',
    ].join('\n'),
  );
  await chmod(script, 0o755);
  const { output } = await command(script, [version.flag]);
  if (!version.expected.test(output)) {
    throw new Trouble(
      `the ${name} from Debian testing does not run here`,
      tail(output),
      `compare the libraries it needs (\`ldd\`) with the list in ${listedIn}`,
    );
  }
  await rename(result, target);
}
