/**
 * `npm run package-test [-- [bookworm] [trixie] [--built FOLDER]]`: makes the packages twice, compares them byte by byte, and takes them through
 * fresh Debian roots, where the commands of the pages are typed: installation of an earlier version, the first call, a
 * trunk to Kamailio and to Asterisk on machines of their own, upgrade, backup and restore, removal, purge; docs/packages.md
 * lists them. Needs root and a Debian mirror; a root is fetched once and kept in the cache.
 *
 * `--built` takes packages that are there already: an earlier version in FOLDER/earlier, this one in FOLDER/now.
 *
 * There is no systemd in a chroot: the ExecStart lines of the units run as the units' user, with their environment, in a
 * network namespace of their own.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPackages, sourceTime } from '../../scripts/package/build.ts';
import { ensureAptPackages } from '../../scripts/setup/apt.ts';
import { command } from '../../scripts/setup/command.mjs';
import { reportTrouble, Trouble } from '../../scripts/setup/trouble.mjs';
import { freshRoot, removeRoot } from './debian-root.ts';
import { type Packages, Walk } from './walk.ts';

const suites = ['bookworm', 'trixie'] as const;

await reportTrouble(async () => {
  const { values, positionals: wanted } = parseArgs({
    allowPositionals: true,
    // `inside`: set in the process that has mounts of its own.
    options: { inside: { type: 'boolean' }, built: { type: 'string' } },
  });
  const unknown = wanted.filter((one) => !suites.some((suite) => suite === one));
  if (unknown.length > 0)
    throw new Trouble(
      'invalid command',
      `there is no suite ${unknown.join(', ')}`,
      `give ${suites.join(', ')} or none`,
    );
  if (process.getuid?.() !== 0)
    throw new Trouble('cannot test the packages', 'debootstrap and chroot need root', 'run it as root');
  if (!values.inside) {
    await ensureAptPackages(['debootstrap', 'groff-base', 'iproute2', 'openssl'], 'test the packages');
    // Mounts of the roots are gone with this process, in whatever way it ends.
    const argv = [
      '--mount',
      '--propagation',
      'private',
      process.execPath,
      ...process.argv.slice(1),
      '--inside',
    ];
    process.exitCode = spawnSync('unshare', argv, { stdio: 'inherit' }).status ?? 1;
    return;
  }
  const work = await mkdtemp(join(tmpdir(), 'trunkline-packages-'));
  try {
    const packages = values.built === undefined ? await build(work) : await found(resolve(values.built));
    for (const suite of wanted.length === 0 ? suites : wanted) await walk(suite, work, packages);
  } finally {
    await command('rm', ['-rf', '--one-file-system', work]);
  }
});

/** Two editions, the later one twice. */
async function build(work: string): Promise<Packages> {
  const [earlier, now, again] = ['earlier', 'now', 'again'].map((name) => join(work, name)) as [
    string,
    string,
    string,
  ];
  // A commit meanwhile would be another time.
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(await sourceTime(process.env)) };
  await buildPackages({ out: earlier, version: '0.0.1' }, env);
  await buildPackages({ out: now, version: null }, env);
  await buildPackages({ out: again, version: null }, env);
  for (const name of await readdir(now)) {
    const [one, other] = await Promise.all([readFile(join(now, name)), readFile(join(again, name))]);
    if (!one.equals(other)) throw new Error(`${name} is not the same in two builds`);
  }
  const sums = await command('sha256sum', ['--check', 'SHA256SUMS'], { cwd: again });
  if (sums.code !== 0) throw new Error(sums.output);
  console.log('ok  two builds in different folders are the same, byte by byte; SHA256SUMS is theirs');
  await rm(again, { recursive: true });
  return found(work);
}

/** The packages in two folders. */
async function found(folder: string): Promise<Packages> {
  const debs = async (name: string) =>
    (await readdir(join(folder, name)))
      .filter((file) => file.endsWith('.deb'))
      .map((file) => join(folder, name, file));
  return { earlier: await debs('earlier'), now: await debs('now') };
}

async function walk(suite: string, work: string, packages: Packages): Promise<void> {
  const startedAt = Date.now();
  const root = join(work, suite);
  const steps = new Walk(work, suite, packages);
  try {
    await freshRoot(suite, root);
    await steps.all();
  } catch (error) {
    // Said at once: the removal could fail, too.
    console.error(error instanceof Error ? error.message : error);
    throw new Trouble(
      `the packages do not work on ${suite}`,
      'the step above failed',
      'correct it, and start again',
    );
  } finally {
    await steps.end();
    await removeRoot(root);
  }
  console.log(`${suite}: all of it in ${Math.round((Date.now() - startedAt) / 1000)} s`);
}
