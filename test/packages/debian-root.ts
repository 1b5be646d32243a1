/** A fresh Debian in a folder. */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '../../edge/media/worker/location.ts';
import { machineMirror } from '../../scripts/setup/archive.ts';
import { command } from '../../scripts/setup/command.mjs';
import { withLock } from '../../scripts/setup/lock.mjs';
import { Trouble, tail } from '../../scripts/setup/trouble.mjs';

/** @param folder must not exist @returns it, with /proc and /dev @throws Trouble */
export async function freshRoot(suite: string, folder: string): Promise<string> {
  const kept = await keptRoot(suite);
  await must('cp', ['-a', '--reflink=auto', kept, folder]);
  // For apt in it: names, and how this machine reaches its mirror.
  await copyFile('/etc/resolv.conf', join(folder, 'etc/resolv.conf'));
  for (const name of await readdir('/etc/apt/apt.conf.d'))
    if (/proxy|ca|cert/i.test(name))
      await copyFile(join('/etc/apt/apt.conf.d', name), join(folder, 'etc/apt/apt.conf.d', name));
  // Programs of other packages are started by the walk, in its network, and not by their installation.
  await writeFile(join(folder, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  // Nobody needs these files after a loss of power.
  await mkdir(join(folder, 'etc/dpkg/dpkg.cfg.d'), { recursive: true });
  await writeFile(join(folder, 'etc/dpkg/dpkg.cfg.d/90test'), 'force-unsafe-io\n');
  await must('mount', ['-t', 'proc', 'proc', join(folder, 'proc')]);
  // Not the /dev of this machine: what happens to the root must not happen to it.
  await must('mount', ['-t', 'tmpfs', 'tmpfs', join(folder, 'dev')]);
  for (const [name, minor] of devices)
    await must('mknod', ['-m', '666', join(folder, 'dev', name), 'c', '1', minor]);
  return folder;
}

const devices = [
  ['null', '3'],
  ['zero', '5'],
  ['full', '7'],
  ['random', '8'],
  ['urandom', '9'],
] as const;

/** Removes a root, and never what is mounted in it. */
export async function removeRoot(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  for (const part of ['dev', 'proc']) await command('umount', [join(folder, part)]);
  await must('rm', ['-rf', '--one-file-system', folder]);
}

/** Fetched once, and never changed. */
async function keptRoot(suite: string): Promise<string> {
  const folder = join(cacheFolder(process.env), `debootstrap-${suite}-${process.arch}`);
  await withLock(
    `${folder}.lock`,
    () => console.log(`${suite}: waiting for another run that is fetching it`),
    async () => {
      if (existsSync(folder)) return;
      console.log(`${suite}: fetching it with debootstrap`);
      const work = `${folder}.work`;
      await rm(work, { recursive: true, force: true });
      await mkdir(work, { recursive: true });
      const args = ['--variant=minbase', suite, work, await machineMirror()];
      // Debootstrap of a release does not know later ones by name.
      const known = existsSync(`/usr/share/debootstrap/scripts/${suite}`);
      await must('debootstrap', known ? args : [...args, '/usr/share/debootstrap/scripts/sid']);
      await rename(work, folder);
    },
  );
  return folder;
}

async function must(program: string, args: readonly string[]): Promise<void> {
  const { code, output } = await command(program, args);
  if (code !== 0) throw new Trouble(`${program} failed`, tail(output), 'see the lines above');
}
