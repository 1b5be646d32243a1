/**
 * SIPp 3.8, the first version with SRTP. Debian 12 has 3.6 without TLS, so the program and its shared libraries come
 * from Debian testing. They are unpacked into the cache with their own dynamic linker and do not touch the system.
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

/** Libraries of the binary, direct or indirect; sip-tester's other dependencies are scripts. */
const packages = [
  'sip-tester',
  'libc6',
  'libgcc-s1',
  'libstdc++6',
  'libgsl28',
  'libgslcblas0',
  'libncursesw6',
  'libtinfo6',
  'libpcap0.8t64',
  'libpugixml1v5',
  'libsctp1',
  'libssl3t64',
  'libdbus-1-3',
  'libsystemd0',
  'libzstd1',
  'zlib1g',
  'libcap2',
];

/** Path of the program, installed by {@link ensureSipp}. */
export function sippProgram(): string {
  return join(cacheFolder(process.env), `sipp-${suite}-${process.arch}`, 'sipp');
}

/** @throws Trouble */
export async function ensureSipp(): Promise<void> {
  const program = sippProgram();
  if (existsSync(program)) return;
  const target = join(program, '..');
  const onWait = () => console.log('SIPp: waiting for another set-up that is fetching it');
  await withLock(`${target}.lock`, onWait, async () => {
    if (existsSync(program)) return;
    console.log('SIPp: fetching it from Debian testing into the cache');
    const work = await mkdtemp(join(cacheFolder(process.env), 'sipp-work-'));
    try {
      await unpack(work, target);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
}

async function unpack(work: string, target: string): Promise<void> {
  const purpose = 'run the SIPp tests';
  const files = await download({ folder: join(work, 'apt'), kind: 'deb', suite, purpose }, packages);
  const result = join(work, 'result');
  await mkdir(result);
  for (const file of await readdir(files)) {
    const { code, output } = await command('dpkg', ['-x', join(files, file), join(result, 'root')]);
    if (code !== 0)
      throw new Trouble(`cannot unpack ${file}`, tail(output), 'free disk space and start again');
  }
  const libraries = (await readdir(join(result, 'root', 'usr', 'lib'))).find((name) =>
    name.endsWith('-linux-gnu'),
  );
  const linker = (await readdir(join(result, 'root', 'usr', 'lib', libraries ?? ''))).find((name) =>
    name.startsWith('ld-linux-'),
  );
  await writeFile(
    join(result, 'sipp'),
    [
      '#!/bin/sh',
      'here=$(dirname "$(readlink -f "$0")")',
      `lib=$here/root/usr/lib/${libraries}`,
      `TERM=\${TERM:-xterm} exec "$lib/${linker}" --library-path "$lib" "$here/root/usr/bin/sipp" "$@"`,
      '',
    ].join('\n'),
  );
  await chmod(join(result, 'sipp'), 0o755);
  const { output } = await command(join(result, 'sipp'), ['-v']);
  if (!/SIPp v3\.(8|9|\d\d)/.test(output)) {
    throw new Trouble(
      'the SIPp from Debian testing does not run here',
      tail(output),
      `compare the libraries it needs (\`ldd\`) with the list in scripts/setup/sipp.ts`,
    );
  }
  await rename(result, target);
}
